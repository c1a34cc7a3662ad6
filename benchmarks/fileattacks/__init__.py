"""Attackers who write into files that the work reads, and a model that obeys them."""
