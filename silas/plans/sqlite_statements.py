"""Statements about work that only SQLite understands: `rowid` is the order of saving."""

from silas.plans.columns import LOADED

_SELECT = f"SELECT {', '.join(LOADED)} FROM work_items"
_IN_ORDER = "ORDER BY work_items.rowid"

EVERY = f"{_SELECT} {_IN_ORDER}"
OF_STATUS = f"{_SELECT} WHERE status = :status {_IN_ORDER}"
OF_PARENT = f"{_SELECT} WHERE parent = :parent {_IN_ORDER}"
OF_FOLLOW_UP = f"{_SELECT} WHERE follow_up_of = :follow_up_of {_IN_ORDER}"
NEWEST = f"""
{_SELECT} WHERE id IN
(SELECT id FROM work_items ORDER BY updated_at DESC, work_items.rowid DESC LIMIT :limit)
{_IN_ORDER}
"""
