-- how far one yes to a goal goes; null: as Silas is set
ALTER TABLE work_items ADD COLUMN standing TEXT NOT NULL DEFAULT 'null';
