"""Who hears an answer while a model is still finding it."""

from collections.abc import Callable
from typing import Any, Protocol


class Listener(Protocol):
    """Hears the text for the user as it comes. Nothing of it is decided or checked yet."""

    def more(self, text: str) -> None:
        """A further piece, after those before it."""
        ...

    def again(self) -> None:
        """What was heard so far does not count; what comes next begins anew."""
        ...


class NoListener:
    """The absence of a listener: answers are asked for whole."""

    def more(self, text: str) -> None:
        """Is not heard."""

    def again(self) -> None:
        """Is not heard."""


NOBODY: Listener = NoListener()

Listen = Callable[[Any], Listener]
"""Who listens to the run with these deps."""


def nobody_listens(deps: Any) -> Listener:
    """Nobody, whatever the run is."""
    del deps
    return NOBODY
