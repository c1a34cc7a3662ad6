-- For how many seconds the machine had been on at the mark, and the start of the machine that they count from.
ALTER TABLE effective_time ADD COLUMN boot TEXT NOT NULL DEFAULT '';
ALTER TABLE effective_time ADD COLUMN up INTEGER NOT NULL DEFAULT 0;
