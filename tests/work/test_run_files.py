"""A file that a plan runs is what it was on the card, or the run does not start (decision B2)."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from silas.approval import ApprovalScope
from silas.canonical import sha256_hex
from silas.cards import Card, PlanAnswer, PlanCard
from silas.plans import (
    VerificationReport,
    VerificationResult,
    WorkItem,
    WorkItemStatus,
    plan_bytes,
    plan_card,
    spawn_task,
    subject_of,
)
from silas.plans.binding import BINDS
from silas.plans.card_preview import preview_files
from silas.testing import FakeSandbox, ScriptedChannel, a_plan
from silas.testing.approval import a_decision
from silas.testing.tools import exit_result
from silas.types import OWNER
from silas.workspace.copy import Workspace
from tests.support.command import environment, run, silas
from tests.support.plans import check, sh_plan
from tests.work.kit import DONE, Work, argv, at_work, owner


def _sh(*lines: str) -> str:
    return "\n".join(["# What to do", "", "```sh", *lines, "```"])


def _python(code: str) -> str:
    return f"```python\n{code}\n```"


def _check(run: str) -> list[dict[str, Any]]:
    return [{"name": "checked", "run": run, "expect": {"contains": "done"}}]


RUNS: dict[str, tuple[dict[str, Any], str]] = {
    "a script": ({"body": _sh("sh work.sh")}, "work.sh"),
    "a script with options": ({"body": _sh("bash -e -o pipefail work.sh now")}, "work.sh"),
    "a program": ({"body": _sh("./run.sh --fast")}, "run.sh"),
    "a script behind launchers": ({"body": _sh("env A=b timeout 5 sh work.sh")}, "work.sh"),
    "a script below": ({"body": _sh("cd sub && sh inner.sh")}, "sub/inner.sh"),
    "a script that goes in": ({"body": _sh("sh < work.sh")}, "work.sh"),
    "a script through a pipe": ({"body": _sh("cat work.sh | sh")}, "work.sh"),
    "a script in a loop": ({"body": _sh("for x in work.sh; do sh $x; done")}, "work.sh"),
    "a script in a substitution": ({"verify": _check('test "$(sh work.sh)"')}, "work.sh"),
    "a Python script": ({"body": _sh("python3 -B tool.py data.txt")}, "tool.py"),
    "a Python module": ({"body": _sh("python3 -m tool")}, "tool.py"),
    "a makefile": ({"body": _sh("make all")}, "Makefile"),
    "another makefile": ({"body": _sh("make -C sub -f Other.mk")}, "sub/Other.mk"),
    "scripts of a package": ({"body": _sh("npm test")}, "package.json"),
    "a python block's module": ({"body": _python("import tool\ntool.main()")}, "tool.py"),
    "a python block's program": (
        {"body": _python("import subprocess\nsubprocess.run(['sh', 'work.sh'])")},
        "work.sh",
    ),
    "a check's script": ({"verify": _check("sh work.sh && echo done")}, "work.sh"),
    "a check's module": ({"verify": _check("python3 -c 'import tool'")}, "tool.py"),
    "a check's test file": ({"verify": _check("python3 -m pytest sub/test_a.py")}, "sub/test_a.py"),
    "a check's conftest": ({"verify": _check("pytest -q")}, "conftest.py"),
    "a granted call": (
        {"tools": [{"tool": "shell_exec", "args": {"argv": ["sh", "work.sh"]}}]},
        "work.sh",
    ),
    "a granted script": (
        {"tools": [{"tool": "python_exec", "args": {"script": "tool.py"}}]},
        "tool.py",
    ),
    "a link's target": ({"body": _sh("sh link.sh")}, "sub/inner.sh"),
}
"""What a plan may run, and the file that is meant."""

FILES = (
    "work.sh", "run.sh", "tool.py", "data.txt", "Makefile", "package.json", "conftest.py",
    "sub/inner.sh", "sub/Other.mk", "sub/test_a.py", "notes.txt",
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    at = tmp_path / "place" / "project"
    for name in FILES:
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text(f"# {name}\n")
    (at / "link.sh").symlink_to("sub/inner.sh")
    return at


def _plan(project: Path, **fields: Any) -> WorkItem:
    given = {"workspace": str(project), "budget": {"max_attempts": 1}, **fields}
    return a_plan(**given)


async def _approved(work: Work, item: WorkItem) -> WorkItem:
    proposal = await work.silas.runs.proposer.propose(
        item, work.silas.runs.channel, OWNER, "Why not."
    )
    assert proposal.verdict == "approved", proposal.words
    return item


def _sandbox() -> FakeSandbox:
    return FakeSandbox(lambda run: exit_result(stdout="done"))


def _card(channel: Any) -> str:
    (card,) = [one for one in channel.cards if isinstance(one, PlanCard)]
    return "\n".join(line for detail in card.details for line in detail.lines)


@pytest.mark.parametrize("name", RUNS)
async def test_a_file_that_the_plan_runs_is_on_the_card_and_a_change_of_it_does_not_run(
    name: str, project: Path
) -> None:
    fields, file = RUNS[name]
    sandbox, channel = _sandbox(), owner()
    shown = "link.sh" if "link" in name else file
    async with at_work(argv("first"), DONE, sandbox=sandbox, channel=channel) as work:
        item = await _approved(work, _plan(project, **fields))
        digest = sha256_hex((project / file).read_bytes())
        assert f"the file `{project / shown}`, which it runs:\n  sha256:{digest}" in _card(channel)
        (project / file).write_text("echo something else\n")
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert f"{project / shown}, which the plan runs, changed" in result.summary
        assert not sandbox.runs
        assert not work.executor.requests
        (refused,) = [data for _, data in await work.record("approval.refused")]
        assert refused["code"] == "E_APPROVAL_BINDING"


@pytest.mark.parametrize("name", RUNS)
async def test_the_same_unchanged_does_run(name: str, project: Path) -> None:
    async with at_work(argv("first"), DONE, sandbox=_sandbox()) as work:
        item = await _approved(work, _plan(project, **RUNS[name][0]))
        (project / "notes.txt").write_text("What the plan does not run may change.\n")
        result = await work.execute(item)
        assert result.status is WorkItemStatus.done, result.summary


def _linked(file: Path) -> None:
    file.rename(file.with_name("aside"))
    file.symlink_to("aside")


OTHERWISE: dict[str, Callable[[Path], object]] = {
    "removed": lambda at: (at / "work.sh").unlink(),
    "a link in its place": lambda at: _linked(at / "work.sh"),
    "a directory in its place": lambda at: (
        (at / "work.sh").unlink(),
        (at / "work.sh").mkdir(),
    ),
    "a pipe in its place": lambda at: ((at / "work.sh").unlink(), os.mkfifo(at / "work.sh")),
}


@pytest.mark.parametrize("how", OTHERWISE)
async def test_nothing_else_in_the_files_place_runs(how: str, project: Path) -> None:
    sandbox = _sandbox()
    async with at_work(argv("first"), DONE, sandbox=sandbox) as work:
        item = await _approved(work, _plan(project, body=_sh("sh work.sh")))
        OTHERWISE[how](project)
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert "work.sh" in result.summary
        assert not sandbox.runs


async def test_a_file_that_takes_the_place_of_the_one_approved_is_noticed(project: Path) -> None:
    """Make takes `GNUmakefile` before `Makefile`, whatever the latter holds."""
    sandbox = _sandbox()
    async with at_work(argv("first"), DONE, sandbox=sandbox) as work:
        item = await _approved(work, _plan(project, body=_sh("make")))
        (project / "GNUmakefile").write_text("all: ; echo something else\n")
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert "GNUmakefile" in result.summary
        assert not sandbox.runs


async def test_what_is_there_only_while_the_workspace_is_copied_does_not_run(
    project: Path,
) -> None:
    sandbox, script = _sandbox(), project / "work.sh"
    before, prepare = script.read_bytes(), Workspace.prepare
    async with at_work(argv("first"), DONE, sandbox=sandbox) as work:
        item = await _approved(work, _plan(project, body=_sh("sh work.sh")))

        def exchanged(original: Path, scratch: Path, **limits: Any) -> Any:
            script.write_text("echo something else\n")
            try:
                return prepare(original, scratch, **limits)
            finally:
                script.write_bytes(before)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Workspace, "prepare", exchanged)
            result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert f"{script}, which the plan runs, changed" in result.summary
        assert not sandbox.runs


async def test_from_the_start_of_the_run_the_files_are_the_works_own(project: Path) -> None:
    """The original may change, too: it meets the work again where its changes are applied."""
    left = [project / "work.sh"]

    def answer(run: Any) -> Any:
        if left:
            left.pop().write_text("echo edited beside the run\n")
        return exit_result(stdout="done")

    async with at_work(argv("first"), argv("second"), DONE, sandbox=FakeSandbox(answer)) as work:
        item = await _approved(work, _plan(project, body=_sh("sh work.sh")))
        result = await work.execute(item)
        assert result.status is WorkItemStatus.done, result.summary


async def test_what_changes_while_the_owner_reads_the_card_is_not_signed(project: Path) -> None:
    def answer(card: Card[Any]) -> Any:
        (project / "work.sh").write_text("echo something else\n")
        return PlanAnswer(verdict="approved")

    channel = ScriptedChannel(answer)
    async with at_work(channel=channel) as work:
        item = _plan(project, body=_sh("sh work.sh"))
        proposal = await work.silas.runs.proposer.propose(item, channel, OWNER, "Why not.")
        assert proposal.verdict == "refused"
        assert "work.sh" in proposal.words
        assert item.approval_token is None


@pytest.mark.parametrize(
    "fields",
    [
        {"body": _sh("cp data.txt copy.txt", "sed -i s/a/b/ notes.txt")},
        {"body": _sh("sh made.sh")},  # not there yet: the plan itself makes it
        {"verify": _check("test -s notes.txt && grep -q done data.txt")},
        {"body": "Run `sh work.sh` if you like."},  # prose, not a block
        {"body": "```text\nsh work.sh\n```"},
        {"body": _sh("/usr/bin/env true")},
        {"body": _sh("sh ../outside.sh")},
    ],
)
async def test_what_is_only_looked_at_or_made_or_told_of_is_not_bound(
    fields: dict[str, Any], project: Path
) -> None:
    (project.parent / "outside.sh").write_text("true\n")
    async with at_work(argv("first"), DONE, sandbox=_sandbox()) as work:
        item = await _approved(work, _plan(project, **fields))
        assert item.approval_token is not None
        assert "files" not in item.approval_token.conditions[BINDS]


async def test_a_file_of_a_directory_to_read_is_compared_all_the_time(project: Path) -> None:
    """It is shown itself, not as a copy."""
    lib = project.parent / "lib"
    lib.mkdir()
    (lib / "check.sh").write_text("true\n")
    left = [lib / "check.sh"]

    def answer(run: Any) -> Any:
        if left:
            left.pop().write_text("echo something else\n")
        return exit_result(stdout="done")

    sandbox = FakeSandbox(answer)
    async with at_work(argv("first"), argv("second"), DONE, sandbox=sandbox) as work:
        plan = _plan(project, read=[str(lib)], verify=_check(f"sh {lib}/check.sh"))
        result = await work.execute(await _approved(work, plan))
        assert result.status is WorkItemStatus.blocked
        assert f"{lib}/check.sh" in result.summary
        assert len(sandbox.runs) == 1


async def test_the_tests_of_a_directory_that_a_check_names_are_bound_together(
    project: Path,
) -> None:
    sandbox, channel = _sandbox(), owner()
    async with at_work(argv("first"), DONE, sandbox=sandbox, channel=channel) as work:
        item = await _approved(work, _plan(project, verify=_check("python3 -m pytest -q sub")))
        wanted = f"the 3 files in `{project}/sub`, where it looks for tests:\n  sha256:"
        assert wanted in _card(channel)
        (project / "sub" / "test_b.py").write_text("def test_nothing(): pass\n")
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert f"{project}/sub, which the plan runs, changed" in result.summary


async def test_more_files_than_a_person_reads_are_refused_before_anybody_is_asked(
    project: Path,
) -> None:
    names = [f"s{number}.sh" for number in range(65)]
    for name in names:
        (project / name).write_text("true\n")
    channel = owner()
    async with at_work(channel=channel) as work:
        item = _plan(project, body=_sh(*(f"sh {name}" for name in names)))
        proposal = await work.silas.runs.proposer.propose(item, channel, OWNER, "Why not.")
        assert proposal.verdict == "refused"
        assert "65 files" in proposal.words
        assert not channel.cards


GOAL = {
    "id": "goal-g", "type": "goal", "schedule": "0 * * * *", "title": "Keep it green",
    "failure_context": _sh("sh work.sh") + "\n\n$failed_checks", "on_failure": "spawn_task",
}  # fmt: skip


@pytest.mark.parametrize("changed", [False, True])
async def test_a_standing_approval_lapses_when_a_file_that_its_tasks_run_changes(
    changed: bool, project: Path
) -> None:
    sandbox = _sandbox()
    async with at_work(argv("first"), DONE, sandbox=sandbox) as work:
        approval = work.silas.approval
        goal = _plan(project, **GOAL)
        files = dict(preview_files(goal))
        assert list(files) == [f"{project}/work.sh"]
        binds = {BINDS: {"files": files, **await _bound(work, goal)}}
        token = await approval.issue_token(
            subject_of(goal), a_decision(), ApprovalScope.standing, conditions=binds,
            max_executions=3,
        )  # fmt: skip
        failed = VerificationResult(name="written", passed=False, reason="```sh\nsh tool.py\n```")
        report = VerificationReport(
            all_passed=False, results=[failed], timestamp=datetime(2026, 1, 1, tzinfo=UTC)
        )
        task = spawn_task(goal, report)
        assert await approval.verify(token, subject_of(goal), subject_of(task))
        task.approval_token = token
        await work.silas.store.save(task)
        (project / "tool.py").write_text("what failed names it, and the plan does not\n")
        if changed:
            (project / "work.sh").write_text("echo something else\n")
        result = await work.execute(task)
        wanted = WorkItemStatus.blocked if changed else WorkItemStatus.done
        assert result.status is wanted, result.summary
        assert ("work.sh" in result.summary) is changed
        assert bool(sandbox.runs) is not changed


async def _bound(work: Work, goal: WorkItem) -> dict[str, Any]:
    """What an ordinary approval of the same plan binds besides the files."""
    item = a_plan(id="task-other", workspace=goal.workspace, verify=[])
    approved = await _approved(work, item)
    assert approved.approval_token is not None
    return approved.approval_token.conditions[BINDS]


def test_the_command_line_lists_the_files_and_runs_what_is_approved(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    project, plan = tmp_path / "project", tmp_path / "plan.md"
    project.mkdir()
    (project / "work.sh").write_text("echo done > result.txt\n")
    text = sh_plan("sh work.sh", workspace=str(project), verify=check("test -s result.txt"))
    plan.write_text(text)
    shown = run(silas("plan", "check", plan), env)
    digest = sha256_hex((project / "work.sh").read_bytes())
    assert f"  sha256:{digest}" in shown.out
    done = run(silas("run", plan, "--approve", shown.out.splitlines()[-1]), env)
    assert done.code == 0, done.err
    assert (project / "result.txt").read_text() == "done\n"


def test_a_hash_on_the_command_line_approves_the_files_that_were_shown(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    project, plan = tmp_path / "project", tmp_path / "plan.md"
    project.mkdir()
    (project / "work.sh").write_text("echo done > result.txt\n")
    plan.write_text(
        sh_plan("sh work.sh", workspace=str(project), verify=check("test -s result.txt"))
    )
    shown = json.loads(run(silas("plan", "check", plan, "--json"), env).out)
    (project / "work.sh").write_text("echo something else > result.txt\n")
    changed = run(silas("run", plan, "--approve", shown["approve"]), env)
    assert changed.code == 3, changed.err
    assert f"changed since: `{project / 'work.sh'}`." in " ".join(
        (changed.out + changed.err).split()
    )
    assert not (project / "result.txt").exists()
    alone = run(silas("run", plan, "--approve", f"sha256:{shown['plan_hash']}"), env)
    assert "with the files it runs as they are now" in " ".join((alone.out + alone.err).split())


def test_the_card_of_a_plan_is_not_the_same_for_other_files(project: Path) -> None:
    item = _plan(project, body=_sh("sh work.sh"))
    before = plan_card(plan_bytes(item), rationale="Why.", files=preview_files(item))
    (project / "work.sh").write_text("echo something else\n")
    after = plan_card(plan_bytes(item), rationale="Why.", files=preview_files(item))
    assert before != after
