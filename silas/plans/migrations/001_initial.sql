-- Work items (spec 4.13). Columns named like fields hold them, structured ones as JSON;
-- plan_bytes are the canonical bytes that were hashed (decision A24).
CREATE TABLE work_items (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  parent TEXT,
  spawned_by TEXT,
  follow_up_of TEXT,
  domain TEXT,
  agent TEXT NOT NULL,
  budget TEXT NOT NULL,
  needs_approval TEXT NOT NULL,
  approval_token TEXT NOT NULL,
  body TEXT NOT NULL,
  interaction_mode TEXT NOT NULL,
  input_artifacts_from TEXT NOT NULL,
  verify TEXT NOT NULL,
  gates TEXT NOT NULL,
  skills TEXT NOT NULL,
  access_levels TEXT NOT NULL,
  escalation TEXT NOT NULL,
  schedule TEXT,
  on_failure TEXT NOT NULL,
  on_stuck TEXT NOT NULL,
  failure_context TEXT,
  tasks TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  workspace TEXT,
  read TEXT NOT NULL,
  network TEXT NOT NULL,
  tools TEXT NOT NULL,
  worker TEXT,
  status TEXT NOT NULL,
  attempts TEXT NOT NULL,
  budget_used TEXT NOT NULL,
  verification_results TEXT NOT NULL,
  created_at TEXT NOT NULL,
  plan_bytes TEXT NOT NULL,
  plan_hash TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE INDEX work_items_status ON work_items (status);
CREATE INDEX work_items_parent ON work_items (parent);
CREATE INDEX work_items_follow_up_of ON work_items (follow_up_of);

CREATE TABLE work_item_results (
  work_item_id TEXT PRIMARY KEY,
  result TEXT NOT NULL
);
