"""The commands about the configuration."""
