-- Which of the owner's messages asked for work; empty where none did, or where nobody noted it. The
-- result stands under it.
ALTER TABLE scope_work ADD COLUMN message TEXT NOT NULL DEFAULT '';
