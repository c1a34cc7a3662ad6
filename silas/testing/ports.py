"""The ports of a wired Silas's turns: to look at, and to put others in their place."""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

Make = Callable[[Any], Any]
"""Makes what takes the place of a port of the wired one."""


class Ports:
    """`Ports(sign_in=Watched)`: a turn's ports as they are used, by name; others in some places.

    A name that no step's port has fails when Silas is opened, so that nothing is exchanged in vain.

    Args:
        others: What takes the place of which port.
    """

    def __init__(self, **others: Make) -> None:
        self._others = dict(others)
        self._used: dict[str, Any] = {}

    def put(self, name: str, make: Make) -> None:
        """Exchange one more port; before Silas is opened."""
        self._others[name] = make

    def __getitem__(self, name: str) -> Any:
        """The port that is used under this name, once Silas has got as far as wiring it."""
        return self._used[name]

    def __call__(self, name: str, port: T) -> T:
        """What the wiring asks for each port."""
        used = self._used[name] = self._others[name](port) if name in self._others else port
        return used

    def names(self) -> tuple[str, ...]:
        """Every port that was wired."""
        return tuple(self._used)

    def require_used(self) -> None:
        """Raise `LookupError` where a port was to be exchanged that there is not."""
        unknown = sorted(self._others.keys() - self._used.keys())
        if unknown:
            known = ", ".join(sorted(self._used))
            raise LookupError(f"no step of a turn has the port {unknown[0]!r}; there are {known}")
