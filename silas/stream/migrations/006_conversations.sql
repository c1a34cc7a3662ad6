-- Which of the owner's conversations a message was said in, and work was asked for in; empty for
-- the first one.
ALTER TABLE arrivals ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
ALTER TABLE scope_work ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
