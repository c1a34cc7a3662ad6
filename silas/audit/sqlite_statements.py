"""Statements of the audit log that only SQLite understands.

`rowid` is the order in which rows came; `instr` compares bytes, where `LIKE` would fold letters.
"""

# Each piece between the separators (0x1E, which canonical JSON escapes) is exactly what the next
# entry hashes: previous hash, newline, body. A range of the primary key is read in its order; a
# subquery that says so costs half as much again, and rows in another order would not be believed.
JOINED_ENTRIES = """
SELECT CAST(group_concat(body || '\x1e' || entry_hash, '\n') AS BLOB), count(*)
FROM audit_log WHERE seq > :after AND seq <= :upto
"""

ENTRY_BYTES = """
SELECT seq, CAST(body AS BLOB), entry_hash FROM audit_log
WHERE seq > :after AND seq <= :upto ORDER BY seq
"""

ENTRIES_HOLDING = "SELECT body FROM audit_log WHERE instr(body, :text) > 0 ORDER BY seq DESC"

# What is no JSON any more was damaged, and an extract from it would end the whole look.
ENTRIES_BETWEEN = """
SELECT seq, body FROM audit_log WHERE seq >= :lower AND seq < :upper
AND (:text = '' OR instr(body, :text) > 0)
AND (:every_event = 1
  OR CASE WHEN json_valid(body) THEN json_extract(body, '$.event') IN :events ELSE 0 END)
ORDER BY seq
"""

CHECKPOINTS = "SELECT checkpoint_id, body, signature FROM audit_checkpoints ORDER BY rowid"

NEWEST_CHECKPOINT = """
SELECT checkpoint_id, body, signature FROM audit_checkpoints ORDER BY rowid DESC LIMIT 1
"""

NEWEST_ACCEPTANCE = "SELECT body, signature FROM audit_acceptances ORDER BY rowid DESC LIMIT 1"
