"""Work runs with the tools that the owner can run: found, on the card, bound, shown read-only."""

import sys
import venv
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.cards import PlanCard
from silas.language import speak
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.sandbox.toolchains.table import RULES
from silas.testing import Harness, ScriptedModel, a_plan
from silas.types import OWNER
from tests.stream.kit import answer, to_planner
from tests.work.kit import DONE, Work, argv, at_work, owner, sh

DISCOVER: dict[str, Any] = {"sandbox": {"tools": {"discover": True}}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "result.txt").write_text("before")
    return place.resolve()


@pytest.fixture(autouse=True)
def an_empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    for moved in filter(None, (rule.variable for rule in RULES)):
        monkeypatch.delenv(moved, raising=False)
    return home


def environment(project: Path) -> Path:
    """A real environment with a test runner of its own, which says that it is the real one."""
    home = project / ".venv"
    venv.create(home, symlinks=True, with_pip=False)
    [site] = home.glob("lib/python3*/site-packages")
    (site / "pytest").mkdir()
    (site / "pytest" / "__init__.py").write_text("")
    (site / "pytest" / "__main__.py").write_text("print('the real pytest')\n")
    (site / "pytest-8.3.1.dist-info").mkdir()
    runner = home / "bin" / "pytest"
    runner.write_text("#!/bin/sh\necho the real pytest\n[ $# = 0 ] || echo 8.3.1\n")
    runner.chmod(0o755)
    return home


@asynccontextmanager
async def working(*steps: Any, **given: Any) -> AsyncGenerator[Work]:
    async with at_work(*steps, DONE, settings=DISCOVER, **given) as work:
        yield work


async def approved(work: Work, **fields: Any) -> WorkItem:
    """A plan that the owner approved on a card, so that its token binds what was found."""
    item = a_plan(**{"budget": {"max_attempts": 1}, **fields})
    silas = work.silas
    proposal = await silas.runs.proposer.propose(item, silas.runs.channel, OWNER, "Why not.")
    assert proposal.verdict == "approved", proposal.words
    return item


async def ran(work: Work, **fields: Any) -> WorkItemResult:
    return await work.execute(await approved(work, **fields))


def _check(run: str, contains: str) -> list[dict[str, Any]]:
    return [{"name": "look", "run": run, "expect": {"contains": contains}}]


async def test_work_and_its_checks_run_with_the_projects_own_environment(project: Path) -> None:
    environment(project)
    checks = [
        *_check("python -m pytest && pytest", "the real pytest\nthe real pytest"),
        {"name": "which", "run": "python -c 'import sys; print(sys.prefix)'"}
        | {"expect": {"contains": str(project / ".venv")}},
    ]
    async with working(argv("python", "-m", "pytest"), argv("pytest")) as work:
        result = await ran(work, workspace=str(project), verify=checks)
        assert result.status is WorkItemStatus.done, result.summary
        assert result.output.count("the real pytest") == 2


async def test_the_card_says_which_tools_there_are_in_one_line(project: Path) -> None:
    environment(project)
    channel = owner()
    async with working(sh("true"), channel=channel) as work:
        await ran(work, workspace=str(project))
    [card] = [card for card in channel.cards if isinstance(card, PlanCard)]
    lines = [line for detail in card.details for line in detail.lines]
    version = ".".join(map(str, sys.version_info[:3]))
    [said] = [line for line in lines if line.startswith("tools:")]
    assert said == f"tools: project .venv (Python {version}, pytest 8.3.1), system"
    assert "the programs of the tools above, by name, size and time:" in lines


PLANTS = (
    "echo 'echo forged' > .venv/bin/pytest",
    "rm -f .venv/bin/pytest",
    "mv .venv elsewhere",
    "rm -rf .venv",
    "ln -sf /bin/true .venv/bin/python",
    "mkdir -p .venv/bin/x",
    "chmod 777 .venv/bin",
)


@pytest.mark.parametrize("plant", PLANTS)
async def test_work_cannot_plant_a_program_where_commands_are_looked_for(
    project: Path, plant: str
) -> None:
    environment(project)
    async with working(sh(f"({plant}); true")) as work:
        checks = _check("pytest; python -m pytest", "the real pytest\nthe real pytest")
        result = await ran(work, workspace=str(project), verify=checks)
        assert result.status is WorkItemStatus.done, result.summary


@pytest.mark.parametrize("name", [".venv", "venv", "node_modules"])
async def test_an_environment_that_the_work_makes_is_not_in_the_path(
    project: Path, name: str
) -> None:
    place = f"{name}/{'.bin' if name == 'node_modules' else 'bin'}"
    plant = f"mkdir -p {place}; cp /bin/echo {place}/ls; $PWD/{place}/ls planted"
    async with working(sh(f"{plant}; ls result.txt; rm -r {name}")) as work:
        result = await ran(work, workspace=str(project), verify=_check("ls", "result.txt"))
        assert result.status is WorkItemStatus.done, result.summary
    said = [line.strip() for line in result.output.splitlines()]
    assert said[-2:] == ["planted", "result.txt"]


async def test_a_change_of_the_tools_after_the_approval_runs_nothing(project: Path) -> None:
    home = environment(project)
    async with working(sh("echo done > result.txt")) as work:
        item = await approved(work, workspace=str(project))
        (home / "bin" / "pytest").write_text("#!/bin/sh\necho forged\n")
        result = await work.execute(item)
        assert result.status is WorkItemStatus.blocked
        assert f"The tools in {home}/bin changed after the plan was approved" in result.summary
    assert (project / "result.txt").read_text() == "before"


async def test_tools_that_appear_after_the_approval_take_no_part(project: Path) -> None:
    async with working(sh("pytest; true")) as work:
        item = await approved(work, workspace=str(project))
        environment(project)
        result = await work.execute(item)
        assert "the real pytest" not in result.output


async def test_nothing_of_the_home_directory_is_shown_with_the_tools(
    project: Path, an_empty_home: Path
) -> None:
    cargo = an_empty_home / ".cargo"
    (cargo / "bin").mkdir(parents=True)
    (cargo / "bin" / "cargo").write_text("#!/bin/sh\necho cargo runs\n")
    (cargo / "bin" / "cargo").chmod(0o755)
    for secret in (cargo / "credentials.toml", cargo / "bin" / "credentials", an_empty_home / "x"):
        secret.write_text("hunter2")
    look = f"cargo; ls -A {an_empty_home} {cargo}; cat {cargo}/bin/credentials; echo end"
    async with working(sh(look)) as work:
        result = await ran(work, workspace=str(project), verify=_check(look, "cargo runs"))
        assert result.status is WorkItemStatus.done, result.summary
    said = result.output
    assert "cargo runs" in said
    assert "hunter2" not in said
    assert "credentials.toml" not in said
    assert "\nx" not in said


async def test_a_file_of_credentials_in_the_environment_is_covered(project: Path) -> None:
    (environment(project) / "pip.conf").write_text("index-url = https://me:hunter2@example.com")
    async with working(sh("cat .venv/pip.conf; echo end")) as work:
        look = "grep -c hunter2 .venv/pip.conf; echo end"
        result = await ran(work, workspace=str(project), verify=_check(look, "0\nend"))
        assert result.status is WorkItemStatus.done, result.summary
    assert "hunter2" not in result.output


async def test_the_executor_is_told_what_runs_there(project: Path) -> None:
    environment(project)
    async with working(sh("true")) as work:
        await ran(work, workspace=str(project))
        told = work.briefing(0)
    version = ".".join(map(str, sys.version_info[:3]))
    [runs] = [line for line in told.splitlines() if line.startswith("- runs there: ")]
    assert f"python {version} (also python3)" in runs
    assert "coreutils, awk, grep, sed, tar" in runs
    assert "pytest 8.3.1" in runs
    [absent] = [line for line in told.splitlines() if line.startswith("- not there: ")]
    assert not set(absent.split(": ")[1].split(", ")) & {"python", "pytest"}


@pytest.mark.parametrize(
    ("language", "told"), [("en", 0), ("de", 1)], ids=["as the prompt is", "another"]
)
async def test_the_executor_is_told_which_language_its_owner_reads(
    language: str, told: int, project: Path
) -> None:
    async with working(sh("true")) as work:
        speak(language)
        await ran(work, workspace=str(project))
        briefing = work.briefing(0)
    assert briefing.count("# Who reads the summary\n\nThe owner reads German.") == told
    assert briefing.count("# Who reads the summary") == told


async def test_the_planner_is_told_what_runs_there_and_who_routes_is_not(project: Path) -> None:
    environment(project)
    proxy, planner = ScriptedModel([to_planner()]), ScriptedModel([answer("No plan is needed.")])
    models = {"proxy": proxy, "planner": planner}
    async with Harness(owner(), models=models, settings=DISCOVER) as harness:
        await harness.silas.ask("fix the tests", workspace=project)
    assert "pytest 8.3.1" in planner.requests[0].text
    assert "runs_there: " in planner.requests[0].text
    assert "runs_there" not in proxy.requests[0].text


async def test_switched_off_there_are_the_commands_of_the_system_alone(project: Path) -> None:
    environment(project)
    async with at_work(argv("pytest"), DONE) as work:
        result = await ran(work, workspace=str(project))
        assert result.status is not WorkItemStatus.done
