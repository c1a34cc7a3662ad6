-- How many characters each lane holds: a word of a text tells less, the longer the text is beside the
-- others of its lane.
ALTER TABLE memory_scopes ADD COLUMN active_characters INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_scopes ADD COLUMN raw_characters INTEGER NOT NULL DEFAULT 0;
UPDATE memory_scopes SET
  active_characters = (SELECT coalesce(sum(length(content)), 0) FROM memory_items
    WHERE memory_items.scope_id = memory_scopes.scope_id AND reingestion_tier = 'active'),
  raw_characters = (SELECT coalesce(sum(length(content)), 0) FROM memory_items
    WHERE memory_items.scope_id = memory_scopes.scope_id AND reingestion_tier <> 'active');
