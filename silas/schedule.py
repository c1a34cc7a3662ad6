"""Due times, from one place. Empty until goals run on a schedule."""
