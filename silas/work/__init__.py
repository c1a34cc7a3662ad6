"""Doing approved work: attempts, ledger, gates, verification from outside, undo."""
