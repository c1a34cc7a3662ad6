-- Files that the owner attached to a conversation. A row stays when its file is removed, so that a
-- name in an older message never means another file. `state` is `expected` until all bytes came.
CREATE TABLE attachments (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  conversation TEXT NOT NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  digest TEXT NOT NULL,
  attached_at TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'expected',
  UNIQUE (conversation, name)
);
