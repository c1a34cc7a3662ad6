-- The owner's devices. A device without a public key can look and ask, and signs nothing. Rows stay:
-- what a device signed is told apart from a forgery later, too, and a revoked key never comes back.
CREATE TABLE devices (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  public_key TEXT UNIQUE,
  paired_at TEXT NOT NULL,
  revoked_at TEXT
);

CREATE TRIGGER devices_stay BEFORE DELETE ON devices
BEGIN SELECT RAISE(ABORT, 'a device is never forgotten'); END;

CREATE TRIGGER devices_keep_their_key BEFORE UPDATE OF id, public_key ON devices
BEGIN SELECT RAISE(ABORT, 'the key of a device never changes'); END;

CREATE TRIGGER devices_stay_revoked BEFORE UPDATE OF revoked_at ON devices
WHEN OLD.revoked_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a revoked device stays revoked'); END;
