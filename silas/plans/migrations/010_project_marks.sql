-- What of an approved project repeats words that were read elsewhere: its rest tells it again. A
-- project without a row was approved before this was kept, so what of it was read nobody knows.
CREATE TABLE project_marks (
  work_item_id TEXT NOT NULL PRIMARY KEY,
  marks TEXT NOT NULL
);
