ALTER TABLE work_items ADD COLUMN credential_refs TEXT NOT NULL DEFAULT '{}';
