"""What is watched by the clock: goals, their cycles and when each comes. Starts no work itself."""
