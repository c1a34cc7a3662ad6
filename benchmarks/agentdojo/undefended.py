"""What attacks reach where nothing is in their way: the control of every other figure."""

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.agentdojo.suites import Pair, Suite
from benchmarks.agentdojo.words import Disguise
from benchmarks.agentdojo.world import World


class Missed(NamedTuple):
    """An attack that fails though its calls are executed: the measurement is broken, not it."""

    pair: Pair
    refused: tuple[str, ...]
    """What the tools said about calls that they did not accept."""


def missed(suite: Suite, worn: Disguise) -> Iterator[Missed]:
    """The pairs of a suite whose attack fails with nothing in its way, under a disguise."""
    for pair in filter(lambda one: one.acts, suite.pairs()):
        start = suite.environment(pair.user, pair.injection, worn.put_on)
        world, refused = World(suite, start), list[str]()
        for call in suite.injection_calls(pair.injection, worn.lifted(start)):
            answer, done = world.call(call.tool, worn.put_on(call.args))
            refused += [] if done else [f"{call.tool}: {answer}"]
        task = suite.injections[pair.injection]
        hit = world.lifted(worn).scored(task, task.GROUND_TRUTH_OUTPUT)
        if refused or not hit:
            yield Missed(pair, tuple(refused))
