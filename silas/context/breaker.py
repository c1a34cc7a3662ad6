"""Leaving somebody alone who fails again and again (spec 5.7)."""

from dataclasses import dataclass
from typing import Final

from silas.clock import Clock

FAILURES: Final = 3
"""So many failures in a row open it."""
COOL_DOWN: Final = 300.0
"""Seconds until somebody who failed is tried once more."""


@dataclass(slots=True)
class CircuitBreaker:
    """Counts failures in a row; open, nobody is asked until it has cooled down.

    After that one try decides: success closes it, failure opens it for as long again.
    """

    clock: Clock
    failures: int = 0
    opened_at: float = 0.0

    @property
    def open(self) -> bool:
        """Whether nobody is to be asked now."""
        if self.failures < FAILURES:
            return False
        return self.clock.monotonic() - self.opened_at < COOL_DOWN

    def record_success(self) -> None:
        """An answer came."""
        self.failures = 0

    def record_failure(self) -> None:
        """No answer, or none that could be used."""
        self.failures += 1
        self.opened_at = self.clock.monotonic()
