-- The key is "{domain}:{binding}", and for a use of a token begins with "exec:{token_id}:", so that
-- the uses of a token are counted by the key itself. Nothing beside it could be edited.
CREATE TABLE approval_nonces (
  key TEXT PRIMARY KEY,
  recorded_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX approval_nonces_expiry ON approval_nonces (expires_at);
