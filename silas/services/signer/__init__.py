"""The owner's key in a process of its own, and what it signs."""
