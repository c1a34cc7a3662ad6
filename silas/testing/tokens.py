"""A token counter for tests: what it counts can be counted by hand."""


class FakeTokenCounter:
    """Counts words (spec 5.13)."""

    def count(self, text: str) -> int:
        """Words between white space."""
        return len(text.split())
