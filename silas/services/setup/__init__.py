"""What can answer on this machine, one try, and the `models:` section."""
