-- That a signed head is kept outside the database, so that one that vanishes is missed.
CREATE TABLE audit_kept (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  since TEXT NOT NULL,
  fault TEXT NOT NULL, -- what a look at the whole chain found; asked again at every start
  signing INTEGER NOT NULL -- the newest entry that was about to be signed
);

-- Changed records that the owner accepted, each signed.
CREATE TABLE audit_acceptances (
  body TEXT NOT NULL,
  signature TEXT NOT NULL
);
