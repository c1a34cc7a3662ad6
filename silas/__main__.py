"""`python -I -m silas`."""

from silas.main import cli

cli()
