-- Which of the owner's conversations a message or result stands in; empty for the first one.
ALTER TABLE web_transcript ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
CREATE INDEX web_transcript_conversation ON web_transcript (conversation, seq);
