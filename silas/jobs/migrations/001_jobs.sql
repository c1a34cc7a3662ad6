-- A job carries ids only: what it is about is kept by the room of its kind. Its id names the due
-- moment it was made for, so that a moment which is made twice runs once.
CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  slot TEXT NOT NULL,
  queue TEXT NOT NULL,
  due TEXT NOT NULL,
  zone TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled')),
  attempts INTEGER NOT NULL,
  place INTEGER NOT NULL,
  ended_at TEXT NOT NULL,
  fault TEXT NOT NULL
);

CREATE INDEX jobs_state ON jobs (state, due);
CREATE INDEX jobs_ref ON jobs (kind, ref, due);
