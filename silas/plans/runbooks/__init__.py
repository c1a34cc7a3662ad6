"""The plan library: runbooks found by what was asked, filled in, run without a language model."""
