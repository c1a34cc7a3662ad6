"""Statements of devices that only SQLite understands: `rowid` is the order of pairing."""

DEVICES_AS_PAIRED = """
SELECT id, name, coalesce(public_key, ''), paired_at, revoked_at FROM devices ORDER BY rowid
"""
