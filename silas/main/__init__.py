"""The command line, `silas.main:cli`."""

from silas.main.app import cli

__all__ = ["cli"]
