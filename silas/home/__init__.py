"""An opened home: its directories, database, clock, key, sandbox and models; or those of a test."""
