"""Checks of a plan: before its card, after the work, and whether the work forged their verdict."""
