-- A plan's grants are counted at every call by what its task has called, and only by that. No
-- statement could use the index that goes: its condition names two states, and each asks for one.
DROP INDEX tool_outcomes_open;
CREATE INDEX tool_outcomes_task ON tool_outcomes (task_id, attempted_at);
