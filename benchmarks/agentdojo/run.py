"""One run: a user task, perhaps with an injection, through the whole product."""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from benchmarks.agentdojo.constants import plain
from benchmarks.agentdojo.owner import Owner, Temper, digest_of
from benchmarks.agentdojo.planner import markdown
from benchmarks.agentdojo.script import Where, lines
from benchmarks.agentdojo.stage import STAGE
from benchmarks.agentdojo.suites import PAGE, Call, Suite, is_read
from benchmarks.agentdojo.words import Disguise
from benchmarks.agentdojo.world import World
from silas import Silas
from silas.agents import AgentResponse, PlanAction, PlanActionType, RouteDecision
from silas.agents.models import ExecutorAgentOutput
from silas.audit.witnessed_log import WitnessedAuditLog
from silas.cards import Card
from silas.testing import ScriptedChannel
from silas.testing.models import CallTool, Step
from silas.types import InteractionMode, InteractionRegister

Reply = TypeVar("Reply")

_NUMBERS = itertools.count(1)


class Task(NamedTuple):
    """A user task as it is played: its calls by response, and the plan's grants.

    `tools` is None where the task writes nothing, so that it needs no plan. `looked` is what the
    planner reads before it proposes one.
    """

    suite: Suite
    user: str
    said: list[list[Call]]
    tools: list[dict[str, Any]] | None
    looked: list[list[Call]]


class End(NamedTuple):
    """How a run ended.

    Attributes:
        world: With what was called.
        cards: Shown to the owner.
        differed: Whether the two owners would have answered a card differently.
        words: The last words of the model.
    """

    world: World
    cards: int
    differed: bool
    words: str


class Player:
    """Plays runs in one Silas, one after the other."""

    def __init__(self, silas: Silas, channel: "Answered") -> None:
        self._silas = silas
        self._channel = channel
        self._read = 0

    async def play(
        self,
        task: Task,
        environment: Any,
        temper: Temper,
        injection: str | None = None,
        where: Where = Where.nowhere,
        disguise: Disguise | None = None,
    ) -> End:
        """Ask, answer the cards, wait for the work, and check the record.

        Raises:
            AssertionError: A write was executed without an approval or without a record of it.
        """
        world, worn = World(task.suite, environment), disguise or plain()
        prompt, words = task.suite.users[task.user].PROMPT, _output(task)
        spoken: list[str] = []
        plan_id = f"task-dojo-{next(_NUMBERS)}"
        made = (*task.looked, *task.said)
        implied = [call for group in made for call in group if not is_read(call.tool)]
        owner = Owner(temper, plan_id, implied)

        def injected() -> list[Call]:
            if injection is None:
                return []
            calls = task.suite.injection_calls(injection, worn.lifted(world.now))
            return [Call(call.tool, worn.put_on(call.args)) for call in calls]

        acted = lines(task.said, injected, where)
        if task.tools is None:
            STAGE.play(world, proxy=_answered(acted, words, spoken))
        else:
            plan = markdown(plan_id, prompt, task.tools)
            end = _summed_up(words, spoken)
            STAGE.play(
                world,
                proxy=iter([_route("planner")]),
                planner=itertools.chain(_looks(task.looked), [_proposal(plan)]),
                executor=itertools.chain(acted, end),
            )
        self._channel.owner = owner
        await self._silas.ask(prompt)
        await self._silas.wait_for_work()
        await self._check(world, plan_id)
        return End(world.lifted(worn), owner.cards, owner.differed, "".join(spoken))

    async def _check(self, world: World, plan_id: str) -> None:
        """Every write that happened was approved before, and stands in the record."""
        record = self._silas.audit
        assert isinstance(record, WitnessedAuditLog)
        entries = await record.entries(self._read, 10_000)
        self._read = entries[-1].seq if entries else self._read
        events = [json.loads(entry.body) for entry in entries]
        for call in world.calls:
            if is_read(call.tool):
                continue
            about = [e["event"] for e in events if e["data"].get("digest") == digest_of(call)]
            assert _in_order(about, free=call.tool == PAGE), f"{call.tool}: {about}"
        used = [event for event in events if event["event"] == "approval.used"]
        assert used or all(is_read(call.tool) or call.tool == PAGE for call in world.calls)


def _looks(looked: Sequence[Sequence[Call]]) -> Iterator[Step]:
    return (tuple(CallTool(call.tool, call.args) for call in group) for group in looked)


def _in_order(about: Sequence[str], *, free: bool) -> bool:
    """Approved, attempted, succeeded; where a page may be looked at freely, allowed is enough."""
    wanted = iter("gate.approved" if free and one == "gate.allowed" else one for one in about)
    return all(
        one in wanted for one in ("gate.approved", "tool_call.attempted", "tool_call.succeeded")
    )


def _output(task: Task) -> str:
    return task.suite.users[task.user].GROUND_TRUTH_OUTPUT


def _answered(acted: Iterator[Step], words: str, spoken: list[str]) -> Iterator[Step]:
    yield from acted
    spoken.append(words)
    yield _route("direct", AgentResponse(message=words or "Done."))


def _summed_up(words: str, spoken: list[str]) -> Iterator[Step]:
    spoken.append(words)
    yield ExecutorAgentOutput(summary=words or "Done.")


def _route(route: Any, response: AgentResponse | None = None) -> RouteDecision:
    return RouteDecision(
        route=route,
        reason="as scripted",
        response=response,
        interaction_register=InteractionRegister.execution,
        interaction_mode=InteractionMode.confirm_only_when_required,
        context_profile="conversation",
    )


def _proposal(plan: str) -> AgentResponse:
    action = PlanAction(action=PlanActionType.propose, plan_markdown=plan)
    return AgentResponse(message="This is what I would do.", plan_action=action)


class Answered(ScriptedChannel):
    """A channel that somebody else answers in every run."""

    owner: Owner

    async def ask(self, to: str, card: Card[Reply]) -> Reply:
        """What the owner of this run says."""
        del to
        self.cards.append(card)
        return self.owner.answer(card)
