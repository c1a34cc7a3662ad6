-- What each witness was told last, and what went wrong. For the owner's eyes: nothing rests on it.
CREATE TABLE audit_witnesses (
  name TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  checkpoint_id TEXT NOT NULL,
  at TEXT NOT NULL,
  fault TEXT NOT NULL
);
