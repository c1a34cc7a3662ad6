-- Nobody who reads this can come in: of every token only its SHA-256 is here, as hex.
CREATE TABLE pairing_links (
  token_hash TEXT PRIMARY KEY,
  expires_at TEXT NOT NULL,
  used_at TEXT,
  used_by TEXT
);

CREATE TABLE web_sessions (
  id TEXT PRIMARY KEY,
  device_id TEXT NOT NULL,
  cookie_hash TEXT NOT NULL UNIQUE,
  page_hash TEXT NOT NULL,
  began_at TEXT NOT NULL,
  seen_at TEXT NOT NULL,
  ended_at TEXT
);

CREATE INDEX web_sessions_device ON web_sessions (device_id);
