CREATE TABLE reminders (
  id TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  source TEXT NOT NULL,
  zone TEXT NOT NULL,
  start TEXT NOT NULL,
  rule TEXT NOT NULL,
  due TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'told', 'cancelled', 'forgotten')),
  made_at TEXT NOT NULL,
  ended_at TEXT NOT NULL
);

CREATE INDEX reminders_state ON reminders (state, due);

-- Begun before anything is said and told after it: where a crash comes between, nobody knows whether
-- it was seen, and it is said again as such.
CREATE TABLE reminder_tellings (
  reminder_id TEXT NOT NULL,
  due TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('begun', 'told')),
  tries INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (reminder_id, due)
);
