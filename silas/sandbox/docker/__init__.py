"""Docker behind the sandbox port: its command lines, engine, probe and supervisor."""
