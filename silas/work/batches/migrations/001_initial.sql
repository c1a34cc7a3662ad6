-- Written durably before the first file is moved: what is planned here and is at its new place was
-- moved, whether or not this process lived to say so.
CREATE TABLE file_batches (
  id TEXT PRIMARY KEY,
  folder TEXT NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('moving', 'moved', 'undoing')),
  digest TEXT NOT NULL,
  token_id TEXT NOT NULL,
  made TEXT NOT NULL,
  began_at TEXT NOT NULL,
  ended_at TEXT NOT NULL
);

CREATE TABLE file_batch_items (
  batch_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  move TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('planned', 'moved', 'left', 'undoing', 'undone')),
  why TEXT NOT NULL,
  PRIMARY KEY (batch_id, number)
);

CREATE INDEX file_batches_began ON file_batches (began_at);
