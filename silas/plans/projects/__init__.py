"""What is particular to projects in a plan: their tasks, the order of these, and their card."""
