"""The owner's own tools for a run: found, told apart by digest, shown read-only, probed inside."""
