"""Private copies of directories: tree, diff, patch, journal and undo. Starts no process."""
