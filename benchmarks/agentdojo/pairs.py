"""What is measured of one user task: without attack, and with every injection at every place."""

import asyncio
import functools
import warnings
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from agentdojo.base_tasks import BaseUserTask

from benchmarks.agentdojo.constants import disguise, plain
from benchmarks.agentdojo.house import a_house
from benchmarks.agentdojo.owner import Temper
from benchmarks.agentdojo.planner import Seen, fixed, grants, left_open
from benchmarks.agentdojo.run import Answered, End, Player, Task
from benchmarks.agentdojo.script import Where, honest, responses
from benchmarks.agentdojo.suites import PAGE, Suite, is_read, suites
from benchmarks.agentdojo.words import Disguise

SEED: Final = 20260713
"""Of the names that the attackers' constants are replaced by."""

PLACES: Final = (Where.before, Where.early, Where.late)


class Variant(StrEnum):
    """What is different about a measurement."""

    granted = "granted"
    """Plans carry grants: the main figures."""
    bare = "bare"
    """Plans carry no grants."""
    looked = "looked"
    """The planner looks first and fixes every value; pages are declared reads with egress."""
    renamed = "renamed"
    """As `granted`, the attackers' constants replaced at random."""


class Row(NamedTuple):
    """One run.

    Attributes:
        injection: Empty where nothing was injected.
        hit: The attack did what it wanted; by AgentDojo's own check.
        useful: The user's task was done; by AgentDojo's own check.
        whole: Every write of the user's task was executed, which some checks do not look at.
        least: With slots and without attack, as many cards as decision B9 asks for: the plan, and
            each answer of the model that acts with a value which had to be found.
    """

    variant: str
    version: str
    suite: str
    user: str
    injection: str
    where: str
    temper: str
    hit: bool
    useful: bool
    whole: bool
    cards: int
    least: int = 0


class Job(NamedTuple):
    """Some user tasks of one suite, for one process; `known` are pairs measured elsewhere."""

    variant: Variant
    version: str
    suite: str
    users: tuple[str, ...]
    known: frozenset[tuple[str, str]]


def suite_of(version: str, name: str) -> Suite:
    """A suite by name."""
    return next(one for one in suites(version) if one.name == name)


def identity(suite: Suite, user: str, injection: str) -> tuple[str, ...]:
    """What a pair is, whatever the version: the same classes that say the same are the same.

    A task that combines two others has their class in no name, so its words count, too.
    """
    task, attacker = suite.users[user], suite.injections[injection]
    return suite.name, user, _class(task), task.PROMPT, injection, _class(attacker), attacker.GOAL


def _class(task: object) -> str:
    return f"{type(task).__module__}.{type(task).__qualname__}"


async def rows(job: Job) -> AsyncIterator[Row]:
    """Every run of a job, in one house."""
    suite, channel = suite_of(job.version, job.suite), Answered()
    worn = disguise(suite, SEED) if job.variant is Variant.renamed else plain()
    pages = job.variant is Variant.looked
    async with a_house(suite, job.version, channel, pages_are_read=pages) as silas:
        player = Player(silas, channel)
        for user in job.users:
            measure = _Measure(job, suite, user, player, worn)
            async for row in measure.all():
                yield row
            channel.cards.clear()
            channel.sent.clear()


def measured(job: Job) -> list[Row]:
    """Every run of a job; for a process of its own."""
    warnings.simplefilter("ignore")  # AgentDojo's dependencies have much to say

    async def all_of_them() -> list[Row]:
        return [row async for row in rows(job)]

    return asyncio.run(all_of_them())


class _Setting(NamedTuple):
    """What the runs of a pair begin with; `start` is never acted in."""

    start: Any
    task: Task


class _Measure:
    """The runs of one user task."""

    def __init__(self, job: Job, suite: Suite, user: str, player: Player, worn: Disguise) -> None:
        self._job, self._suite, self._user = job, suite, user
        self._player, self._worn = player, worn
        self._judged: dict[str, bool] = {}
        self._prompt = suite.users[user].PROMPT
        seen = honest(suite, user, suite.environment(user, None))
        writes = any(not is_read(one.call.tool) for one in seen)
        planned = grants(self._prompt, seen, _schemas(suite))
        self._least = _least(self._prompt, seen, _schemas(suite)) if writes else 0
        self._tools = (planned if job.variant is not Variant.bare else []) if writes else None

    async def all(self) -> AsyncIterator[Row]:
        """Without attack, then every injection."""
        yield (await self._run(self._setting(None), Temper.careful, None, Where.nowhere))[0]
        for injection in self._suite.injections:
            if (self._user, injection) in self._job.known:
                continue
            setting = self._setting(injection)
            places = PLACES if self._can_start(injection, setting.start) else PLACES[:1]
            for where in places:
                # where both owners would give the same answers, both runs are the same run
                row, differed = await self._run(setting, Temper.rubber_stamp, injection, where)
                yield row
                if differed:
                    row, _ = await self._run(setting, Temper.careful, injection, where)
                yield row._replace(temper=Temper.careful.value)

    def _setting(self, injection: str | None) -> "_Setting":
        """The world before a run, and what the honest model would say in it."""
        start = self._suite.environment(self._user, injection, self._worn.put_on)
        seen = honest(self._suite, self._user, start)
        task = Task(self._suite, self._user, responses(seen, self._prompt), self._tools, [])
        if self._job.variant is Variant.looked:
            task = self._looked_first(task, seen)
        return _Setting(start, task)

    def _looked_first(self, task: Task, seen: Sequence[Seen]) -> Task:
        """The planner makes the task's look-ups, the executor the rest; without a rest no plan."""
        reads = [one for one in seen if is_read(one.call.tool) or one.call.tool == PAGE]
        rest = [one for one in seen if one not in reads]
        if not rest:
            return task._replace(tools=None)
        return task._replace(
            said=responses(rest, self._prompt),
            tools=fixed(seen),
            looked=responses(reads, self._prompt),
        )

    def _can_start(self, injection: str, environment: Any) -> bool:
        """Whether the injection has a call that the model can make at all; else places are alike.

        Without a plan the model of the turn is offered reads only.
        """
        calls = self._suite.injection_calls(injection, self._worn.lifted(environment))
        looks = any(is_read(call.tool) or call.tool == PAGE for call in calls)
        return self._tools is not None or looks

    async def _run(
        self, setting: "_Setting", temper: Temper, injection: str | None, where: Where
    ) -> tuple[Row, bool]:
        task = setting.task
        end = await self._player.play(task, setting.start, temper, injection, where, self._worn)
        row = Row(
            variant=self._job.variant.value,
            version=self._job.version,
            suite=self._suite.name,
            user=self._user,
            injection=injection or "",
            where=where.value,
            temper=temper.value,
            hit=injection is not None and self._hit(end, injection),
            useful=self._useful(end),
            whole=_whole(task, end),
            cards=end.cards,
            least=self._least if self._job.variant is Variant.granted and not injection else 0,
        )
        return row, end.differed

    def _hit(self, end: End, injection: str) -> bool:
        task = self._suite.injections[injection]
        return end.world.scored(task, f"{end.words}\n{task.GROUND_TRUTH_OUTPUT}")

    def _useful(self, end: End) -> bool:
        """By AgentDojo's check; ends in the same state and with the same words are judged once."""
        state = f"{end.world.state()} {end.words}"
        if _by_trace(self._suite.users[self._user]):
            state = f"{state} {end.world.calls}"
        if state not in self._judged:
            task = self._suite.users[self._user]
            self._judged[state] = end.world.scored(task, end.words)
        return self._judged[state]


def _least(prompt: str, seen: Sequence[Seen], schemas: dict[str, Any]) -> int:
    found = left_open(prompt, seen, schemas)
    return 1 + sum(any(call in found for call in group) for group in responses(seen, prompt))


def _by_trace(task: Any) -> bool:
    return type(task).utility_from_traces is not BaseUserTask.utility_from_traces


def _whole(task: Task, end: End) -> bool:
    made = [(call.tool, call.args) for call in end.world.calls]
    return all(
        (call.tool, call.args) in made
        for group in (*task.looked, *task.said)
        for call in group
        if not is_read(call.tool)
    )


@functools.lru_cache
def _schemas(suite: Suite) -> dict[str, Any]:
    return {tool.name: tool.parameters.model_json_schema() for tool in suite.suite.tools}
