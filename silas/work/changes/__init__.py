"""What work changed: its private copy, delivery, changes held for the owner, undo, recovery."""
