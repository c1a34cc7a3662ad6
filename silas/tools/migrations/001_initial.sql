CREATE TABLE tool_outcomes (
  key TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  step_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  outbound INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('attempted', 'succeeded', 'failed', 'unknown')),
  result TEXT,
  attempted_at TEXT NOT NULL,
  finished_at TEXT
) WITHOUT ROWID;

CREATE INDEX tool_outcomes_open ON tool_outcomes (task_id) WHERE status IN ('attempted', 'unknown');
CREATE INDEX tool_outcomes_target ON tool_outcomes (tool_name, action, target, attempted_at)
  WHERE target <> '';
CREATE INDEX tool_outcomes_outbound ON tool_outcomes (attempted_at) WHERE outbound = 1;
