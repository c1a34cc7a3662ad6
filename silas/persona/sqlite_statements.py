"""Statements of personalities that only SQLite understands: `rowid` is the order of arrival."""

NEWEST_EVENTS = """
SELECT event_id, event_type, trusted, delta_axes_json, delta_mood_json, source, created_at
FROM persona_events WHERE scope_id = :scope_id ORDER BY created_at DESC, rowid DESC LIMIT :limit
"""
