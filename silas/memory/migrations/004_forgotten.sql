-- What was forgotten, so that it leaves the view of a Silas that is running, too. Of each scope and
-- source the last time counts.
CREATE TABLE IF NOT EXISTS memory_forgotten (
  scope_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (scope_id, number)
) WITHOUT ROWID;
