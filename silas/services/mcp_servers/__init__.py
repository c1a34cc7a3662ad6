"""MCP servers: added, looked at, trusted and removed, by both doors alike (D120 to D122)."""
