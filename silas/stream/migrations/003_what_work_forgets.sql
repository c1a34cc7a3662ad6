-- The last forgetting of its conversation before a piece of work began: of what came after it the
-- work's result is no longer shown where it rests on that.
ALTER TABLE scope_work ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
