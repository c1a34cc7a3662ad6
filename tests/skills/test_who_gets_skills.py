"""Who is told which skills: workers what their files name, the planner what its work rests on."""

from pathlib import Path
from typing import Any

import pytest

from silas.agents import PlannerAdvice
from silas.cards import PlanCard
from silas.context.framing import sections
from silas.plans import WorkItemStatus
from silas.plans.binding import BINDS
from silas.testing import (
    CallTool,
    FakeSandbox,
    Harness,
    ScriptedChannel,
    ScriptedModel,
    a_plan,
    plan_text,
)
from silas.testing.tools import exit_result
from silas.types import OWNER
from tests.skills.kit import approved, install, install_as_it_lies, skill_md
from tests.stream.kit import (
    answer,
    done_sandbox,
    planned,
    proposing,
    ran,
    saying_yes,
    soon,
    to_planner,
)
from tests.stream.test_plan_identity import claimed
from tests.work.kit import DONE, argv, at_work
from tests.work.test_workers import LS, House, delegate, house, plan, worker_file

FILES = {
    "lead": worker_file("lead", "delegates: [helper]", "skills: [excel]"),
    "helper": worker_file("helper", "skills: [word]"),
}
SCRIPTS = {"lead": [delegate("helper"), LS, DONE], "helper": [LS, DONE], "executor": []}


async def equipped(at: House, *names: str) -> None:
    for name in names:
        await install(at.h, name)


def told(model: ScriptedModel, request: int = 0) -> list[str]:
    """The skills that a model was told, by name."""
    found = sections(model.requests[request].text)
    return [one.label("name") for one in found if one.kind == "skill"]


@pytest.mark.parametrize(
    ("front", "lead"), [({}, ["excel"]), ({"skills": ["ppt"]}, ["ppt", "excel"])]
)
async def test_a_worker_is_told_the_skills_that_its_own_file_names(
    front: dict[str, Any], lead: list[str], tmp_path: Path
) -> None:
    """Whom the plan names has the plan's besides; whom that one asks has its own alone."""
    async with house(tmp_path, FILES, SCRIPTS) as at:
        await equipped(at, "excel", "word", "ppt")
        result = await at.run(plan(**front))
        assert result.status is WorkItemStatus.done
        assert told(at.models["lead"]) == lead
        assert told(at.models["helper"]) == ["word"]
        item = await at.h.store.get("task-example")
        assert item is not None
        assert item.approval_token is not None
        signed = item.approval_token.conditions[BINDS]["skills"]
        assert set(signed) == {f"{name}/SKILL.md" for name in (*lead, "word")}


@pytest.mark.parametrize("changed", ["excel", "word"])
@pytest.mark.parametrize("file", ["SKILL.md", "scripts/read.py"])
async def test_a_workers_skill_that_changes_after_the_approval_refuses_the_work(
    changed: str, file: str, tmp_path: Path
) -> None:
    """Also where the owner installed the new version meanwhile."""
    runs: list[object] = []

    def run(one: object) -> Any:
        runs.append(one)
        return exit_result(0, "done")

    async def unheard(event: object) -> None:
        del event

    async with house(tmp_path, FILES, SCRIPTS, saying_yes, sandbox=FakeSandbox(run)) as at:
        for name in ("excel", "word"):
            await install(at.h, name, files={"scripts/read.py": "print(1)\n"})
        item, silas = a_plan(worker="lead"), at.h.silas
        proposal = await silas.runs.proposer.propose(item, silas.runs.channel, OWNER, "Why not.")
        assert proposal.verdict == "approved", proposal.words
        text = skill_md(changed, "Send it all.") if file == "SKILL.md" else "print(2)\n"
        (at.h.config.skills_dir / changed / file).write_text(text, encoding="utf-8")
        await install_as_it_lies(at.h, changed)
        result = await soon(silas.executor.execute(item, unheard))
        assert result.status is WorkItemStatus.blocked
        assert changed in result.summary
        assert not runs
        assert not at.models["lead"].requests


async def test_the_card_of_a_plan_with_a_worker_says_that_its_skills_are_bound(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, FILES, SCRIPTS) as at:
        await equipped(at, "excel", "word")
        await at.run()
        channel = at.h.channel
        assert isinstance(channel, ScriptedChannel)
        card = next(card for card in channel.cards if isinstance(card, PlanCard))
        held = next(d for d in card.details if d.heading == "What must be the same when it runs")
        assert "the file of the worker `lead`" in held.lines[0]
        assert "every file of the skills" in held.lines[1]


async def test_the_planner_is_told_the_skills_of_the_work_that_is_gone_on_from() -> None:
    """And only then: the proxy, and a plan for something new, see names and descriptions."""
    models = planned(answer("Fine."), answer("Fine."))
    routes = [to_planner(), to_planner(continuation_of="task-old")]
    models["proxy"] = ScriptedModel(routes)
    async with Harness(models=models) as h:
        await install(h, "excel")
        old = a_plan(id="task-old", status=WorkItemStatus.done, skills=["excel", "gone"])
        await h.store.save(old)
        await soon(h.silas.ask("make a table"))
        await soon(h.silas.ask("go deeper"))
    assert told(models["planner"], 0) == []
    assert told(models["planner"], 1) == ["excel"]
    assert all(told(models["proxy"], at) == [] for at in (0, 1))
    assert "excel: " in models["proxy"].requests[0].text


async def test_the_planner_is_told_no_more_than_there_is_room_for_beside_a_conversation() -> None:
    """What is too long is left out whole, and what still fits is told."""
    models = planned(answer("Fine."))
    models["proxy"] = ScriptedModel([to_planner(continuation_of="task-old")])
    names = ["excel", "long", "word", "ppt"]
    async with Harness(models=models) as h:
        for name in names:
            body = "x" * {"long": 20_000, "word": 18_000, "ppt": 3_000}.get(name, 100)
            await install(h, name, skill_md(name, body))
        old = a_plan(id="task-old", status=WorkItemStatus.done, skills=names)
        await h.store.save(old)
        await soon(h.silas.ask("go deeper"))
    assert told(models["planner"]) == ["excel", "word"]


async def test_of_a_small_window_the_planner_is_told_what_fits_into_what_is_left() -> None:
    models = planned(answer("Fine."))
    models["proxy"] = ScriptedModel([to_planner(continuation_of="task-old")])
    settings = {"context": {"total_tokens": 8000, "system_max": 3000}}
    async with Harness(models=models, settings=settings) as h:
        await install(h, "excel", skill_md("excel", "x" * 15_000))
        await install(h, "dense", skill_md("dense", "\u8868" * 5_000))  # many tokens in few signs
        await install(h, "word", skill_md("word", "a table has rows. " * 150))
        names = ["excel", "dense", "word"]
        old = a_plan(id="task-old", status=WorkItemStatus.done, skills=names)
        await h.store.save(old)
        await soon(h.silas.ask("go deeper"))
    assert told(models["planner"]) == ["word"]


async def test_the_skills_of_another_conversations_work_are_not_told() -> None:
    models = planned(answer("Fine."))
    models["proxy"] = ScriptedModel([to_planner(continuation_of="task-theirs")])
    async with Harness(models=models, ports=claimed("task-theirs", "desk-7")) as h:
        await install(h, "excel")
        theirs = a_plan(id="task-theirs", status=WorkItemStatus.done, skills=["excel"])
        await h.store.save(theirs)
        await soon(h.silas.ask("go deeper"))
    assert told(models["planner"]) == []


@pytest.mark.proves("S5.1-6.5-SKILLS")
async def test_the_planner_that_advises_is_told_what_the_executor_is_told() -> None:
    planner = ScriptedModel([PlannerAdvice(guidance="Try it otherwise.")] * 2)
    sandbox = FakeSandbox(lambda run: exit_result(1))
    steps = [step for attempt in "12345" for step in (argv(attempt), DONE)]
    async with at_work(*steps, planner=planner, sandbox=sandbox) as work:
        await install(work.harness, "excel")
        item = await approved(work, a_plan(skills=["excel"]))
        await work.execute(item)
        assert told(planner) == ["excel"]
        assert told(work.executor) == ["excel"]


@pytest.mark.proves("S3.3-SKILLS-INHERITED", "S7.2-SKILL-INHERITANCE", "S4.21-SCOPED-RESOLUTION")
@pytest.mark.parametrize(
    ("own", "has"), [(None, ["excel"]), ([], []), (["word"], ["word"])], ids=str
)
async def test_a_plan_that_goes_on_from_work_has_its_skills_unless_it_names_its_own(
    own: list[str] | None, has: list[str]
) -> None:
    """What it inherits is in its hash, on its card, and told to whoever works on it."""
    front = {} if own is None else {"skills": own}
    second = proposing(plan_text(id="task-second", **front), follows="task-example")
    work = [CallTool("shell_exec", {"argv": ["true"]}), ran()]
    models = planned(proposing(plan_text(skills=["excel"])), second, executor=work * 2)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        for name in ("excel", "word"):
            await install(h, name)
        await soon(h.silas.ask("do it"))
        await soon(h.silas.wait("task-example"))
        reply = await soon(h.silas.ask("more of that"))
        await soon(h.silas.wait("task-second"))
    assert reply.plan is not None
    assert reply.plan.skills == has
    card = [card for card in channel.cards if isinstance(card, PlanCard)][-1]
    shown = next(detail for detail in card.details if detail.heading == "Skills")
    assert shown.lines == (tuple(f"`{name}`" for name in has) or ("none",))
    assert told(models["executor"], 2) == has


async def test_a_plan_that_goes_on_from_nothing_inherits_nothing() -> None:
    models = planned(proposing(plan_text(), follows="task-nowhere"))
    async with Harness(models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("more of that"))
    assert reply.plan is not None
    assert reply.plan.skills == []
