-- Messages that are not answered yet, and the answer from just before it is sent: a crash loses
-- neither. A row goes when its turn has ended.
CREATE TABLE IF NOT EXISTS arrivals (
  arrival_id TEXT PRIMARY KEY,
  scope_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  sender_id TEXT NOT NULL,
  text TEXT NOT NULL,
  arrived_at TEXT NOT NULL,
  heard INTEGER NOT NULL DEFAULT 0,
  answer TEXT
);
-- Which conversation a piece of work came from; what is not in here is the owner's.
CREATE TABLE IF NOT EXISTS scope_work (
  work_item_id TEXT PRIMARY KEY,
  scope_id TEXT NOT NULL,
  begun_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS scope_work_scope ON scope_work (scope_id, begun_at);
-- Files that a conversation follows, with the directory in which they were named.
CREATE TABLE IF NOT EXISTS followed_files (
  scope_id TEXT NOT NULL,
  target TEXT NOT NULL,
  root TEXT NOT NULL,
  sub TEXT NOT NULL,
  turn INTEGER NOT NULL,
  PRIMARY KEY (scope_id, target)
);
