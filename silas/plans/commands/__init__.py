"""What the commands of a plan run: the files behind a command line, read from its words alone."""
