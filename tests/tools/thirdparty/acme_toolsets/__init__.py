"""Toolsets that know nothing of Silas but its convention: one of each kind."""
