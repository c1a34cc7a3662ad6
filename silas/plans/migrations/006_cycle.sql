-- what a goal does when it is due; null: it runs its checks
ALTER TABLE work_items ADD COLUMN cycle TEXT;
