CREATE TABLE mcp_tools (
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL,
  definition TEXT NOT NULL,
  source TEXT NOT NULL,
  trusted_at TEXT NOT NULL,
  PRIMARY KEY (server, tool)
) WITHOUT ROWID;
