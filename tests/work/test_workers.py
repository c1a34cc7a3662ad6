"""Workers at work: their own tools, rules and questions, whom they may ask, and what ends them."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import pytest

from silas.agents import ExecutorAgentOutput
from silas.audit import AuditLog
from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.plans import WorkItemResult, WorkItemStatus
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.models import Step
from silas.testing.tools import SandboxRun, exit_result
from silas.tools import RunApprovalMode, RunApprovalPolicy
from tests.support.waits import SECONDS

T = TypeVar("T")

DONE = ExecutorAgentOutput(summary="worked")
LS = CallTool("shell_exec", {"argv": ["ls"]})
Answers = Callable[[Card[Any]], Any]


def sh(*argv: str) -> CallTool:
    return CallTool("shell_exec", {"argv": list(argv)})


def delegate(worker: str, task: str = "Look.") -> CallTool:
    return CallTool("delegate", {"worker": worker, "task": task})


async def soon(what: Awaitable[T]) -> T:
    async with asyncio.timeout(SECONDS):
        return await what


def worker_file(name: str, *lines: str, tools: str = "{ shell: }", body: str = "Do it.") -> str:
    """A worker on the scripted model of its own name."""
    head = (f"name: {name}", f"description: The {name}.", f"model: python:harness:{name}")
    return "\n".join(("---", *head, f"toolsets: {tools}", *lines, "---", body, ""))


def plan(worker: str | None = "lead", **front: Any) -> str:
    return plan_text(**{"verify": None, "body": "# Do\n\nLook around.", "worker": worker, **front})


def owner(*answers: str) -> Answers:
    """Approves every plan, and answers the questions about single calls in turn, then declines."""
    left = list(answers)

    def answer(card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return PlanAnswer(verdict="approved")
        return left.pop(0) if isinstance(card, ToolCallCard) and left else card.safe

    return answer


class House:
    """A wired Silas with workers, and what they were told and did."""

    def __init__(self, harness: Harness, files: Path, models: Mapping[str, ScriptedModel]) -> None:
        self.h = harness
        self.files = files
        self.models = models

    async def run(self, text: str | None = None, mode: str = "prompt") -> WorkItemResult:
        policy = RunApprovalPolicy(mode=RunApprovalMode(mode))
        return await soon(self.h.silas.run(text or plan(), policy=policy))

    def cards(self) -> list[ToolCallCard]:
        channel = self.h.channel
        assert isinstance(channel, ScriptedChannel)
        return [card for card in channel.cards if isinstance(card, ToolCallCard)]

    async def events(self, *families: str) -> list[tuple[str, dict[str, Any]]]:
        assert isinstance(self.h.audit, AuditLog)
        bodies = [json.loads(one.body) for one in await self.h.audit.entries(limit=1000)]
        return [(b["event"], b["data"]) for b in bodies if b["event"].split(".")[0] in families]

    def offered(self, name: str) -> list[set[str]]:
        asked = self.models[name].requests
        return [{tool.name for tool in one.parameters.function_tools} for one in asked]


@asynccontextmanager
async def house(
    tmp_path: Path,
    files: Mapping[str, str],
    scripts: Mapping[str, Sequence[Step]],
    answers: Answers | None = None,
    *,
    sandbox: FakeSandbox | None = None,
    tokens: tuple[int, int] = (0, 0),
    limits: Mapping[str, int] | None = None,
    **settings: Any,
) -> AsyncGenerator[House]:
    """Workers with their files, each model with its script."""
    folder = tmp_path / "workers"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.worker").write_text(text, encoding="utf-8")
    models = {name: ScriptedModel(steps, tokens=tokens) for name, steps in scripts.items()}
    settings["workers_dir"] = str(folder)
    if limits:
        settings["limits"] = dict(limits)
    async with Harness(
        ScriptedChannel(answers or owner()),
        models=models,
        settings=settings,
        sandbox=sandbox or FakeSandbox(lambda run: exit_result(0, "done")),
    ) as harness:
        yield House(harness, folder, models)


@pytest.mark.proves("B1-WORKER")
async def test_a_plan_is_carried_out_by_the_worker_it_names_with_that_workers_tools_alone(
    tmp_path: Path,
) -> None:
    files = {"lead": worker_file("lead", body="You are lead. Be brief.")}
    async with house(tmp_path, files, {"lead": [LS, DONE], "executor": []}) as at:
        result = await at.run()
        assert result.status is WorkItemStatus.done
        assert at.offered("lead") == [{"shell_exec"}] * 2
        first = at.models["lead"].requests[0]
        assert "You are lead. Be brief." in str(first.parameters) + str(first.messages)
        assert at.models["executor"].requests == []
        calls = await at.events("tool_call")
        assert [data["worker"] for _, data in calls] == ["lead", "lead"]


async def test_without_a_worker_the_executor_works_and_is_not_offered_delegation(
    tmp_path: Path,
) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    script = [delegate("helper"), LS, DONE]
    async with house(tmp_path, files, {"executor": script, "helper": []}) as at:
        result = await at.run(plan(worker=None))
        assert result.status is WorkItemStatus.done
        assert not any("delegate" in tools for tools in at.offered("executor"))
        assert at.models["helper"].requests == []


async def test_a_worker_without_a_model_of_its_own_runs_on_the_executors(tmp_path: Path) -> None:
    text = worker_file("lead").replace("model: python:harness:lead\n", "")
    async with house(tmp_path, {"lead": text}, {"executor": [LS, DONE]}) as at:
        assert (await at.run()).status is WorkItemStatus.done
        assert at.offered("executor") == [{"shell_exec"}] * 2


FREE = "{ shell: { default: { approval_required: false } } }"
NOTHING = "{ shell: { rules: [] } }"


@pytest.mark.proves("WP-NO-INHERITANCE", "WP-SHALLOW-WRAPPING")
@pytest.mark.parametrize(("lead", "helper"), [(FREE, NOTHING), (NOTHING, FREE)])
async def test_a_worker_that_is_asked_has_its_own_rules_and_not_its_callers(
    tmp_path: Path, lead: str, helper: str
) -> None:
    files = {
        "lead": worker_file("lead", "delegates: [helper]", tools=lead),
        "helper": worker_file("helper", tools=helper),
    }
    scripts = {"lead": [LS, delegate("helper"), LS, DONE], "helper": [LS, DONE]}
    async with house(tmp_path, files, scripts) as at:
        await at.run()
        calls = [
            (data["worker"], event)
            for event, data in await at.events("tool_call", "gate")
            if data["tool"] == "shell_exec" and event != "tool_call.attempted"
        ]
    free, held = ("lead", "helper") if lead == FREE else ("helper", "lead")
    ran, refused = (
        [(free, "gate.approved"), (free, "tool_call.succeeded")],
        [(held, "gate.denied")],
    )
    expected = ran + refused + ran if free == "lead" else refused + ran + refused
    assert calls == expected


@pytest.mark.proves("WP-BY-TOOL-NAME")
@pytest.mark.parametrize(
    ("setting", "answers", "cards", "works"),
    [
        ("{ approval_required: false }", (), 0, True),
        ("{ approval_required: true }", ("approve",), 1, True),
        ("{ approval_required: true }", ("decline",), 1, False),
        ("{ blocked: true }", ("approve",), 0, False),
    ],
)
async def test_delegation_is_a_call_by_name_in_the_callers_policy(
    tmp_path: Path, setting: str, answers: tuple[str, ...], cards: int, works: bool
) -> None:
    files = {
        "lead": worker_file("lead", "delegates: [helper]", f"approval: {{ delegate: {setting} }}"),
        "helper": worker_file("helper"),
    }
    scripts = {"lead": [delegate("helper"), LS, DONE], "helper": [LS, DONE]}
    async with house(tmp_path, files, scripts, owner(*answers)) as at:
        await at.run()
        asked = [(card.tool_name, card.asked_by) for card in at.cards()]
        assert asked == [("delegate", "lead")] * cards
        assert bool(at.models["helper"].requests) is works


async def test_a_worker_delegates_only_to_whom_its_file_names(tmp_path: Path) -> None:
    files = {
        "lead": worker_file("lead", "delegates: [helper]"),
        "helper": worker_file("helper"),
        "other": worker_file("other"),
    }
    scripts = {"lead": [delegate("other"), LS, DONE], "helper": [], "other": []}
    async with house(tmp_path, files, scripts) as at:
        await at.run()
        assert at.models["other"].requests == []
        assert "may not delegate to 'other'" in at.models["lead"].requests[1].text


async def test_what_a_worker_is_told_and_what_it_reports_is_all_that_passes_between_them(
    tmp_path: Path,
) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    report = ExecutorAgentOutput(summary="All is well.", next_steps=["Rest."])
    scripts = {"lead": [delegate("helper", "Count the lamps."), LS, DONE], "helper": [LS, report]}
    async with house(tmp_path, files, scripts) as at:
        await at.run()
        told = at.models["helper"].requests[0].text
        assert "Count the lamps." in told
        assert "Look around." not in told
        answer = at.models["lead"].requests[1].text
        assert "All is well." in answer
        assert "Rest." in answer
        [taint] = [
            data["taint"]
            for event, data in await at.events("tool_call")
            if event == "tool_call.succeeded" and data["tool"] == "delegate"
        ]
        assert taint == "external"


@pytest.mark.proves("WP-CYCLES-BOUNDED")
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
async def test_workers_may_call_each_other_in_circles_up_to_the_depth_limit(
    tmp_path: Path, depth: int
) -> None:
    files = {
        "lead": worker_file("lead", "delegates: [helper]"),
        "helper": worker_file("helper", "delegates: [lead]"),
    }
    circle = [("lead", 0), ("helper", 1), ("lead", 2), ("helper", 3)][: depth + 1]
    scripts: dict[str, list[Step]] = {"lead": [], "helper": []}
    for (caller, _), (asked, _) in pairwise(circle):
        scripts[caller].append(delegate(asked))
    scripts[circle[-1][0]] += [delegate("lead"), LS]  # not offered: the model is told so
    for name, _ in reversed(circle):
        scripts[name].append(DONE)
    async with house(tmp_path, files, scripts, limits={"max_delegation_depth": depth}) as at:
        result = await at.run()
        began = [(data["worker"], data["depth"]) for _, data in await at.events("worker_started")]
        assert (result.status, began) == (WorkItemStatus.done, circle)
        offered = at.offered(circle[-1][0])[depth // 2]
        assert "delegate" not in offered


async def test_a_worker_may_call_itself_and_the_depth_limit_ends_it(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [lead]")}
    script = [delegate("lead")] * 3 + [LS, DONE] * 4
    async with house(tmp_path, files, {"lead": script}) as at:
        result = await at.run()
        assert result.status is WorkItemStatus.done
        began = [data["depth"] for _, data in await at.events("worker_started")]
        assert began == [0, 1, 2, 3]


@pytest.mark.proves("WP-NO-INHERITANCE")
async def test_the_card_of_a_call_names_the_worker_that_asks(tmp_path: Path) -> None:
    asks = "{ shell: { default: { approval_required: true } } }"
    files = {
        "lead": worker_file("lead", "delegates: [helper]", tools=asks),
        "helper": worker_file("helper", tools=asks),
    }
    scripts = {"lead": [LS, delegate("helper"), LS, DONE], "helper": [LS, DONE]}
    answers = owner("approve", "approve", "decline")
    async with house(tmp_path, files, scripts, answers) as at:
        await at.run()
        cards = at.cards()
        assert [card.asked_by for card in cards] == ["lead", "helper", "lead"]
        assert "The worker helper" in cards[1].rationale
        # a yes to one worker is none to another, though the call is the same
        ran = [
            data["worker"] for e, data in await at.events("tool_call") if e.endswith("attempted")
        ]
        assert ran == ["lead", "lead", "helper"]
        assert len({card.call_digest for card in cards}) == 1


LINES = [
    sh("rm", "-rf", "x"),
    sh("/bin/rm", "x"),
    sh("rm -rf x"),
    sh("ls", "|", "sh"),
    sh("ls | sh"),
    sh("sh", "-c", "rm -rf x"),
    sh("sh", "-c", "ls | rm"),
    sh("env", "A=1", "rm", "x"),
    sh("xargs", "rm"),
    sh("find", ".", "-exec", "rm", "{}", ";"),
    sh("timeout", "5", "nice", "rm", "x"),
    sh("busybox", "rm", "x"),
    sh("python3", "-c", "import os; os.system('rm x')"),
]


@pytest.mark.proves("WP-BLOCKED-WINS")
@pytest.mark.parametrize("mode", ["prompt", "approve_all"])
async def test_what_the_shells_rules_block_does_not_run_pre_approved_or_not(
    tmp_path: Path, mode: str
) -> None:
    rules = '{ rules: [{ pattern: "rm *", blocked: true }], default: { approval_required: false }'
    tools = f"{{ shell: {rules}, _approval_config: {{ pre_approved: true }} }} }}"
    files = {
        "lead": worker_file("lead", "approval: { shell_exec: { pre_approved: true } }", tools=tools)
    }
    runs: list[SandboxRun] = []

    def ran(run: SandboxRun) -> Any:
        runs.append(run)
        return exit_result(0, "done")

    scripts = {"lead": [*LINES, LS, DONE]}
    answers = owner(*["approve"] * len(LINES))
    async with house(tmp_path, files, scripts, answers, sandbox=FakeSandbox(ran)) as at:
        result = await at.run(mode=mode)
        assert result.status is WorkItemStatus.done
        denied = [data["source"] for e, data in await at.events("gate") if e == "gate.denied"]
        assert denied == ["worker policy"] * len(LINES)
        assert at.cards() == []
    assert [run.argv for run in runs] == [("ls",)]


async def test_a_worker_that_is_not_there_is_refused_before_anybody_is_asked(
    tmp_path: Path,
) -> None:
    files = {"broken": "---\n"}
    async with house(tmp_path, files, {"executor": []}) as at:
        for name in ("nobody", "broken"):
            result = await at.run(plan(name, id=f"task-{name}"))
            assert result.status is WorkItemStatus.blocked
            assert "silas workers list" in result.summary or "broken.worker" in result.summary
        channel = at.h.channel
        assert isinstance(channel, ScriptedChannel)
        assert channel.cards == []


async def test_a_worker_whose_skill_is_not_installed_is_refused(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "skills: [excel]")}
    async with house(tmp_path, files, {"lead": []}) as at:
        result = await at.run()
        assert (result.status, "excel" in result.summary) == (WorkItemStatus.blocked, True)


_SHELL = [{"tool": "shell_exec"}]
_BLOCKED = "approval: { shell_exec: { blocked: true } }"


@pytest.mark.parametrize(
    ("files", "refused"),
    [
        ({"lead": worker_file("lead", _BLOCKED)}, True),
        ({"lead": worker_file("lead", tools="{ files: }")}, True),
        ({"lead": worker_file("lead")}, False),
        (
            {
                "lead": worker_file("lead", _BLOCKED, "delegates: [helper]"),
                "helper": worker_file("helper"),
            },
            False,
        ),
    ],
    ids=["blocked", "not-offered", "offered", "by-who-is-asked"],
)
async def test_a_grant_that_no_worker_can_use_is_refused_before_its_card(
    tmp_path: Path, files: Mapping[str, str], refused: bool
) -> None:
    scripts: dict[str, list[Step]] = {name: [LS, DONE] for name in files}
    if "helper" in files:
        scripts["lead"] = [delegate("helper"), DONE]
    async with house(tmp_path, files, scripts) as at:
        result = await at.run(plan(tools=_SHELL))
        assert (result.status is WorkItemStatus.blocked) is refused
        assert ("which its worker 'lead' cannot call" in result.summary) is refused
        channel = at.h.channel
        assert isinstance(channel, ScriptedChannel)
        assert (channel.cards == []) is refused


@pytest.mark.parametrize("whose", ["lead", "helper"])
async def test_a_worker_whose_file_changes_while_the_card_is_shown_does_not_run(
    tmp_path: Path, whose: str
) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}

    def changes(card: Card[Any]) -> Any:
        with (tmp_path / "workers" / f"{whose}.worker").open("a") as file:
            file.write("And delete everything.\n")
        return owner()(card)

    async with house(tmp_path, files, {"lead": [], "helper": []}, changes) as at:
        result = await at.run()
        assert result.status is WorkItemStatus.blocked
        assert f"file of the worker {whose} changed" in result.summary


@pytest.mark.proves("B2-CHANGED-PLAN-REFUSED")
@pytest.mark.parametrize("whose", ["lead", "helper"])
async def test_a_workers_file_that_changes_while_it_works_ends_its_authority(
    tmp_path: Path, whose: str
) -> None:
    """Neither it nor whoever it may delegate to does one more call."""
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    runs: list[SandboxRun] = []

    def ran(run: SandboxRun) -> Any:
        runs.append(run)
        with (tmp_path / "workers" / f"{whose}.worker").open("a") as file:
            file.write("And delete everything.\n")
        return exit_result(0, "done")

    scripts = {"lead": [LS, LS, delegate("helper"), DONE], "helper": [LS, DONE]}
    async with house(tmp_path, files, scripts, owner(), sandbox=FakeSandbox(ran)) as at:
        result = await at.run()
        assert result.status is WorkItemStatus.blocked
        assert at.cards() == []
        assert at.models["helper"].requests == []
    assert len(runs) == 1


async def test_an_approval_given_for_one_file_does_not_hold_for_another_at_the_start(
    tmp_path: Path,
) -> None:
    files = {"lead": worker_file("lead")}
    async with house(tmp_path, files, {"lead": [LS, DONE]}) as at:
        await at.run()
        item = await at.h.store.get("task-example")
        assert item is not None
        bound = item.approval_token and item.approval_token.conditions["binds"]["workers"]
        assert bound is not None
        assert bound.keys() == {"lead"}
        (at.files / "lead.worker").write_text(worker_file("lead", tools=FREE))

        async def nobody(event: object) -> None:
            del event

        again = await soon(at.h.silas.executor.execute(item, nobody))
        assert again.status is WorkItemStatus.blocked
        assert "changed after the plan was approved" in again.summary


async def test_all_runs_of_an_attempt_share_the_budget(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    scripts = {"lead": [delegate("helper"), LS, DONE], "helper": [LS, LS, LS, LS, DONE]}
    budget = {"max_tokens": 350, "max_attempts": 1}
    async with house(tmp_path, files, scripts, tokens=(60, 40)) as at:
        result = await at.run(plan(budget=budget))
        assert result.status is WorkItemStatus.stuck
        assert len(at.models["helper"].requests) <= 4
        assert result.budget_used.tokens >= 350
        assert len(at.models["lead"].requests) <= 2


async def test_what_a_worker_used_is_in_the_budget_of_the_plan(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    scripts = {"lead": [delegate("helper"), LS, DONE], "helper": [LS, DONE]}
    async with house(tmp_path, files, scripts, tokens=(60, 40)) as at:
        result = await at.run()
        assert (result.status, result.budget_used.tokens) == (WorkItemStatus.done, 500)


async def test_a_worker_that_cannot_work_is_a_result_and_the_caller_goes_on(
    tmp_path: Path,
) -> None:
    files = {
        "lead": worker_file("lead", "delegates: [helper, lost]"),
        "helper": worker_file("helper"),
        "lost": worker_file("lost").replace("python:harness:lost", "python:nowhere:model"),
    }
    scripts = {"lead": [delegate("helper"), LS, DONE], "helper": ["no form", "no form either"]}
    async with house(tmp_path, files, scripts) as at:
        assert (await at.run()).status is WorkItemStatus.done
        assert "did not report in the required form" in at.models["lead"].requests[1].text


async def test_a_retry_for_form_does_not_see_the_conversation_of_the_caller(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    scripts = {
        "lead": [sh("echo", "secret-of-the-lead"), delegate("helper"), LS, DONE],
        "helper": ["no form", DONE],
    }
    async with house(tmp_path, files, scripts) as at:
        assert (await at.run()).status is WorkItemStatus.done
        said = [str(one.messages) for one in at.models["helper"].requests]
        assert len(said) == 2
        assert not any("secret-of-the-lead" in one for one in said)


async def test_cancelling_the_work_ends_the_worker_that_was_asked(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    begun, never = asyncio.Event(), asyncio.Event()

    class Hanging(FakeSandbox):
        async def run(self, *args: Any, **kwargs: Any) -> Any:
            begun.set()
            await never.wait()

    scripts = {"lead": [delegate("helper"), *[DONE] * 9], "helper": [LS, DONE]}
    hanging = Hanging(lambda run: exit_result())
    async with house(tmp_path, files, scripts, sandbox=hanging) as at:
        running = asyncio.create_task(at.h.silas.run(plan()))
        await soon(begun.wait())
        assert await at.h.silas.cancel("task-example")
        assert (await soon(running)).status is WorkItemStatus.paused
        assert [e for e, _ in await at.events("tool_call")][-2:] == ["tool_call.unknown"] * 2
        item = await at.h.store.get("task-example")
        assert item is not None
        # nothing that only the owner could settle: what ran, ran in the private copy
        again = await at.run(plan())
        assert "unknown" not in again.summary


@pytest.mark.proves("S5.2.1-LEDGER")
async def test_a_report_is_no_value_that_a_step_printed(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    gate = {
        "name": "g", "on": "after_step", "after_step": 1, "type": "numeric_range",
        "extract": "score", "auto_approve": {"min": 0.5, "max": 1.0},
        "block": {"outside": [0.0, 1.0]},
    }  # fmt: skip
    lie = ExecutorAgentOutput(summary="score: 0.9")
    scripts = {"lead": [LS, delegate("helper"), DONE], "helper": [lie]}
    async with house(tmp_path, files, scripts) as at:
        result = await at.run(plan(gates=[gate]))
        assert result.status is WorkItemStatus.blocked


async def test_the_same_call_of_two_workers_is_made_twice(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    scripts = {"lead": [LS, delegate("helper"), DONE], "helper": [LS, DONE]}
    async with house(tmp_path, files, scripts) as at:
        await at.run()
        events = [e for e, data in await at.events("tool_call") if data["tool"] == "shell_exec"]
        assert events == ["tool_call.attempted", "tool_call.succeeded"] * 2


async def test_the_emergency_stop_reaches_the_worker_that_was_asked(tmp_path: Path) -> None:
    files = {"lead": worker_file("lead", "delegates: [helper]"), "helper": worker_file("helper")}
    runs: list[SandboxRun] = []

    def stops(run: SandboxRun) -> Any:
        runs.append(run)
        (at.h.home / "data" / "STOPPED").touch()
        return exit_result(0, "done")

    scripts = {"lead": [delegate("helper"), LS, DONE], "helper": [LS, sh("ls", "-l"), DONE]}
    async with house(tmp_path, files, scripts, sandbox=FakeSandbox(stops)) as at:
        result = await at.run()
        assert result.status is WorkItemStatus.paused
    assert len(runs) == 1


async def test_whom_a_worker_asks_at_once_it_asks_one_after_the_other(tmp_path: Path) -> None:
    """They share a workspace."""
    files = {
        "lead": worker_file("lead", "delegates: [one, two]"),
        "one": worker_file("one"),
        "two": worker_file("two"),
    }
    scripts: dict[str, list[Step]] = {
        "lead": [(delegate("one"), delegate("two")), DONE],
        "one": [LS, LS, DONE],
        "two": [LS, LS, DONE],
    }
    async with house(tmp_path, files, scripts) as at:
        assert (await at.run()).status is WorkItemStatus.done
        calls = await at.events("tool_call")
        began = [data["worker"] for _, data in calls if data["tool"] == "shell_exec"]
        assert began in (["one"] * 4 + ["two"] * 4, ["two"] * 4 + ["one"] * 4)


async def test_the_plan_itself_enters_its_worker_and_delegates_to_nobody(tmp_path: Path) -> None:
    """What a worker's file says about `delegate` is about its own calls, not about its entry."""
    blocked = "approval: { delegate: { blocked: true } }"
    files = {
        "lead": worker_file("lead", "delegates: [helper]", blocked),
        "helper": worker_file("helper"),
    }
    async with house(tmp_path, files, {"lead": [LS, DONE], "helper": []}) as at:
        assert (await at.run()).status is WorkItemStatus.done
        assert [data["tool"] for _, data in await at.events("gate")] == ["shell_exec"]
