"""Which tools there are here: built in, of toolsets, and what they cost in every prompt."""
