"""What Silas did and does, in its owner's words: entries of the record, days, what is under way."""
