-- What the owner answered when a model outside this machine wanted to look at a workspace: one
-- answer for each workspace and for those who would be shown it.
CREATE TABLE IF NOT EXISTS look_answers (
  workspace TEXT NOT NULL,
  shown_to TEXT NOT NULL,
  allowed INTEGER NOT NULL,
  answered_at TEXT NOT NULL,
  PRIMARY KEY (workspace, shown_to)
);
