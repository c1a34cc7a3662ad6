"""Skills brought in, approved, listed and taken away."""
