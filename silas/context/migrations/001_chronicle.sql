-- The conversation of each scope, so that it comes back after a restart (spec 4.14). `seq` is the
-- order of arrival; `at` is the moment of the item in UTC, which is what retention goes by.
CREATE TABLE chronicle (
  seq INTEGER PRIMARY KEY,
  scope_id TEXT NOT NULL,
  at TEXT NOT NULL,
  ctx_id TEXT NOT NULL,
  item TEXT NOT NULL
);
CREATE INDEX chronicle_scope ON chronicle (scope_id, at, seq);
CREATE INDEX chronicle_at ON chronicle (at);
