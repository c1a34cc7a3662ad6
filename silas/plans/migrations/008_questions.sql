-- Questions of running work to its owner: kept before they are asked, so that a crash loses neither
-- the question nor, once it is given, the answer. Both are of one approval of the work.
CREATE TABLE work_questions (
  work_item_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'answered')),
  chosen TEXT NOT NULL,
  words TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  PRIMARY KEY (work_item_id, token_id, digest)
);
