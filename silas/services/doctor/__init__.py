"""What `silas doctor` and `silas config validate` look at."""
