-- What was in view when a plan was made, as a JSON list of sources: work made of something is not
-- shown any more once that was forgotten.
ALTER TABLE scope_work ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
