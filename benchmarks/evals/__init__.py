"""Forty tasks in small workspaces, each judged by functions that no model reaches (spec 14)."""
