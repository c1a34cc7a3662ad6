"""Toolsets of others, named in YAML, loaded with their settings (`toolset-plugins.md`)."""
