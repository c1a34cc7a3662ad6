"""What is particular to goals in a plan: when they run, and what keeps one from running."""
