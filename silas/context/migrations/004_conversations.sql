-- The owner's conversations beside the first one, which has no row until it is renamed, and whose
-- id is empty. `title` is empty until something was said; `named` says that its owner gave it.
-- Nothing is deleted: what is put away has the moment at which that was done.
CREATE TABLE conversations (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  named INTEGER NOT NULL DEFAULT 0,
  begun_at TEXT NOT NULL,
  said_at TEXT NOT NULL,
  archived_at TEXT
);
CREATE INDEX conversations_said ON conversations (said_at);
-- What was kept before belongs to the first one.
ALTER TABLE chronicle ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
