"""What a runbook needs is looked for before its card, in the project and not in Silas."""

from pathlib import Path

import pytest

from silas.plans import PlanLibrary, shipped_plans
from silas.plans.runbooks.requirements import installations
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import saying_yes

PASSING = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n"
BROKEN = PASSING.replace("pass", 'a = "".join(["o", "n"])\n        assert a is "on"')


def project(tmp_path: Path, test: str) -> Path:
    place = tmp_path / "a project"
    place.mkdir()
    (place / "test_it.py").write_text(test, encoding="utf-8")
    return place


async def test_tests_run_with_unittest_where_the_project_has_nothing_else(tmp_path: Path) -> None:
    place = project(tmp_path, PASSING)
    async with Harness(ScriptedChannel(saying_yes)) as h:
        reply = await h.silas.ask("run the tests", workspace=place)
        assert reply.plan is not None, reply.text
        result = await h.silas.wait(reply.plan.id)
    assert result is not None
    assert result.status == "done", result.summary
    assert "Ran 1 test" in result.output
    assert reply.plan.verify[0].run.startswith("python3 -B")
    assert [path.name for path in place.iterdir()] == ["test_it.py"]


async def test_tests_that_need_pytest_are_refused_before_a_card_with_what_to_do(
    tmp_path: Path,
) -> None:
    place = project(tmp_path, "def test_it():\n    assert True\n")
    venv = place / ".venv" / "bin"
    venv.mkdir(parents=True)
    (venv / "python").symlink_to("/usr/bin/python3")
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel) as h:
        reply = await h.silas.ask("run the tests", workspace=place)
    assert (reply.outcome, reply.plan, channel.cards) == ("blocked", None, [])
    assert ".venv/bin/pip install pytest" in reply.text


async def test_the_projects_own_environment_is_used(tmp_path: Path) -> None:
    place = project(tmp_path, "def test_it():\n    assert True\n")
    venv = place / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to("/usr/bin/python3")
    (venv / "lib" / "python3.11" / "site-packages" / "pytest").mkdir(parents=True)
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        reply = await h.silas.ask("run the tests", workspace=place)
    assert reply.plan is not None, reply.text
    assert (
        reply.plan.verify[0].run
        == f"'{place}'/.venv/bin/python -B -m pytest -q -p no:cacheprovider"
    )


async def test_without_a_linter_the_runbook_that_needs_none_does_the_job(tmp_path: Path) -> None:
    place = project(tmp_path, BROKEN)
    async with Harness(ScriptedChannel(saying_yes)) as h:
        reply = await h.silas.ask("fix the failing test", workspace=place)
        assert reply.plan is not None, reply.text
        result = await h.silas.wait(reply.plan.id)
    assert result is not None
    assert result.status == "done", result.summary
    assert 'a == "on"' in (place / "test_it.py").read_text()
    assert "The linter ruff is missing" in reply.text


def test_a_link_of_a_workspace_opens_no_directory_that_is_no_python(tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "bin"
    secret.mkdir(parents=True)
    (secret / "python").touch()
    place = project(tmp_path, PASSING)
    (place / ".venv" / "bin").mkdir(parents=True)
    (place / ".venv" / "bin" / "python").symlink_to(secret / "python")
    assert installations(place, "") == []


@pytest.mark.parametrize("name", ["lint-fix", "run-tests", "fix-comparisons"])
def test_no_shipped_runbook_names_an_interpreter_of_silas(name: str) -> None:
    library = PlanLibrary([shipped_plans()])
    plan = library.plan_named(name)
    assert plan is not None
    assert [one.name for one in plan.requires][:2] == ["interpreter", "tests"]
    assert "pytest" not in str(plan.front)
