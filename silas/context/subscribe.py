"""Files, lines and questions to memory, looked at anew for each turn (spec 3.5, ADR-016)."""

import posixpath
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from silas.audit import Audit
from silas.canonical import sha256_hex
from silas.clock import Clock
from silas.context.errors import ContextError
from silas.context.models import ContextConfig, ContextItem, ContextSubscription, ContextZone
from silas.context.origin import names
from silas.context.scope_items import ScopeItems
from silas.types import TaintLevel, join_taint

ReadFile = Callable[[str, str], bytes]
"""(scope id, path) to the file's bytes; raises `ContextError` where the scope may not see it."""


class FoundMemory(NamedTuple):
    """A memory that a subscription found."""

    memory_id: str
    text: str
    taint: TaintLevel
    sources: tuple[str, ...] = ()


SearchMemories = Callable[[str, str], Awaitable[Sequence[FoundMemory]]]
"""(scope id, query) to what is remembered and fits, best first."""


def no_files(scope_id: str, path: str) -> bytes:
    """No file may be looked at."""
    raise ContextError(f"{path} cannot be followed: no files are in reach.", code="E_CTX_FILE")


async def no_memories(scope_id: str, query: str) -> Sequence[FoundMemory]:
    """Nothing is remembered."""
    return ()


class _Place(NamedTuple):
    """A file, or some of its lines, counted from 1, both ends included."""

    path: str
    first: int = 0
    last: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.first}-{self.last}" if self.first else self.path


@dataclass(slots=True)
class _Followed:
    """A subscription, and what is known of it.

    Attributes:
        place: Where it looks; None for a question to memory.
        mentioned: The last turn in which an agent's words named it.
        read: The turn in which it was last looked at.
        same: The last turn in which it was as before.
        changed: The turn in which it last changed.
        stale: Lines that changed since they were subscribed to: others may stand there now.
    """

    sub: ContextSubscription
    place: _Place | None
    mentioned: int
    read: int = -1
    same: int = -1
    changed: int = -1
    stale: bool = False


class Subscriptions:
    """What one scope follows. Deactivated ones are kept, and cost nothing."""

    def __init__(
        self,
        scope_id: str,
        slots: ScopeItems,
        put: Callable[[ContextItem, tuple[str, ...]], None],
        config: ContextConfig,
        clock: Clock,
        read_file: ReadFile,
        search: SearchMemories,
        count: Callable[[str], int],
        audit: Audit,
    ) -> None:
        self._scope_id = scope_id
        self._slots = slots
        self._put = put
        self._config = config
        self._clock = clock
        self._read_file = read_file
        self._search = search
        self._count = count
        self._audit = audit
        self._followed: dict[str, _Followed] = {}

    def all(self) -> list[ContextSubscription]:
        """Every subscription, deactivated ones included, in the order they were made."""
        return [one.sub for one in self._followed.values()]

    def add(self, sub: ContextSubscription) -> str:
        """See `ContextManager.subscribe`."""
        new = _Followed(sub, _place(sub), sub.turn_created)
        if new.place is not None:
            covered = self._cover(new, new.place)
            if covered is not None:
                return covered
        self._followed[sub.sub_id] = new
        return sub.sub_id

    def _cover(self, new: _Followed, place: _Place) -> str | None:
        """Make one of what overlaps; returns who follows it already, if anybody does."""
        for one in self._active_subscriptions():
            known = one.place
            if known is None or known.path != place.path or one.sub.sub_id == new.sub.sub_id:
                continue
            if not known.first:  # the whole file has every line of it
                one.mentioned = max(one.mentioned, new.mentioned)
                return one.sub.sub_id
            if not place.first:
                self.deactivate(one.sub.sub_id)
            elif known.first <= place.last + 1 and place.first <= known.last + 1:
                place = _Place(
                    place.path, min(known.first, place.first), max(known.last, place.last)
                )
                self.deactivate(one.sub.sub_id)
        new.place = place
        new.sub = new.sub.model_copy(update={"target": str(place), "active": True})
        return None

    def deactivate(self, sub_id: str, reason: str = "") -> None:
        """Show it no more; a reason is recorded."""
        one = self._followed.get(sub_id)
        if one is None or not one.sub.active:
            return
        one.sub = one.sub.model_copy(update={"active": False, "token_count": 0})
        self._slots.take(_ctx_id(sub_id))
        if reason:
            self._audit.log_now(
                "context_subscription_ended",
                scope_id=self._scope_id,
                sub_type=one.sub.sub_type,
                reason=reason,
            )

    def note_mentions(self, item: ContextItem) -> None:
        """Take note of what an agent's words name, and follow again what they name anew."""
        if not item.source.startswith("agent:"):
            return
        for one in self._followed.values():
            if one.sub.active and _named_in(one, item.content):
                one.mentioned = max(one.mentioned, item.turn_number)

    def expire(self, turn_number: int) -> None:
        """Deactivate what no agent has named for long."""
        for one in self._active_subscriptions():
            if turn_number - one.mentioned >= self._config.subscription_ttl_turns:
                self.deactivate(one.sub.sub_id, "nobody mentioned it for long")

    def deactivate_evicted(self, items: Sequence[ContextItem]) -> None:
        """Deactivate those whose items had to leave."""
        ids = {item.ctx_id for item in items if item.kind == "subscription"}
        for one in self._active_subscriptions():
            if _ctx_id(one.sub.sub_id) in ids:
                self.deactivate(one.sub.sub_id, "it had to make room")

    def forget(self, source: str) -> None:
        """Give up every file that lies under a source."""
        for sub_id, one in list(self._followed.items()):
            if one.place is not None and names(f"file:{one.place.path}", source):
                self.deactivate(sub_id)
                del self._followed[sub_id]

    async def refresh(self, turn_number: int) -> None:
        """Files once in a turn, questions to memory each time."""
        self.refresh_files(turn_number)
        for one in self._active_subscriptions():
            if one.place is None:
                await self._ask(one, turn_number)

    def refresh_files(self, turn_number: int) -> None:
        """Look at each file that was not looked at in this turn."""
        for one in self._active_subscriptions():
            if one.place is not None and one.read != turn_number:
                self._look(one, one.place, turn_number)

    def _active_subscriptions(self) -> list[_Followed]:
        return [one for one in self._followed.values() if one.sub.active]

    def _look(self, one: _Followed, place: _Place, turn_number: int) -> None:
        one.read = turn_number
        try:
            text = _lines(self._read_file(self._scope_id, place.path).decode("utf-8"), place)
        except ContextError as refused:
            return self.deactivate(one.sub.sub_id, refused.message)
        except UnicodeDecodeError:
            return self.deactivate(one.sub.sub_id, "it is not text")
        digest = sha256_hex(text.encode())
        if one.changed >= 0 and digest == one.sub.content_hash:
            one.same = turn_number
            return None
        one.stale = one.stale or (bool(place.first) and bool(one.sub.content_hash))
        one.changed = turn_number
        since = one.same if one.same >= 0 else one.sub.turn_created
        flag = f"[stale — file changed since turn {since}]" if one.stale else ""
        return self._show(one, text, flag, f"file:{place}", TaintLevel.external, ())

    async def _ask(self, one: _Followed, turn_number: int) -> None:
        known = {i.item.source for i in self._slots.zone(ContextZone.memory)}
        found = [
            memory
            for memory in await self._search(self._scope_id, one.sub.target)
            if f"memory:{memory.memory_id}" not in known
        ]
        text = "\n".join(f"{memory.memory_id}: {memory.text}" for memory in found)
        if not found or not one.sub.active:
            self._slots.take(_ctx_id(one.sub.sub_id))
            return
        digest = sha256_hex(text.encode())
        shown = self._slots.get(_ctx_id(one.sub.sub_id))
        if shown is not None and digest == one.sub.content_hash:
            return
        taint = join_taint(memory.taint for memory in found)
        sources = tuple(dict.fromkeys(name for m in found for name in m.sources))
        one.changed = turn_number
        self._show(one, text, "", f"memory_query:{one.sub.target}", taint, sources)

    def _show(
        self,
        one: _Followed,
        text: str,
        flag: str,
        source: str,
        taint: TaintLevel,
        sources: tuple[str, ...],
    ) -> None:
        sub, tokens = one.sub, self._count(text)
        if tokens > self._config.max_subscription_tokens:
            self.deactivate(
                sub.sub_id,
                f"it has {tokens} tokens, more than context.max_subscription_tokens "
                f"({self._config.max_subscription_tokens})",
            )
            return
        digest = sha256_hex(text.encode())
        one.sub = sub.model_copy(update={"content_hash": digest, "token_count": tokens})
        item = ContextItem(
            ctx_id=_ctx_id(sub.sub_id),
            zone=sub.zone,
            content=text,
            token_count=tokens,
            created_at=self._clock.now(),
            turn_number=one.changed,
            source=source,
            taint=taint,
            kind="subscription",
            sources=sources,
        )
        self._put(item, (flag or "live", f"last_changed: turn {one.changed}"))


def _ctx_id(sub_id: str) -> str:
    return f"subscription:{sub_id}"


def _place(sub: ContextSubscription) -> _Place | None:
    if sub.sub_type == "memory_query":
        return None
    if sub.sub_type == "file":
        return _Place(posixpath.normpath(sub.target))
    path, _, span = sub.target.rpartition(":")
    first, _, last = span.partition("-")
    if not (path and first.isdecimal() and last.isdecimal() and 0 < int(first) <= int(last)):
        raise ContextError(
            f"{sub.target!r} names no lines; write `path:first-last`, as in `auth.py:10-45`.",
            code="E_CTX_TARGET",
        )
    return _Place(posixpath.normpath(path), int(first), int(last))


def _lines(text: str, place: _Place) -> str:
    if not place.first:
        return text
    return "\n".join(text.split("\n")[place.first - 1 : place.last])


def _named_in(one: _Followed, words: str) -> bool:
    if one.place is None:
        return one.sub.target.casefold() in words.casefold()
    return posixpath.basename(one.place.path) in words
