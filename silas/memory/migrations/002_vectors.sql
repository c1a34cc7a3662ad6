-- Vectors of active memories (decision A16), one each, of the model that is in use. `bits` has one bit
-- for each number, set where it is positive. They go with their memory, and when its content changes.
CREATE TABLE IF NOT EXISTS memory_vectors (
  place INTEGER PRIMARY KEY REFERENCES memory_items (place) ON DELETE CASCADE,
  model TEXT NOT NULL,
  scope INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  bits BLOB NOT NULL,
  vector BLOB NOT NULL
);
-- Covers loading a scope, and what came since: the vectors themselves are not walked through.
CREATE INDEX IF NOT EXISTS memory_vectors_bits ON memory_vectors (model, scope, stamp, place, bits);

-- The last stamp of each scope; none is given twice, though its vector may be gone.
CREATE TABLE IF NOT EXISTS memory_vector_stamps (
  scope INTEGER PRIMARY KEY,
  last INTEGER NOT NULL
);

CREATE TRIGGER IF NOT EXISTS memory_vectors_stale
AFTER UPDATE OF content ON memory_items WHEN NEW.content IS NOT OLD.content
BEGIN
  DELETE FROM memory_vectors WHERE place = OLD.place;
END;

-- Memories about which the owner was asked whether they are true; nobody is asked twice about the
-- same words.
CREATE TABLE IF NOT EXISTS memory_asked (
  place INTEGER PRIMARY KEY REFERENCES memory_items (place) ON DELETE CASCADE,
  asked_at TEXT NOT NULL,
  answer TEXT NOT NULL
);

CREATE TRIGGER IF NOT EXISTS memory_asked_stale
AFTER UPDATE OF content ON memory_items WHEN NEW.content IS NOT OLD.content
BEGIN
  DELETE FROM memory_asked WHERE place = OLD.place;
END;
