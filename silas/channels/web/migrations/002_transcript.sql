-- What the owner and Silas said on the pages, so that a reload, a second device and a restart show
-- the same. `id` is the page's own for a message of the owner's: one that is sent again is kept once.
CREATE TABLE web_transcript (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL
);
