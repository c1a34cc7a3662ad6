"""What a plan only names is signed with it, and anything else in its place does not run (B2)."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silas.canonical import sha256_hex
from silas.cards import Card, PlanAnswer, ToolCallCard
from silas.plans import WorkItem, WorkItemStatus
from silas.plans.binding import BINDS
from silas.sandbox import SandboxResult
from silas.testing import FakeSandbox, FixedSkills, ScriptedChannel, a_plan
from silas.testing.tools import SandboxRun, exit_result
from silas.types import OWNER
from silas.workspace.copy import Workspace
from tests.work.kit import DONE, Work, argv, at_work, owner

Change = Callable[[Path], None]


def _aside(path: Path) -> Path:
    return path.rename(path.with_name(path.name + ".before"))


def _linked(path: Path) -> None:
    path.symlink_to(_aside(path))


def _replaced(path: Path) -> None:
    shutil.copytree(_aside(path), path, symlinks=True)


CHANGES: dict[str, tuple[Change, str]] = {
    "the workspace turned into a link": (lambda at: _linked(at / "project"), "project"),
    "another directory in its place": (lambda at: _replaced(at / "project"), "project"),
    "the workspace gone": (lambda at: shutil.rmtree(at / "project"), "project"),
    "a directory above it turned into a link": (_linked, "project"),
    "a script edited": (lambda at: _edit(at / "run.sh"), "run.sh"),
    "a script turned into a link": (lambda at: _linked(at / "run.sh"), "run.sh"),
    "a directory in a script's place": (lambda at: _directory(at / "run.sh"), "run.sh"),
    "a directory to read turned into a link": (lambda at: _linked(at / "lib"), "lib"),
    "another directory to read": (lambda at: _replaced(at / "lib"), "lib"),
}
"""What happens to what was approved, and which path is named."""


def _edit(script: Path) -> None:
    with script.open("a") as file:
        file.write("echo more\n")


def _directory(path: Path) -> None:
    _aside(path)
    path.mkdir()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a workspace, a script and a directory to read."""
    at = tmp_path / "place"
    (at / "project").mkdir(parents=True)
    (at / "project" / "result.txt").write_text("done\n")
    (at / "lib").mkdir()
    (at / "run.sh").write_text("#!/bin/sh\n")
    return at


def _plan(place: Path, **fields: Any) -> WorkItem:
    read = [str(place / "run.sh"), str(place / "lib")]
    return a_plan(workspace=str(place / "project"), read=read, budget={"max_attempts": 1}, **fields)


async def _approved(work: Work, item: WorkItem) -> WorkItem:
    proposal = await work.silas.runs.proposer.propose(
        item, work.silas.runs.channel, OWNER, "Why not."
    )
    assert proposal.verdict == "approved", proposal.words
    return item


def _changing(when: str, change: Change, place: Path) -> FakeSandbox:
    """A sandbox in which the command `when` runs while the world outside is changed."""
    left = [change]

    def answer(run: SandboxRun) -> SandboxResult:
        if run.argv[0] == when and left:
            left.pop()(place)
        return exit_result(stdout="done")

    return FakeSandbox(answer)


async def _refusals(work: Work) -> list[dict[str, Any]]:
    found = [data for _, data in await work.record("approval.refused")]
    return [data for data in found if data["code"] == "E_APPROVAL_BINDING"]


def _ran(sandbox: FakeSandbox) -> list[str]:
    return [run.argv[0] for run in sandbox.runs]


@pytest.mark.proves("B2-CHANGED-WORLD-REFUSED")
@pytest.mark.parametrize("name", CHANGES)
async def test_what_changed_after_it_was_signed_does_not_run(name: str, place: Path) -> None:
    change, named = CHANGES[name]
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(argv("first"), DONE, sandbox=sandbox) as work:
        item = await _approved(work, _plan(place))
        change(place)
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert f"{place / named}" in result.summary
        assert not sandbox.runs
        assert not work.executor.requests
        (refused,) = await _refusals(work)
        assert refused["work_item_id"] == item.id
        assert str(place / named) in refused["why"]


@pytest.mark.parametrize("name", CHANGES)
async def test_what_changes_while_it_runs_ends_there_and_nobody_is_asked(
    name: str, place: Path
) -> None:
    channel, sandbox = owner(call=True), _changing("first", CHANGES[name][0], place)
    steps = (argv("first"), argv("second"), DONE)
    async with at_work(*steps, channel=channel, sandbox=sandbox) as work:
        result = await work.execute(await _approved(work, _plan(place)))
        assert result.status is WorkItemStatus.blocked
        assert _ran(sandbox) == ["first"]
        assert not [card for card in channel.cards if isinstance(card, ToolCallCard)]
        assert await _refusals(work)


@pytest.mark.parametrize("name", CHANGES)
async def test_what_changes_after_the_work_is_not_verified(name: str, place: Path) -> None:
    sandbox = _changing("last", CHANGES[name][0], place)
    async with at_work(argv("last"), DONE, sandbox=sandbox) as work:
        result = await work.execute(await _approved(work, _plan(place)))
        assert result.status is WorkItemStatus.blocked
        assert _ran(sandbox) == ["last"]
        assert await _refusals(work)


@pytest.mark.parametrize("name", CHANGES)
async def test_what_changes_while_it_is_verified_is_not_applied(name: str, place: Path) -> None:
    sandbox = _changing("/bin/sh", CHANGES[name][0], place)
    async with at_work(argv("last"), DONE, sandbox=sandbox) as work:
        result = await work.execute(await _approved(work, _plan(place)))
        assert result.status is WorkItemStatus.blocked
        assert await _refusals(work)
        assert not await work.record("workspace_applying")


async def test_what_did_not_change_does_run(place: Path) -> None:
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(argv("first"), DONE, sandbox=sandbox) as work:
        item = await _approved(work, _plan(place))
        (place / "project" / "new.txt").write_text("The workspace may change: it is copied.\n")
        result = await work.execute(item)
        assert result.status is WorkItemStatus.done
        assert _ran(sandbox) == ["first", "/bin/sh"]
        assert not await _refusals(work)


@pytest.mark.parametrize("name", CHANGES)
async def test_what_changes_while_the_owner_reads_the_card_is_not_signed(
    name: str, place: Path
) -> None:
    def answer(card: Card[Any]) -> Any:
        CHANGES[name][0](place)
        return PlanAnswer(verdict="approved")

    channel = ScriptedChannel(answer)
    async with at_work(channel=channel) as work:
        item = _plan(place)
        proposal = await work.silas.runs.proposer.propose(item, channel, OWNER, "Why not.")
        assert proposal.verdict == "refused"
        assert item.approval_token is None
        assert "approval.issued" not in await work.events()


@pytest.mark.parametrize("name", ["the workspace turned into a link", "the workspace gone"])
async def test_nobody_is_asked_about_what_is_not_there(name: str, place: Path) -> None:
    CHANGES[name][0](place)
    channel = owner()
    async with at_work(channel=channel) as work:
        proposal = await work.silas.runs.proposer.propose(_plan(place), channel, OWNER, "Why not.")
        assert proposal.verdict == "refused"
        assert str(place / "project") in proposal.words
        assert not channel.cards


async def test_limits_that_change_in_the_configuration_refuse_what_was_approved_under_others(
    tmp_path: Path,
) -> None:
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(home=tmp_path, sandbox=sandbox) as work:
        item = await _approved(work, a_plan())
        clock = work.harness.clock
    assert item.approval_token is not None
    assert item.approval_token.conditions[BINDS]["sandbox"]["limits"]["memory_mb"] == 512
    settings = {"sandbox": {"default_memory_mb": 513}}
    async with at_work(
        argv("true"), DONE, home=tmp_path, clock=clock, settings=settings, sandbox=sandbox
    ) as work:
        result = await work.silas.wait("task-example")  # what was approved begins by itself
        assert result is not None
        assert result.status is WorkItemStatus.blocked
        assert "limits" in result.summary
        assert not sandbox.runs


async def test_another_backend_refuses_what_was_approved_for_this_one(tmp_path: Path) -> None:
    class Other(FakeSandbox):
        name = "another"  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    fake, other = (kind(lambda run: exit_result(stdout="done")) for kind in (FakeSandbox, Other))
    async with at_work(home=tmp_path, sandbox=fake) as work:
        await _approved(work, a_plan())
        clock = work.harness.clock
    async with at_work(argv("true"), DONE, home=tmp_path, clock=clock, sandbox=other) as work:
        result = await work.silas.wait("task-example")  # what was approved begins by itself
        assert result is not None
        assert "backend" in result.summary
        assert not other.runs


@pytest.mark.proves("B2-SKILL-DIGESTS")
@pytest.mark.parametrize("changed", [False, True])
async def test_a_skill_that_changed_after_it_was_signed_is_not_used(
    changed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = FixedSkills({"excel": "one"})
    monkeypatch.setattr("silas.wiring.parts.skill_loader", lambda *_: installed)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(argv("true"), DONE, sandbox=sandbox) as work:
        item = await _approved(work, a_plan(skills=["excel"]))
        assert item.approval_token is not None
        signed = item.approval_token.conditions[BINDS]["skills"]
        assert signed == {"excel/SKILL.md": sha256_hex(b"one")}
        installed.texts["excel"] = "two" if changed else "one"
        result = await work.execute(item)
        wanted = WorkItemStatus.blocked if changed else WorkItemStatus.done
        assert result.status is wanted
        assert bool(sandbox.runs) is not changed
        assert ("excel/SKILL.md" in result.summary) is changed


async def test_a_directory_that_was_there_only_while_it_was_copied_is_noticed(place: Path) -> None:
    """The path is right before and after; what was copied in between is another directory."""
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    project, other = place / "project", place / "other"
    other.mkdir()
    async with at_work(argv("first"), DONE, sandbox=sandbox) as work:
        item = await _approved(work, _plan(place))

        async def swap_back(event: Any) -> None:
            project.rename(other)
            (place / "aside").rename(project)

        work.notify = swap_back  # told of the attempt, which begins after the copy
        prepare = Workspace.prepare

        def elsewhere(original: Path, scratch: Path, **limits: Any) -> Any:
            project.rename(place / "aside")
            other.rename(project)
            return prepare(original, scratch, **limits)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Workspace, "prepare", elsewhere)
            result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert not sandbox.runs
        assert await _refusals(work)
