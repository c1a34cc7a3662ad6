"""A script that a plan runs changes between the card, the yes and the run; what each door does."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from silas.canonical import sha256_hex
from silas.cards import Card, PlanCard
from silas.goals.models import GoalState, Outcome
from silas.plans import PlanParser, WorkItemStatus
from silas.services.cockpit.ahead import CockpitAhead
from silas.services.mcp_server import Services
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from silas.wiring.parts import Parts
from silas.work.entry import EntryCheck
from tests.cockpit.program_page import a_page
from tests.goals.kit import START, WATCHED, Watched, after, goal_text, house, yes
from tests.projects.test_held import service_of
from tests.stream.kit import recorded
from tests.support.command import environment, person, run, silas
from tests.support.plans import check, sh_plan
from tests.support.signer import signer
from tests.web.support.cockpit import Home, a_cockpit

OTHER = "echo something else > result.txt\n"
PHRASE = "run the script now"
RUNBOOK = """\
---
runbook:
  phrases: [{phrase}]
  parameters:
    workspace:
      description: the directory of the work, as an absolute path
      pattern: '/.+'
      example: /home/me/project
id: scripted
type: task
title: Run the script
workspace: $workspace
budget: {{ max_tokens: 10000, max_cost_usd: 0.10, max_wall_time_seconds: 600, max_attempts: 1 }}
verify:
  - name: result_is_there
    run: "test -s result.txt"
    expect: {{ exit_code: 0 }}
---

# What to do

```sh
sh work.sh
```
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """What the plan runs."""
    file = tmp_path / "project" / "work.sh"
    file.parent.mkdir()
    file.write_text("echo done > result.txt\n")
    return file


def _plan(script: Path, **fields: Any) -> str:
    given = {"workspace": str(script.parent), "verify": check("test -s result.txt"), **fields}
    return sh_plan("sh work.sh", id="scripted", **given)


def _shown(card: Card[Any], script: Path) -> bool:
    """Whether the card lists the file as it is now."""
    lines = "\n".join(line for detail in card.details for line in detail.lines)
    return f"sha256:{sha256_hex(script.read_bytes())}" in lines


async def test_a_program_is_refused_what_changed_before_the_yes(script: Path) -> None:
    def answer(card: Card[Any]) -> Any:
        assert _shown(card, script)
        script.write_text(OTHER)
        return card.actions[0].value

    async with Harness(ScriptedChannel(answer)) as h:
        result = await h.silas.run(_plan(script))
    assert result.status is not WorkItemStatus.done
    assert "work.sh, which the plan runs, changed between the plan's card and" in result.summary
    assert not script.with_name("result.txt").exists()


async def test_a_program_is_refused_what_changed_after_the_yes(script: Path) -> None:
    refuse = EntryCheck.refuse

    async def changed(self: EntryCheck, *given: Any, **named: Any) -> Any:
        script.write_text(OTHER)
        return await refuse(self, *given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EntryCheck, "refuse", changed)
        async with Harness(ScriptedChannel(yes)) as h:
            result = await h.silas.run(_plan(script))
    assert result.status is WorkItemStatus.blocked
    assert "work.sh, which the plan runs, changed after the plan was approved" in result.summary
    assert not script.with_name("result.txt").exists()


async def test_a_plan_that_waits_is_asked_about_with_the_files_as_they_are_now(
    script: Path,
) -> None:
    cards: list[PlanCard] = []

    def answer(card: Card[Any]) -> Any:
        assert isinstance(card, PlanCard)
        assert _shown(card, script)
        cards.append(card)
        return card.safe

    async with Harness(ScriptedChannel(answer)) as h:
        item = PlanParser().parse(_plan(script))
        for content in (script.read_text(), OTHER):
            await h.silas.runs.proposer.keep(item, "Why not.")
            script.write_text(content)
            await h.silas.answer(item.id)
    first, second = cards
    assert first.plan_hash == second.plan_hash
    assert first.approves != second.approves


async def test_a_yes_on_the_page_counts_for_the_files_on_its_card(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (home.plans / "scripted.md").write_text(RUNBOOK.format(phrase=PHRASE), encoding="utf-8")
    script = home.workspace / "work.sh"
    script.write_text("echo done > result.txt\n")
    async with a_cockpit(home) as cockpit, a_page(cockpit.origin, await cockpit.link()) as page:
        await page.connect()
        await page.say(PHRASE)
        plan = await page.next("approval_request")
        assert sha256_hex(script.read_bytes()) in str(plan)
        script.write_text(OTHER)
        await page.answer(plan, type="approval_response", verdict="approved")
        while "nothing was run" not in (said := await page.next("message"))["text"]:
            pass
        assert "work.sh" in said["text"]
        assert not home.result.exists()
        events = await cockpit.events()
        assert "plan_refused" in events
        assert "plan_approved" not in events


async def test_work_that_recurs_does_not_run_a_script_that_changed_since_the_yes(
    script: Path,
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    fields = {
        "title": "Tidy the state",
        "cycle": "work",
        "schedule": "0 10 * * *",
        "on_failure": "report",
        "failure_context": None,
        "body": "Look after it.\n\n```sh\nsh work.sh\n```",
        "workspace": str(script.parent),
    }
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(**fields))
        (card,) = channel.cards
        assert _shown(card, script)
        (first,) = await after(watched, clock, 50 * 60, 1)
        assert first.outcome is Outcome.done, first
        before = script.read_text()
        script.write_text(OTHER)
        await _lapsed(h, watched.parts, script)
        script.write_text(before)
        (whole,) = (await h.silas.ahead(1)).alone
        assert whole.lapsed == ""  # what was put back is what was approved
        script.write_text(OTHER)
        runs = len(watched.sandbox.runs)
        (second, _) = await after(watched, clock, 24 * 3600, 2)
        assert second.outcome is Outcome.refused, second
        assert len(watched.sandbox.runs) == runs
        assert "work.sh" in "\n".join(channel.texts)
        assert watched.goals.get(WATCHED).state is GoalState.paused


async def _lapsed(h: Harness, parts: Parts, script: Path) -> None:
    """Every door says that the approval covers nothing, why, and what to do; nothing is written."""
    entries = len(await recorded(h))
    service = service_of(parts)
    (given,) = [one for one in await service.list_given() if one.item.id == WATCHED]
    (alone,) = (await h.silas.ahead(1)).alone
    assert given.state == "lapsed"
    assert alone.lapsed == given.why
    assert given.why == (
        f"{script}, which the plan runs, changed after the plan was approved; look at it and ask "
        "again; run its plan again to approve it as it is now."
    )
    room = CockpitAhead(parts.ahead_service, parts.narrowing, parts.secrecy.redact)
    page = await room.look(1)
    assert [(one.lapsed, one.uses_left, str(script) in one.left) for one in page.alone] == [
        (True, 0, True)
    ]
    offers = {one.name: one for one in Services(h.silas, h.silas.ahead).offers()}
    told = await offers["ahead"].answer({})
    assert f"goal {WATCHED} (Tidy the state) starts nothing: its approval has lapsed" in told
    assert "work.sh" not in told
    assert len(await recorded(h)) == entries


def test_the_commands_tell_that_an_approval_has_lapsed_and_take_it_back(
    near: Path, script: Path
) -> None:
    env, plan = environment(near / "h"), near / "goal.md"
    work: dict[str, Any] = {
        "cycle": "work",
        "schedule": "0 10 * * *",
        "on_failure": "report",
        "verify": [],
    }
    body = {"body": "Look after it.\n\n```sh\nsh work.sh\n```", "failure_context": None}
    plan.write_text(goal_text(**work, **body, workspace=str(script.parent)))
    assert run(silas("init"), env).code == 0
    shown = run(silas("plan", "check", plan), env).out.split()
    assert run(silas("run", plan, "--approve", shown[-1]), env).code == 0
    assert run(silas("approvals", "list"), env).out.startswith(f"in force   {WATCHED}")
    assert "May run without asking" in run(silas("ahead"), env).out
    script.write_text(OTHER)
    why = f"{script}, which the plan runs, changed after the plan was approved; look at it"
    listed = run(silas("approvals", "list"), env).out
    assert listed.startswith(f"lapsed     {WATCHED}")
    assert f"         {why}" in listed
    assert "run its plan again to approve it as it is now." in listed
    (row,) = json.loads(run(silas("approvals", "list", "--json"), env).out)
    assert (row["state"], row["why"].startswith(why)) == ("lapsed", True)
    found = run(silas("approvals", "show", WATCHED), env).out
    assert "State: lapsed; used 0 of 20" in found
    assert f"Lapsed: {why}" in found
    ahead = run(silas("ahead"), env).out
    assert f"  {WATCHED}  Watch the state: {why}" in ahead
    assert "May run without asking" not in ahead
    goals = run(silas("goals", "list"), env).out
    assert f"  {why}" in goals
    (row,) = json.loads(run(silas("goals", "list", "--json"), env).out)
    assert (row["state"], row["why"].startswith(why)) == ("active", True)
    again = run(silas("plan", "check", plan), env).out.split()
    assert again[-1] != shown[-1]
    assert run(silas("run", plan, "--approve", again[-1]), env).code == 0  # as it says
    assert run(silas("approvals", "list"), env).out.startswith(f"in force   {WATCHED}")
    assert why not in run(silas("goals", "show", WATCHED), env).out
    script.write_text("true\n")
    assert run(silas("approvals", "revoke", WATCHED), env).code == 0
    assert run(silas("approvals", "list"), env).out.startswith("Nothing waits for you")


@pytest.fixture
def near() -> Iterator[Path]:
    """A directory with a short name, since sockets have short addresses."""
    with tempfile.TemporaryDirectory(prefix="silas-", dir="/var/tmp") as name:
        yield Path(name).resolve()


def test_what_changes_while_the_signer_asks_is_signed_as_shown_and_does_not_run(
    near: Path, script: Path
) -> None:
    env, plan = environment(near / "h", SILAS_KEYS__SIGNER="apart"), near / "plan.md"
    plan.write_text(_plan(script))
    shown = sha256_hex(script.read_bytes())
    with signer(env) as service:
        assert run(silas("init"), env).code == 0
        with person(silas("run", plan), env) as owner:
            owner.waits_for("Your choice, 1 to 3:")
            owner.types("1\r")
            owner.waits_for("The signer asks now")
            code = service.asked()
            script.write_text(OTHER)
            service.says(f"yes {code}", "Signed.")
            assert owner.leaves() != 0
        assert shown in service.terminal.seen
        assert "which the plan runs, changed between" in " ".join(owner.seen.split())
        service.terminal.types("\x04")
        assert service.terminal.leaves() == 0
    assert not script.with_name("result.txt").exists()
