-- Plans that their owner wants changed (decision D366): a changed plan takes the place of its
-- question, also in a later process.
ALTER TABLE waiting_plans ADD COLUMN changes_wanted INTEGER NOT NULL DEFAULT 0;
