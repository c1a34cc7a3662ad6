-- Everything an entry says is in `body`; nothing beside it could be edited without its hash.
CREATE TABLE audit_log (
  seq INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  entry_hash TEXT NOT NULL CHECK (length(entry_hash) = 64)
);

CREATE TABLE audit_checkpoints (
  checkpoint_id TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  signature TEXT NOT NULL
);

-- INSERT OR REPLACE removes a row without firing a delete trigger, hence the check on insert.
CREATE TRIGGER audit_log_next BEFORE INSERT ON audit_log
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit_log)
BEGIN SELECT RAISE(ABORT, 'the audit log takes the next entry only'); END;

CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_checkpoints_new BEFORE INSERT ON audit_checkpoints
WHEN EXISTS (SELECT 1 FROM audit_checkpoints WHERE checkpoint_id = NEW.checkpoint_id)
BEGIN SELECT RAISE(ABORT, 'audit checkpoints are append-only'); END;

CREATE TRIGGER audit_checkpoints_no_update BEFORE UPDATE ON audit_checkpoints
BEGIN SELECT RAISE(ABORT, 'audit checkpoints are append-only'); END;

CREATE TRIGGER audit_checkpoints_no_delete BEFORE DELETE ON audit_checkpoints
BEGIN SELECT RAISE(ABORT, 'audit checkpoints are append-only'); END;
