"""What commands and the cockpit ask for, one noun a file; both doors use the same service.

Written twice, they drift: one door learns, refuses or keeps what the other does not. What commands
take from rooms below is a list in a test.
"""
