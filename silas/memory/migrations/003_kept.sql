-- What was told to be remembered, among everything that was only said: of a thousand memories with
-- the words of a question those few are found without a look at each.
CREATE INDEX IF NOT EXISTS memory_items_kept
  ON memory_items (place) WHERE memory_type <> 'episode';
