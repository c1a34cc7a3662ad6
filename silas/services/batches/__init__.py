"""Batches of files for commands, turns and Python (spec 5.2.4)."""
