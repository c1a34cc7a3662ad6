CREATE TABLE goals (
  id TEXT PRIMARY KEY,
  schedule TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'ended')),
  why TEXT NOT NULL,
  failing INTEGER NOT NULL,
  quiet INTEGER NOT NULL,
  approved_at TEXT NOT NULL
);

-- Begun before anything is checked. The id of the task is written in the transaction that spends the
-- approval for it, or before its card is shown: whoever begins the cycle again finds it and makes no
-- second one.
CREATE TABLE goal_cycles (
  goal_id TEXT NOT NULL,
  slot TEXT NOT NULL,
  due TEXT NOT NULL,
  outcome TEXT NOT NULL,
  task_id TEXT NOT NULL,
  missed INTEGER NOT NULL,
  words TEXT NOT NULL,
  began_at TEXT NOT NULL,
  ended_at TEXT NOT NULL,
  PRIMARY KEY (goal_id, slot)
);

CREATE INDEX goal_cycles_began ON goal_cycles (goal_id, began_at);
