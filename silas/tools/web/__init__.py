"""The tools that ask the web: one request to a public server, pages and search."""
