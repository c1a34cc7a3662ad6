"""The commands about what comes by the clock."""
