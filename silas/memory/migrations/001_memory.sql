-- Memories (spec 6.1). A memory's place is its scope's number times 2^40, 2^39 more in the raw lane,
-- and a running number: what one lane of one scope has lies together in every index and in its order,
-- and no search of one scope walks through another's. Places are never used again.
CREATE TABLE IF NOT EXISTS memory_scopes (
  number INTEGER PRIMARY KEY,
  scope_id TEXT NOT NULL UNIQUE,
  active_last INTEGER NOT NULL,
  active_items INTEGER NOT NULL,
  raw_last INTEGER NOT NULL,
  raw_items INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS memory_items (
  place INTEGER PRIMARY KEY,
  memory_id TEXT NOT NULL,
  content TEXT NOT NULL,
  memory_type TEXT NOT NULL,
  reingestion_tier TEXT NOT NULL,
  trust_level TEXT NOT NULL,
  taint TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  valid_from TEXT,
  valid_until TEXT,
  access_count INTEGER NOT NULL,
  last_accessed TEXT,
  semantic_tags TEXT NOT NULL,
  entity_refs TEXT NOT NULL,
  causal_refs TEXT NOT NULL,
  temporal_next TEXT,
  temporal_prev TEXT,
  session_id TEXT,
  embedding BLOB,
  source_kind TEXT NOT NULL,
  scope_id TEXT NOT NULL,
  sources TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS memory_items_id ON memory_items (scope_id, memory_id);
CREATE INDEX IF NOT EXISTS memory_items_created_at
  ON memory_items (scope_id, reingestion_tier, created_at);
CREATE INDEX IF NOT EXISTS memory_items_session
  ON memory_items (scope_id, session_id, created_at) WHERE session_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS memory_items_validity
  ON memory_items (scope_id, valid_from)
  WHERE valid_from IS NOT NULL OR valid_until IS NOT NULL;
CREATE INDEX IF NOT EXISTS memory_items_rules
  ON memory_items (scope_id, created_at)
  WHERE memory_type = 'preference' AND trust_level <> 'working';
CREATE INDEX IF NOT EXISTS memory_items_entity_refs
  ON memory_items (scope_id, entity_refs) WHERE entity_refs <> '[]';
CREATE INDEX IF NOT EXISTS memory_items_causal_refs
  ON memory_items (scope_id, causal_refs) WHERE causal_refs <> '[]';

-- Where each memory came from, so that all of one source is found and forgotten.
CREATE TABLE IF NOT EXISTS memory_sources (
  scope_id TEXT NOT NULL,
  source TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (scope_id, source, place)
) WITHOUT ROWID;

-- The words of the active lane, and of the raw lane by itself: raw text never changes what is rare.
CREATE VIRTUAL TABLE IF NOT EXISTS memory_words USING fts5(
  content, semantic_tags, content='memory_items', content_rowid='place',
  tokenize="porter unicode61 tokenchars '_-'"
);
CREATE VIRTUAL TABLE IF NOT EXISTS memory_raw_words USING fts5(
  content, semantic_tags, content='memory_items', content_rowid='place',
  tokenize="porter unicode61 tokenchars '_-'"
);
