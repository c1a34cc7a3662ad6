"""The requirement manifest, one module per part of the specification; see `tests.requirements`."""
