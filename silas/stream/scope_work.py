"""Which work came from which conversation, so that nobody goes on with somebody else's (5.1)."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, cast

from silas.canonical import canonical_json
from silas.clock import Clock
from silas.context.origin import UNKNOWN_SOURCE, names
from silas.damage import skip_damaged
from silas.db import Database, Tx
from silas.memory.forgotten import ForgottenEntry
from silas.plans import NO_MESSAGE, AskedBy, WorkItem, WorkItemResult, WorkItemStatus
from silas.plans.projects.rest_names import base_name, former_plans, is_rest
from silas.stream.sources import answered_by
from silas.stream.sqlite_statements import NEWEST_WORK
from silas.tools.outcomes import every_answer
from silas.types import OWNER, address_of, conversation_at, whose


class KnownWork(NamedTuple):
    """A piece of work and how it ended, if it did.

    Attributes:
        item: The work.
        result: How it ended.
        sources: What its plan was made from, what its tools answered from, and the same of the work
            that it goes on from or is the rest of.
        forgotten: Some of that was forgotten since it began.
    """

    item: WorkItem
    result: WorkItemResult | None
    sources: tuple[str, ...]
    forgotten: bool


class WorkItemLookup(Protocol):
    """What is looked up of the work item store."""

    async def get(self, work_item_id: str) -> WorkItem | None:
        """The item of this id."""
        ...

    async def get_result(self, work_item_id: str) -> WorkItemResult | None:
        """How it ended."""
        ...

    async def newest(self, limit: int) -> list[WorkItem]:
        """The items that changed last, the newest first."""
        ...

    async def list_by_status(self, status: WorkItemStatus) -> list[WorkItem]:
        """The items of this status, the oldest first."""
        ...


class Answers(Protocol):
    """What is looked up of the journal of calls."""

    def answers_of(self, task_id: str) -> list[tuple[str, str]]:
        """Which tools answered one task, each with where its answer came from."""
        ...


class Forgets(Protocol):
    """What is looked up of memory."""

    def forgotten_since(self, last: int, scope_id: str = OWNER) -> ForgottenEntry:
        """What a scope forgot after the forgetting of this number."""
        ...


NOT_SHOWN = "Not shown, because what it rests on was forgotten."

_TEXTS = ("output", "report", "summary", "last_error", "diff")
"""Of a result, the texts that a model, a program or a file may have made of what was read."""

_CLAIM = """
INSERT INTO scope_work (
  work_item_id, scope_id, begun_at, forgotten, sources, conversation, message
) VALUES (
  :work_item_id, :scope_id, :begun_at, :forgotten, :sources, :conversation, :message
)
ON CONFLICT (work_item_id)
DO UPDATE SET forgotten = excluded.forgotten, sources = excluded.sources,
  message = CASE WHEN scope_work.conversation = excluded.conversation THEN excluded.message
    ELSE scope_work.message END
WHERE scope_work.scope_id = excluded.scope_id
"""
_RELEASE = "DELETE FROM scope_work WHERE work_item_id = :work_item_id AND scope_id = :scope_id"
_TAKE_OVER = "DELETE FROM scope_work WHERE work_item_id = :work_item_id AND scope_id <> :scope_id"
_SCOPE = "SELECT scope_id FROM scope_work WHERE work_item_id = :work_item_id"
_ADDRESS = "SELECT scope_id, conversation FROM scope_work WHERE work_item_id = :work_item_id"
_ASKED_BY = (
    "SELECT scope_id, conversation, message FROM scope_work WHERE work_item_id = :work_item_id"
)
_FORGOTTEN = "SELECT forgotten FROM scope_work WHERE work_item_id = :work_item_id"
_SOURCES = "SELECT sources FROM scope_work WHERE work_item_id = :work_item_id"
_EVERY_SOURCE = "SELECT DISTINCT sources FROM scope_work WHERE scope_id = :scope_id"


class ScopeWork:
    """The work of each scope; what no scope has claimed is the owner's, who alone runs plans."""

    def __init__(
        self, db: Database, items: WorkItemLookup, answers: Answers, memory: Forgets, clock: Clock
    ) -> None:
        self._db = db
        self._items = items
        self._answers = answers
        self._memory = memory
        self._clock = clock

    def claim(
        self, work_item_id: str, address: str, sources: Sequence[str], message: str = ""
    ) -> None:
        """Say that this work came from this conversation; the first to say so is right.

        Of the messages of that conversation that ask for the same work, the last one counts.

        Args:
            work_item_id: The work.
            address: Where it was asked for.
            sources: What its plan was made from: everything that was in view.
            message: Which of the owner's messages asked for it; empty where none did.
        """
        last = self._memory.forgotten_since(0, whose(address)).last
        made_from = canonical_json(list(dict.fromkeys(sources)))
        with self._db.write() as tx:
            tx.run(
                _CLAIM,
                work_item_id=work_item_id,
                scope_id=whose(address),
                conversation=conversation_at(address),
                begun_at=self._clock.now().isoformat(),
                forgotten=last,
                sources=made_from,
                message=message,
            )

    def is_claimed(self, work_item_id: str) -> bool:
        """Whether somebody said that it came from him."""
        with self._db.read() as tx:
            return tx.run(_SCOPE, work_item_id=work_item_id).fetchone() is not None

    def begin_rest(self, item: WorkItem) -> None:
        """Note when the rest of a project began, whoever it came from: what was forgotten before
        its owner approved it hides nothing of it. It belongs where the project was asked for.
        """
        by = self.asked_by(base_name(item.id))
        for one in (item, *item.children) if is_rest(item) else ():
            if not self.is_claimed(one.id):
                self.claim(one.id, address_of(OWNER, by.conversation), (), by.message)

    def release(self, work_item_id: str, address: str) -> None:
        """It came to nothing: its id may be that of somebody else's work."""
        with self._db.write() as tx:
            tx.run(_RELEASE, work_item_id=work_item_id, scope_id=whose(address))

    def take_over(self, work_item_id: str) -> None:
        """New work of the owner's has this id: whoever else asked for some under it has none."""
        with self._db.write() as tx:
            tx.run(_TAKE_OVER, work_item_id=work_item_id, scope_id=OWNER)

    def scope_of(self, work_item_id: str) -> str:
        """Whose it is."""
        with self._db.read() as tx:
            row = tx.run(_SCOPE, work_item_id=work_item_id).fetchone()
        return OWNER if row is None else str(row[0])

    def address_of(self, work_item_id: str) -> str:
        """The conversation that it came from; where nobody claimed it, the owner's first one."""
        with self._db.read() as tx:
            row = tx.run(_ADDRESS, work_item_id=work_item_id).fetchone()
        return OWNER if row is None else address_of(str(row[0]), str(row[1]))

    def asked_by(self, work_item_id: str) -> AskedBy:
        """Which of the owner's messages asked for it; of what others asked for, none."""
        with self._db.read() as tx:
            row = tx.run(_ASKED_BY, work_item_id=work_item_id).fetchone()
        if row is None or str(row[0]) != OWNER:
            return NO_MESSAGE
        return AskedBy(str(row[1]), str(row[2]))

    async def find_work(self, work_item_id: str, scope_id: str) -> KnownWork | None:
        """The work of this id, if this scope has it."""
        item = await self._items.get(work_item_id)
        if item is None or self.scope_of(work_item_id) != scope_id:
            return None
        return await self._load_work(item)

    async def result(self, work_item_id: str) -> WorkItemResult | None:
        """How work ended, as it may be shown; see `as_shown`."""
        result = await self._items.get_result(work_item_id)
        return None if result is None else await self.as_shown(result)

    async def as_shown(self, result: WorkItemResult) -> WorkItemResult:
        """A result as it may be shown: what the work made, printed and said is gone where what it
        rests on was forgotten since; that it ended, and how its checks went, stays.
        """
        if not await self.rests_on_forgotten(result.work_item_id, ever=False):
            return result
        gone = {name: NOT_SHOWN for name in _TEXTS if getattr(result, name)}
        more = {
            "verification_results": [
                {**attempt, "results": without_words(attempt["results"])}
                for attempt in result.verification_results
            ],
            "artifacts": dict.fromkeys(result.artifacts, NOT_SHOWN),
            "next_steps": [NOT_SHOWN] * bool(result.next_steps),
            "read_before": [NOT_SHOWN] * bool(result.read_before),
        }
        return result.model_copy(update={**gone, **more})

    async def item_as_shown(self, item: WorkItem) -> WorkItem:
        """Work as it may be shown: what its checks printed is gone as in its result.

        The plan itself stays: it is what the owner signed, and he finds it by its hash.
        """
        if not item.verification_results or not await self.rests_on_forgotten(item.id, ever=False):
            return item
        results = [
            {**attempt, "results": without_words(attempt.get("results", []))}
            for attempt in item.verification_results
        ]
        return item.model_copy(update={"verification_results": results})

    async def rests_on_forgotten(self, work_item_id: str, *, ever: bool) -> bool:
        """Whether something that work rests on was forgotten since it last began.

        Args:
            work_item_id: The work. Of what is not kept any more nobody knows, so it counts as such
                once its scope forgot anything.
            ever: Ask of every forgetting, for what an earlier run of it gave.
        """
        gone = self._gone_sources(work_item_id, ever=ever)
        if not gone and base_name(work_item_id) == work_item_id:
            return False
        item = await skip_damaged(self._items.get(work_item_id))
        return bool(gone) if item is None else await self._rests_on(item, gone)

    async def _rests_on(self, item: WorkItem, gone: tuple[str, ...]) -> bool:
        """Whether it rests on one of these sources, or on one that the scope of what it was made
        from forgot since that began.
        """
        mine = self.scope_of(item.id)
        for of in await self._made_from(item):
            theirs = () if self.scope_of(of.id) == mine else self._gone_sources(of.id, ever=False)
            if _any_named(self._own_sources(of.id), (*gone, *theirs)):
                return True
        return False

    def _gone_sources(self, work_item_id: str, *, ever: bool) -> tuple[str, ...]:
        """What the scope of this work forgot since that began, or ever."""
        since = 0 if ever else self._forgetting_at_start(work_item_id)
        return self._memory.forgotten_since(since, self.scope_of(work_item_id)).sources

    async def goals(self) -> list[str]:
        """Ids of the owner's goals that were approved, the newest first."""
        found = await self._items.list_by_status(WorkItemStatus.healthy)
        return [one.id for one in reversed(found) if self.scope_of(one.id) == OWNER]

    async def recent(self, address: str, limit: int) -> list[KnownWork]:
        """The newest work of a conversation, the oldest of it first."""
        if address == OWNER:
            newest = await self._items.newest(limit)
            found = [item for item in newest if self.address_of(item.id) == address]
        else:
            items = [
                await skip_damaged(self._items.get(name))
                for name in self._list_claimed(address, limit)
            ]
            found = [item for item in items if item is not None]
        return [await self._load_work(item) for item in reversed(found)]

    async def _load_work(self, item: WorkItem) -> KnownWork:
        sources = tuple(dict.fromkeys(await self._sources(item)))
        forgotten = await self._rests_on(item, self._gone_sources(item.id, ever=False))
        result = await skip_damaged(self._items.get_result(item.id))
        return KnownWork(item, result, sources, forgotten)

    async def _sources(self, item: WorkItem) -> list[str]:
        """Of the work itself and what it is made from."""
        return [source for of in await self._made_from(item) for source in self._own_sources(of.id)]

    def _own_sources(self, work_item_id: str) -> list[str]:
        answers = self._answers.answers_of(work_item_id)
        answered = [answered_by(tool, where) for tool, where in answers]
        return self._find_sources(work_item_id) + answered

    async def _made_from(self, item: WorkItem) -> list[WorkItem]:
        """The work itself, what it goes on from, and what it is the rest of, each once."""
        found, names = [item], {item.id}
        for of in found:
            above = [await self._find(of.follow_up_of)]
            if base_name(of.id) != of.id:  # a task's plan is its project's, and so is its rest
                above += [await self._find(of.parent), *await former_plans(of, self._find)]
            for one in above:
                if one is not None and one.id not in names:
                    names.add(one.id)
                    found.append(one)
        return found

    async def _find(self, work_item_id: str | None) -> WorkItem | None:
        return None if work_item_id is None else await skip_damaged(self._items.get(work_item_id))

    def _forgetting_at_start(self, work_item_id: str) -> int:
        """The last forgetting before it began; where nobody knows, none."""
        with self._db.read() as tx:
            row = tx.run(_FORGOTTEN, work_item_id=work_item_id).fetchone()
        return row[0] if row is not None and isinstance(row[0], int) else 0

    def _find_sources(self, work_item_id: str) -> list[str]:
        """What its plan was made from."""
        with self._db.read() as tx:
            row = tx.run(_SOURCES, work_item_id=work_item_id).fetchone()
        return [] if row is None else _parse_sources(row[0])

    def _list_claimed(self, address: str, limit: int) -> list[str]:
        scope_id, where = whose(address), conversation_at(address)
        with self._db.read() as tx:
            rows = tx.run(NEWEST_WORK, scope_id=scope_id, conversation=where, limit=limit)
            return [str(row[0]) for row in rows]


def any_rests_on(tx: Tx, source: str, scope_id: str = OWNER) -> bool:
    """Whether a plan of a scope was made from a source, or a tool ever answered from it.

    A call of a turn that is not over yet counts, too: what the turn makes of it is not kept yet.
    """
    made_from = [
        one
        for (found,) in tx.run(_EVERY_SOURCE, scope_id=scope_id)
        for one in _parse_sources(found)
    ]
    answered = [answered_by(tool, where or "") for tool, where in every_answer(tx)]
    return _any_named([*made_from, *answered], (source,))


def _parse_sources(text: object) -> list[str]:
    """A row's list of sources; a damaged one may have been any, so it counts as all of them."""
    try:
        found: object = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        return [UNKNOWN_SOURCE]
    listed = cast(list[object], found)
    return [one if isinstance(one, str) else UNKNOWN_SOURCE for one in listed]


def without_words(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What checks found without what they printed, and without words that may repeat it."""
    return [{**one, "reason": NOT_SHOWN, "output": ""} for one in results]


def _any_named(sources: Iterable[str], gone: tuple[str, ...]) -> bool:
    return any(names(source, wanted) for source in sources for wanted in gone)
