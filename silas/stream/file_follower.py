"""Files that the owner names are followed: looked at anew in each turn, read only (3.5)."""

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

from silas.clock import Clock
from silas.context import ContextError, ContextSubscription
from silas.stream.followed_files import FollowedFiles
from silas.stream.ports import ModelView, ScopeFiles
from silas.stream.state import ScopeState, Turn
from silas.types import TaintLevel, new_id

_NAMED: Final = re.compile(
    r"(?<![\w/.:@-])(?P<path>(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.[A-Za-z]\w{0,9})"
    r"(?::(?P<first>\d{1,6})-(?P<last>\d{1,6}))?(?![\w/@])"
)
"""`auth.py`, `src/auth.py`, `auth.py:10-45`; relative, and no part begins with a dot."""

_MOST: Final = 3  # files of one message

_path = lru_cache(maxsize=16)(Path)  # every turn is about some place, nearly always the same


class FileFollower:
    """Follows what a message of the owner names inside the directory that his turn is about.

    Args:
        files: What the owner may name.
        followed: Remembers what is followed, over restarts.
        context: Where it is looked at anew for each call of a model.
        turns: For how many turns without mention something is followed.
        shown: Whether the models may be shown what lies in a directory. Nobody is asked here: a
            model that wants to read what was named asks with its look.
    """

    def __init__(
        self,
        files: ScopeFiles,
        followed: FollowedFiles,
        context: ModelView,
        clock: Clock,
        turns: int,
        shown: Callable[[str], bool],
    ) -> None:
        self._files = files
        self._followed = followed
        self._context = context
        self._clock = clock
        self._turns = turns
        self._shown = shown

    def follow(self, turn: Turn) -> None:
        """Each file that is there; what is none, or may not be looked at, is passed over."""
        place = turn.message.incoming.workspace
        if place is None or turn.message.taint is not TaintLevel.owner:
            return
        if not self._shown(place):
            return
        self._files.enter(turn.address, _path(place))
        for named in list(_NAMED.finditer(turn.message.text))[:_MOST]:
            path = f"{place}/{named['path']}"
            if self._can_read(turn.address, path):
                self._subscribe(turn, path, named["first"], named["last"])

    def _can_read(self, address: str, path: str) -> bool:
        try:
            self._files(address, path)
        except ContextError:
            return False
        return True

    def _subscribe(self, turn: Turn, path: str, first: str | None, last: str | None) -> None:
        lines = first and last and 0 < int(first) <= int(last)
        sub = ContextSubscription(
            sub_id=new_id("sub"),
            sub_type="file_lines" if lines else "file",
            target=f"{path}:{first}-{last}" if lines else path,
            created_at=self._clock.now(),
            turn_created=turn.number,
        )
        self._context.subscribe(turn.address, sub)
        self._followed.keep(turn.address, Path(turn.message.incoming.workspace or ""), sub)

    def again(self, scope: ScopeState) -> None:
        """What was followed before a restart, unless that is long ago."""
        since = scope.turn_number - self._turns
        for root, sub in self._followed.since(scope.address, since):
            if not self._shown(str(root)):
                continue
            self._files.enter(scope.address, root)
            self._context.subscribe(scope.address, sub)
