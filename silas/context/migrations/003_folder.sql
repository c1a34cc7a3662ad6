-- The directory that an entry was about, so that a conversation in one folder does not show what was
-- said in another. What was kept before, and what named none, belongs to all of them.
ALTER TABLE chronicle ADD COLUMN folder TEXT NOT NULL DEFAULT '';
