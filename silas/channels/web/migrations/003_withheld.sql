-- Results of which a page shows no more what they printed and reported: their source was forgotten.
ALTER TABLE web_transcript ADD COLUMN withheld INTEGER NOT NULL DEFAULT 0;
