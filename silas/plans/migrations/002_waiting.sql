-- Plans whose question is open: a crash must not lose it (spec 5.1.3). The plan is the item as JSON;
-- it gives no authority, because it is shown and asked about again.
CREATE TABLE waiting_plans (
  work_item_id TEXT NOT NULL,
  plan_hash TEXT NOT NULL,
  plan TEXT NOT NULL,
  rationale TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  PRIMARY KEY (work_item_id, plan_hash)
);
