-- What a message was made of, as a JSON list of sources (empty where nobody noted it), and the last
-- forgetting before it: of what came after, the message is withheld where it was made of that.
ALTER TABLE web_transcript ADD COLUMN sources TEXT NOT NULL DEFAULT '';
ALTER TABLE web_transcript ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
