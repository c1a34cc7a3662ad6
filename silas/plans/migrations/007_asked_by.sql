-- Which message asked for a waiting plan, and in which of the owner's conversations (empty for the
-- first one): what is said of the plan later stands under it. Empty where no message did.
ALTER TABLE waiting_plans ADD COLUMN conversation TEXT NOT NULL DEFAULT '';
ALTER TABLE waiting_plans ADD COLUMN message TEXT NOT NULL DEFAULT '';
