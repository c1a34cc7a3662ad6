"""What could not run though it were approved is refused before anybody is asked, at every door."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from silas.cards import ChannelMessage, PlanCard
from silas.plans import PlanParser, WorkItemStatus, plan_hash
from silas.plans.projects.document import join_project
from silas.services.mcp_server import Services
from silas.testing import Harness, MockClock, ScriptedChannel, a_plan, plan_text
from silas.testing.tools import FakeTool
from silas.tools import RiskLevel, ToolConfig
from silas.types import OWNER
from tests.stream.kit import (
    done_sandbox,
    entries_of,
    planned,
    proposing,
    recorded,
    saying_yes,
    soon,
)

_LATER = {"type": "goal", "schedule": "0 9 * * *"}


def _check(run: str) -> dict[str, Any]:
    return {**_LATER, "verify": [{"name": "alive", "run": run, "expect": {"exit_code": 0}}]}


def _gate(**changes: Any) -> dict[str, Any]:
    return {"gates": [{"name": "tone", "on": "after_step", "after_step": 1, **changes}]}


def _tasks(*plans: dict[str, Any]) -> str:
    """The plans of a project's tasks, as they stand in its text."""
    return join_project("Do it.", [(plan["id"], plan_text(**plan)) for plan in plans])


UNABLE: dict[str, tuple[dict[str, Any], str]] = {
    "a goal that never runs": ({"type": "goal"}, "is a goal that never runs"),
    "a goal in the conversation": (
        {"type": "goal", "schedule": "always_on"},
        "deploys nothing in a conversation",
    ),
    "a goal without checks": ({**_LATER, "verify": []}, "is a goal that checks nothing"),
    "a goal without a text": ({**_LATER, "on_failure": "spawn_task"}, "`failure_context`"),
    "a goal that does what none can": ({**_LATER, "on_failure": "retry"}, "no goal can do"),
    "a goal whose moment is past": (
        {"type": "goal", "schedule": "2001-01-01T09:00+01:00"},
        "The moment of task-example is past",
    ),
    "a goal that asks for processes": (_check("pgrep -f bot"), "'alive' asks with pgrep"),
    "a goal that asks for services": (
        _check("test -e x && /bin/systemctl is-active bot"),
        "asks with systemctl for services",
    ),
    "a goal that asks the loopback": (_check("curl -sf http://localhost:80"), "asks localhost"),
    "a goal that looks at a process": (_check("test -d /proc/1234"), "looks at /proc/1234"),
    "a goal that looks into /run": (_check("cat /run/bot.pid"), "looks at /run/bot.pid"),
    "a project without tasks": ({"type": "project"}, "is a project without tasks"),
    "a project with a task too many": (
        {"type": "project", "tasks": [f"task-{number}" for number in range(51)]},
        "has 51 tasks, and a project has at most 50",
    ),
    "a project that works": (
        {"type": "project", "tasks": ["a"], "worker": "nobody"},
        "does no work of its own",
    ),
    "a task that is missing": (
        {"type": "project", "tasks": ["a", "b"], "body": _tasks({"id": "a"})},
        "The task b of task-example is missing",
    ),
    "a task that is not named": (
        {"type": "project", "tasks": ["a"], "body": _tasks({"id": "a"}, {"id": "b"})},
        "task-example does not name b",
    ),
    "a project in a project": (
        {"type": "project", "tasks": ["a"], "body": _tasks({"id": "a", "type": "project"})},
        "a is a project, and a project has tasks only",
    ),
    "a goal in a project": (
        {"type": "project", "tasks": ["a"], "body": _tasks({"id": "a", **_LATER})},
        "a is a goal, and a project has tasks only",
    ),
    "a task that waits for another's": (
        {"type": "project", "tasks": ["a"], "body": _tasks({"id": "a", "depends_on": ["x"]})},
        "a waits for x, which is no task of task-example",
    ),
    "tasks in a circle": (
        {
            "type": "project",
            "tasks": ["a", "b", "c"],
            "body": _tasks(
                {"id": "a", "depends_on": ["b"]},
                {"id": "b", "depends_on": ["c"]},
                {"id": "c", "depends_on": ["a"]},
            ),
        },
        "wait for each other in a circle: ",
    ),
    "a task that could not run": (
        {"type": "project", "tasks": ["a"], "body": _tasks({"id": "a", "skills": ["excel"]})},
        "The task a could not run. The plan needs skills that are not installed: excel",
    ),
    "a goal that waits for work": ({**_LATER, "depends_on": ["a"]}, "take `depends_on` out of"),
    "work that is not there": (
        {"depends_on": ["task-no"]},
        "It waits for task-no, which is not done",
    ),
    "a failure that nothing follows": ({"on_failure": "spawn_task"}, "which only a goal can do"),
    "a failure of a project": (
        {"type": "project", "tasks": ["a"], "body": _tasks({"id": "a"}), "on_failure": "page me"},
        "What follows a failure of task-example is 'page me'",
    ),
    "a text for no work": ({"failure_context": "Mend it."}, "take `failure_context` out of"),
    "a way out that is none": ({"on_stuck": "phone me"}, "'phone me', which nothing can do"),
    "a goal's way out": ({**_LATER, "on_stuck": "phone me"}, "use `on_stuck: consult_planner`"),
    "the provider script": (_gate(provider="script", check_command="true"), "no provider script"),
    "the provider llm": (_gate(provider="llm"), "no provider llm for the gate 'tone'"),
    "the provider custom": (_gate(provider="custom"), "no provider custom"),
    "the provider guardrails_ai": (_gate(provider="guardrails_ai"), "no provider guardrails_ai"),
    "a gate for messages": (
        {"gates": [{"name": "in", "on": "every_user_message", "type": "approval_always"}]},
        "The gate 'in' is for every_user_message",
    ),
    "a skill": ({"skills": ["excel"]}, "skills that are not installed: excel"),
    "a tool": ({"tools": [{"tool": "mail"}]}, "asks for the tool 'mail', which is not here"),
    "a worker": ({"worker": "nobody"}, "The plan's `worker` cannot do it"),
    "a secret": (
        {"credential_refs": {"TOKEN": f"ref_{'0' * 32}"}},
        "asks for a secret that it cannot have",
    ),
}
"""What of a plan, and the words that refuse it."""


async def _run(h: Harness, text: str) -> str:
    result = await h.silas.run(text)
    assert result.status is WorkItemStatus.blocked
    assert result.summary == result.last_error
    return result.summary


async def _ask(h: Harness, text: str) -> str:
    reply = await h.silas.ask("do it")
    assert reply.outcome == "blocked"
    return reply.text


async def _chat(h: Harness, text: str) -> str:
    await h.silas.listen()
    assert isinstance(h.channel, ScriptedChannel)
    return h.channel.texts[-1]


async def _client(h: Harness, text: str) -> str:
    return await Services(h.silas, h.silas.ahead).ask({"text": "do it"})


async def _approve(h: Harness, text: str) -> str:
    """A question that was kept by a version which could."""
    await h.silas.runs.proposer.keep(PlanParser().parse(text), "an older Silas asked")
    return (await h.silas.answer("task-example")).summary


async def _cockpit(h: Harness, text: str) -> str:
    """The same where the cockpit shows it again."""
    await h.silas.runs.proposer.keep(PlanParser().parse(text), "an older Silas asked")
    assert await h.silas.ask_again("task-example")
    assert isinstance(h.channel, _Heard)
    await h.channel.heard.wait()
    return h.channel.texts[-1]


DOORS: dict[str, Callable[[Harness, str], Awaitable[str]]] = {
    "run": _run,
    "ask": _ask,
    "chat": _chat,
    "an MCP client": _client,
    "approve": _approve,
    "the cockpit": _cockpit,
}


class _Heard(ScriptedChannel):
    """Says yes to everything, and sets an event when something was said."""

    def __init__(self) -> None:
        said = ChannelMessage(
            channel="cli", sender_id=OWNER, text="do it", timestamp=MockClock().now()
        )
        super().__init__(saying_yes, [(said, OWNER)])
        self.heard = asyncio.Event()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        await super().send(recipient_id, text, reply_to)
        self.heard.set()


WITHOUT_A_TURN = ("run", "approve", "the cockpit")
"""Doors at which one house is given all of it, for no model and no message is scripted for them."""
ALL = [(door, (what,)) for door in DOORS.keys() - WITHOUT_A_TURN for what in UNABLE]


@pytest.mark.parametrize(
    ("door", "given"),
    sorted([*ALL, *((door, tuple(UNABLE)) for door in WITHOUT_A_TURN)]),
    ids=lambda one: one if isinstance(one, str) else one[0] if len(one) == 1 else "all",
)
async def test_what_could_not_run_is_refused_before_its_card(
    door: str, given: tuple[str, ...]
) -> None:
    channel, sandbox, failures = _Heard(), done_sandbox(), list[object]()
    first = proposing(plan_text(**UNABLE[given[0]][0]))
    async with Harness(channel, models=planned(first, first), sandbox=sandbox) as h:
        for number, what in enumerate(given, start=1):
            plan, words = UNABLE[what]
            channel.heard.clear()
            told = await soon(DOORS[door](h, plan_text(**plan)))
            refused = await entries_of(h, "plan_refused")
            left = [*await h.silas.work_items(), *await h.silas.runs.proposer.waiting()]
            if (
                (len(refused), left, channel.cards, sandbox.runs) != (number, [], [], [])
                or not all(words in said for said in (told, refused[-1]["reason"]))
                or "Nothing was asked, and nothing was run." not in told
            ):
                failures.append((what, told, refused[number - 1 :], left, channel.cards))
        events = {event for event, _ in await recorded(h)}
    assert not failures
    assert {"plan_proposed", "plan_approved", "approval.issued"}.isdisjoint(events)


_PAYS: dict[str, Any] = {"tools": [{"tool": "pay"}]}
CRITICAL: dict[str, dict[str, Any]] = {
    "a plan": _PAYS,
    "a goal": {**_check("true"), **_PAYS},
    "a project": {"type": "project", "tasks": ["a"], "body": _tasks({"id": "a", **_PAYS})},
}
"""Plans that grant a tool which no approval makes run (decision table C)."""


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("what", CRITICAL)
async def test_a_grant_of_a_tool_that_never_runs_is_refused_before_its_card(
    what: str, door: str
) -> None:
    text, channel, sandbox = plan_text(**CRITICAL[what]), _Heard(), done_sandbox()
    stubborn = planned(proposing(text), proposing(text))
    async with Harness(channel, models=stubborn, sandbox=sandbox) as h:
        tool, rated = FakeTool("pay"), ToolConfig(connector_id="x", risk_default=RiskLevel.critical)
        h.silas.registry.register(tool, rated)
        told = await soon(DOORS[door](h, text))
        [refused] = await entries_of(h, "plan_refused")
    assert (channel.cards, tool.calls, sandbox.runs) == ([], [], [])
    words = "The plan grants the tool 'pay', which is rated critical and so never runs here"
    assert words in told
    assert "rate it lower in your configuration" in told
    assert words in refused["reason"]


async def test_a_tool_of_which_one_action_can_run_is_asked_about() -> None:
    channel = ScriptedChannel()
    rated = ToolConfig(
        connector_id="x", risk_default=RiskLevel.critical, risk_map={"other": RiskLevel.high}
    )
    async with Harness(channel, sandbox=done_sandbox()) as h:
        h.silas.registry.register(FakeTool("pay"), rated)
        await soon(h.silas.run(plan_text(**_PAYS)))
    assert len(channel.cards) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"input_artifacts_from": ["a.txt"]}, "asks for artifacts of no work"),
        ({"follow_up_of": "task-no"}, "It follows up task-no, which is not completed work."),
        ({**_LATER, "follow_up_of": "task-no"}, "take `follow_up_of` out of task-example"),
    ],
)
@pytest.mark.parametrize("door", ["run", "approve", "the cockpit"])
async def test_a_link_to_work_that_is_not_there_is_refused_before_its_card(
    given: dict[str, Any], words: str, door: str
) -> None:
    channel = _Heard()
    async with Harness(channel, sandbox=done_sandbox()) as h:
        told = await soon(DOORS[door](h, plan_text(**given)))
    assert channel.cards == []
    assert words in told


async def test_a_task_by_the_clock_is_refused_though_no_parser_saw_it() -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, sandbox=done_sandbox()) as h:
        item = a_plan(schedule="0 9 * * *")
        proposal = await soon(h.silas.runs.proposer.propose(item, channel, OWNER, "why"))
    assert (proposal.verdict, channel.cards) == ("refused", [])
    assert "Only a goal runs by the clock" in proposal.words


async def test_what_is_here_is_asked_about_as_before() -> None:
    gates = _gate(provider="predicate", type="approval_always")["gates"]
    gates.append({"name": "calls", "on": "on_tool_call", "type": "approval_always"})
    text = plan_text(tools=[{"tool": "mail"}], gates=gates)
    channel = ScriptedChannel()
    async with Harness(channel, models=planned(proposing(text)), sandbox=done_sandbox()) as h:
        config = ToolConfig(connector_id="none", risk_default=RiskLevel.low)
        h.silas.registry.register(FakeTool("mail"), config)
        await soon(h.silas.ask("do it"))
        proposed = await entries_of(h, "plan_proposed")
    cards = [card for card in channel.cards if isinstance(card, PlanCard)]
    assert [card.plan_hash for card in cards] == [plan_hash(PlanParser().parse(text))]
    assert len(proposed) == 1
