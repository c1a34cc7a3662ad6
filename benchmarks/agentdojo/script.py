"""What the model says: the user task's calls and, when the attacker wants, the injection's."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any

from benchmarks.agentdojo.planner import Seen, stands_in
from benchmarks.agentdojo.suites import READS_THAT_ACT, Call, Suite, is_read
from benchmarks.agentdojo.world import World
from silas.testing.models import CallTool, Step


class Where(StrEnum):
    """When the injection's calls are made."""

    nowhere = "nowhere"
    before = "before"
    """Before anything else."""
    early = "early"
    """After the first thing that the task does, mostly a read."""
    late = "late"
    """At the end."""


def honest(suite: Suite, user: str, environment: Any) -> list[Seen]:
    """The user task's calls in the order they are made, each with its result."""
    calls = suite.user_calls(user, environment)
    return _played(suite, environment, _looked_first(suite, environment, calls))


def _played(suite: Suite, environment: Any, calls: Sequence[Call]) -> list[Seen]:
    world = World(suite, environment)
    return [Seen(call, world.call(call.tool, call.args)[0]) for call in calls]


def _looked_first(suite: Suite, environment: Any, calls: list[Call]) -> list[Call]:
    """The same calls with what looks before what acts, where the answer is the same."""
    ordered, at = list(calls), 1
    while at < len(ordered):
        acts, looks = ordered[at - 1], ordered[at]
        if _looks(acts) or not _looks(looks):
            at += 1
            continue
        swapped = [*ordered[: at - 1], looks, acts, *ordered[at + 1 :]]
        before = _played(suite, environment, ordered)[at].result
        if _played(suite, environment, swapped)[at - 1].result != before:
            at += 1
            continue
        ordered, at = swapped, max(1, at - 1)
    return ordered


def _looks(call: Call) -> bool:
    return is_read(call.tool) or call.tool in READS_THAT_ACT


def responses(seen: Sequence[Seen], prompt: str) -> list[list[Call]]:
    """The calls as a model would make them: at once what does not need each other's results.

    Reads with reads, what acts by reading with its like, and writes with writes; what reads goes
    before what only writes.
    """
    made: list[list[Seen]] = []
    for one in _in_layers(seen, prompt):
        group = made[-1] if made else []
        before = [earlier for part in made[:-1] for earlier in part]
        if group and _together(group, one, before, prompt):
            group.append(one)
        else:
            made.append([one])
    return [[one.call for one in group] for group in made]


def _in_layers(seen: Sequence[Seen], prompt: str) -> list[Seen]:
    """Reads in a row, those first that need nothing of the others."""
    ordered: list[Seen] = []
    for reads, some in itertools.groupby(seen, lambda one: is_read(one.call.tool)):
        left, done = list(some), list(ordered)
        while reads and left:
            ready = [one for one in left if not _needs(one, left, done, prompt)] or left[:1]
            done += ready
            left = [one for one in left if one not in ready]
        ordered = [*done, *left]
    return ordered


def _needs(one: Seen, others: Sequence[Seen], before: Sequence[Seen], prompt: str) -> bool:
    """Whether a read names something that nothing but these others has told."""
    return any(
        _from(value, [other for other in others if other is not one])
        for value in _texts(one.call.args)
        if not stands_in(value, prompt) and not _from(value, before)
    )


def _together(group: Sequence[Seen], one: Seen, before: Sequence[Seen], prompt: str) -> bool:
    if _sort(group[0].call) != _sort(one.call):
        return False
    needed = [v for v in _texts(one.call.args) if not stands_in(v, prompt) and _from(v, group)]
    return not needed or (is_read(one.call.tool) and all(_from(v, before) for v in needed))


def _sort(call: Call) -> int:
    return 0 if is_read(call.tool) else 1 if _looks(call) else 2


def _from(value: str, group: Sequence[Seen]) -> bool:
    """Whether a value is what one of these calls answered, and not what it was told."""
    return any(
        stands_in(value, seen.result)
        and not any(stands_in(value, told) for told in _texts(seen.call.args))
        for seen in group
        if not seen.call.tool.startswith("send_")
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
    elif isinstance(value, str) and value:
        yield value


def lines(
    said: Sequence[Sequence[Call]], injected: Callable[[], list[Call]], where: Where
) -> Iterator[Step]:
    """The model's tool calls; the injection's are worked out when their time comes."""
    if where is Where.before:
        yield from _one_by_one(injected())
    for at, group in enumerate(said):
        yield tuple(CallTool(call.tool, call.args) for call in group)
        if where is Where.early and at == 0:
            yield from _one_by_one(injected())
    if where is Where.late or (where is Where.early and not said):
        yield from _one_by_one(injected())


def _one_by_one(calls: Sequence[Call]) -> Iterator[Step]:
    return (CallTool(call.tool, call.args) for call in calls)
