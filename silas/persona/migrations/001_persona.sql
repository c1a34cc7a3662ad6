CREATE TABLE persona_state (
  scope_id TEXT PRIMARY KEY,
  baseline_axes_json TEXT NOT NULL,
  mood_json TEXT NOT NULL,
  voice_json TEXT NOT NULL,
  active_preset TEXT NOT NULL,
  last_context TEXT NOT NULL,
  drift_json TEXT NOT NULL,
  tuning_json TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE persona_events (
  event_id TEXT PRIMARY KEY,
  scope_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  trusted INTEGER NOT NULL CHECK (trusted IN (0, 1)),
  delta_axes_json TEXT NOT NULL,
  delta_mood_json TEXT NOT NULL,
  source TEXT NOT NULL,
  created_at TEXT NOT NULL
);

CREATE INDEX persona_events_scope ON persona_events (scope_id, created_at DESC);
CREATE INDEX persona_events_type ON persona_events (event_type, created_at DESC);

CREATE TRIGGER persona_events_stay_as_they_are BEFORE UPDATE ON persona_events
BEGIN SELECT RAISE(ABORT, 'persona events are never changed'); END;

CREATE TRIGGER persona_events_stay BEFORE DELETE ON persona_events
BEGIN SELECT RAISE(ABORT, 'persona events are never deleted'); END;
