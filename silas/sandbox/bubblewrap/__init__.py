"""bubblewrap behind the sandbox port: its command line, devices and resident programs."""
