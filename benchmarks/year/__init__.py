"""A simulated year of goals and reminders, with a process that is killed at random points."""
