"""The built-in model: deterministic answers and runbooks, without a key and without a network."""
