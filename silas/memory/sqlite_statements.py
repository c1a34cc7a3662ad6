"""Statements of memories that only SQLite understands: full text, vectors, and the index to take.

SQLite would rather walk through a whole scope by time than take the index that has few rows, so the
index is named. A list that comes as JSON costs less than one name for each of thousands of values.
"""

from typing import LiteralString, NamedTuple

from silas.memory.rows import COLUMNS

_VALID = (
    "(valid_from IS NULL OR valid_from <= :now) AND (valid_until IS NULL OR valid_until > :now)"
)


class WordsIndex(NamedTuple):
    """The statements of one full-text index; an FTS5 table without its own text.

    Attributes:
        insert: Adds the words of a memory.
        delete: Takes them out; it must be told what they were.
        newest: The newest places that a query finds, as one text, because a thousand rows cost
            Python more than finding them costs SQLite.
    """

    insert: LiteralString
    delete: LiteralString
    newest: LiteralString


def _words_index(name: LiteralString) -> WordsIndex:
    return WordsIndex(
        f"INSERT INTO {name} (rowid, content, semantic_tags) VALUES (:place, :content, :tags)",
        f"INSERT INTO {name} ({name}, rowid, content, semantic_tags) "
        "VALUES ('delete', :place, :content, :tags)",
        f"SELECT group_concat(rowid) FROM (SELECT rowid FROM {name} "
        f"WHERE {name} MATCH :query AND rowid BETWEEN :first AND :last "
        "ORDER BY rowid DESC LIMIT :limit)",
    )


ACTIVE_WORDS = _words_index("memory_words")
RAW_WORDS = _words_index("memory_raw_words")

# neighbours ---------------------------------------------------------------------------------------
STANDALONE_BETWEEN = """
SELECT place FROM memory_items INDEXED BY memory_items_kept
WHERE memory_type <> 'episode' AND place BETWEEN :first AND :last LIMIT :limit
"""
STANDALONE_AMONG = """
SELECT place FROM memory_items INDEXED BY memory_items_kept
WHERE memory_type <> 'episode' AND place IN :places
"""
PLACES_OF_IDS = """
SELECT place FROM memory_items INDEXED BY memory_items_id
WHERE scope_id = :scope_id AND memory_id IN :memory_ids
"""
_TURN = """
SELECT place, memory_id, session_id, temporal_prev, temporal_next,
  substr(content, 1, :characters), memory_type <> 'episode'
"""
_THERE = f"AND place BETWEEN :first AND :last AND {_VALID}"
# the `+` keeps SQLite from walking through a whole scope to find a few of its rows
TURNS_BY_PLACE = f"""
{_TURN} FROM memory_items WHERE +scope_id = :scope_id AND place IN :values {_THERE}
"""
TURNS_BY_ID = f"""
{_TURN} FROM memory_items INDEXED BY memory_items_id
WHERE scope_id = :scope_id AND memory_id IN :values {_THERE}
"""

# a scope's memories by an index -------------------------------------------------------------------
OF_SESSION = f"""
SELECT {COLUMNS} FROM memory_items INDEXED BY memory_items_session
WHERE scope_id = :scope_id AND session_id = :session_id AND reingestion_tier = 'active'
AND {_VALID} ORDER BY created_at, place
"""
NEWEST_OF_SESSION = f"""
SELECT {COLUMNS} FROM memory_items INDEXED BY memory_items_session
WHERE scope_id = :scope_id AND session_id = :session_id AND reingestion_tier = 'active'
AND {_VALID} ORDER BY created_at DESC, place DESC LIMIT :limit
"""
STANDING_RULES = f"""
SELECT {COLUMNS} FROM memory_items INDEXED BY memory_items_rules
WHERE scope_id = :scope_id AND memory_type = 'preference' AND trust_level <> 'working'
AND reingestion_tier = 'active' AND {_VALID} ORDER BY created_at, place
"""
_MADE_WITHIN = """
SELECT place FROM memory_items INDEXED BY memory_items_created_at
WHERE scope_id = :scope_id AND reingestion_tier = 'active'
AND created_at BETWEEN :since AND :until ORDER BY created_at DESC, place DESC LIMIT :limit
"""
_VALID_WITHIN = """
SELECT place FROM memory_items INDEXED BY memory_items_validity
WHERE scope_id = :scope_id AND reingestion_tier = 'active'
AND (valid_from IS NOT NULL OR valid_until IS NOT NULL)
AND (valid_from IS NULL OR valid_from <= :until)
AND (valid_until IS NULL OR valid_until > :since)
ORDER BY created_at DESC, place DESC LIMIT :limit
"""
WITHIN = f"""
SELECT {COLUMNS} FROM memory_items WHERE place IN
(SELECT place FROM ({_MADE_WITHIN}) UNION SELECT place FROM ({_VALID_WITHIN}))
ORDER BY created_at DESC, place DESC LIMIT :limit
"""

# vectors ------------------------------------------------------------------------------------------
VECTORS_AT = """
SELECT v.place, v.vector FROM json_each(:places) AS near
CROSS JOIN memory_vectors AS v ON v.place = near.value WHERE v.model = :model
"""
IDS_AT = """
SELECT i.place, i.memory_id FROM json_each(:places) AS near
CROSS JOIN memory_items AS i ON i.place = near.value
"""
VECTORS_OF_IDS = """
SELECT i.memory_id, v.vector FROM json_each(:memory_ids) AS near
CROSS JOIN memory_items AS i INDEXED BY memory_items_id
  ON i.scope_id = :scope_id AND i.memory_id = near.value
CROSS JOIN memory_vectors AS v ON v.place = i.place WHERE v.model = :model
"""

SAID_IN = """
SELECT memory_id FROM memory_items WHERE scope_id = :scope_id AND session_id LIKE :ending
AND (reingestion_tier = 'low_reingestion' OR source_kind = 'evicted') ORDER BY place
"""
"""What was kept of some sittings as it was said, or left their view (`tools.builtin.recall`)."""
