CREATE TABLE suggestions (
  number INTEGER PRIMARY KEY,
  suggestion_id TEXT NOT NULL UNIQUE,
  scope_id TEXT NOT NULL,
  cooldown_key TEXT NOT NULL,
  proposal TEXT NOT NULL,
  outcome TEXT CHECK (outcome IN ('accepted', 'dismissed', 'deferred')),
  created_at TEXT NOT NULL,
  handled_at TEXT
);

CREATE INDEX suggestions_key ON suggestions (scope_id, cooldown_key, created_at);
CREATE INDEX suggestions_when ON suggestions (scope_id, created_at);

CREATE TABLE behavior_signals (
  number INTEGER PRIMARY KEY,
  scope_id TEXT NOT NULL,
  family TEXT NOT NULL,
  outcome TEXT NOT NULL,
  at TEXT NOT NULL
);

CREATE INDEX behavior_signals_family ON behavior_signals (scope_id, family, number);

CREATE TABLE autonomy_proposals (
  number INTEGER PRIMARY KEY,
  proposal_id TEXT NOT NULL UNIQUE,
  scope_id TEXT NOT NULL,
  family TEXT NOT NULL,
  proposal TEXT NOT NULL,
  after_signal INTEGER NOT NULL,
  decision TEXT,
  created_at TEXT NOT NULL,
  decided_at TEXT
);

CREATE INDEX autonomy_proposals_scope ON autonomy_proposals (scope_id, created_at);

CREATE TABLE autonomy_thresholds (
  scope_id TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  token_id TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (scope_id, key)
) WITHOUT ROWID;

CREATE TABLE behavior_preferences (
  scope_id TEXT NOT NULL,
  pattern TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  decision TEXT CHECK (decision IN ('verified', 'dismissed')),
  at TEXT NOT NULL,
  PRIMARY KEY (scope_id, pattern)
) WITHOUT ROWID;

CREATE INDEX behavior_preferences_when ON behavior_preferences (scope_id, at);
