-- One row: how far effective time has come, what the machine's clock said then, whether a jump of
-- it waits for the owner, and how often the owner set it right.
CREATE TABLE effective_time (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  reached TEXT NOT NULL,
  machine TEXT NOT NULL,
  unconfirmed INTEGER NOT NULL DEFAULT 0,
  confirmed INTEGER NOT NULL DEFAULT 0
);

-- One row: what was used once before this moment may have been forgotten.
CREATE TABLE nonces_forgotten (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  until TEXT NOT NULL
);
