-- Retention goes by scope and moment, which the other index has in order; this one cost every turn.
DROP INDEX chronicle_at;
