CREATE TABLE tool_health (
  tool_name TEXT PRIMARY KEY,
  health TEXT NOT NULL
) WITHOUT ROWID;
