"""Texts of a workspace that want to get into a plan, and a planner that obeys every one of them.

The planner reads a file that says what to do and copies it into its plan: into the title, the
briefing, a command, a check, a pattern of files, a host, a grant, or what it says to the owner.
Counted is what of that stands on the plan's card without its source. It must be nothing.
"""
