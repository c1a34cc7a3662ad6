-- One row an emergency stop, never deleted: how many there are says which tokens are void, since a
-- token carries the number that there were when it was signed.
CREATE TABLE emergency_stops (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  stopped_at TEXT NOT NULL,
  resumed_at TEXT
);

CREATE TRIGGER emergency_stops_stay BEFORE DELETE ON emergency_stops
BEGIN SELECT RAISE(ABORT, 'an emergency stop is never forgotten'); END;
