"""The only way out of a sandbox: hosts by name, the proxy, and what it records."""
