"""The cockpit for a phone at home: its address, its certificate, and when it is there."""
