"""What commands and the cockpit ask for, one noun a file; both doors use the same service."""
