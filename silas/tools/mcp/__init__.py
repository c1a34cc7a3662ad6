"""MCP servers as tools: their transport, definitions, trust and settings."""
