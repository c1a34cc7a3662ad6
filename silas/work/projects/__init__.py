"""Running a project: its tasks in their order, its budget, its own checks, its undo (5.2.2)."""
