"""Statements of the stream that only SQLite understands: `rowid` is the order of arrival."""

ARRIVALS = """
SELECT arrival_id, scope_id, channel, sender_id, text, arrived_at, heard, answer, conversation
FROM arrivals ORDER BY arrived_at, rowid
"""

FOLLOWED_SINCE = """
SELECT root, sub FROM followed_files WHERE scope_id = :scope_id AND turn >= :turn
ORDER BY turn DESC, rowid DESC LIMIT :limit
"""

NEWEST_WORK = """
SELECT work_item_id FROM scope_work
WHERE scope_id = :scope_id AND conversation = :conversation
ORDER BY begun_at DESC, rowid DESC LIMIT :limit
"""

PERSON_QUEUES = "SELECT connection_id, queue, gate, since FROM person_queues ORDER BY since, rowid"
