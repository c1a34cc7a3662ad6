"""A test run that something ended early, or that was empty, is no pass (spec 5.3, D463)."""

from pathlib import Path
from typing import Any

import pytest

from silas.plans import WorkItemStatus
from silas.work.changes.copy_view import tree_of
from silas.work.checks.runner_summary import NO_TESTS, UNFINISHED, why_no_pass
from tests.work.kit import DONE, at_work, sh

TEST = (
    "import unittest\nfrom calc import add\n\nclass Adding(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
)
ENDS = "import os; os._exit(0)"
RIGHT = "def add(a, b): return a + b"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    at = tmp_path / "project"
    at.mkdir()
    (at / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (at / "test_calc.py").write_text(TEST)
    return at


def _checks(command: str) -> list[dict[str, Any]]:
    return [{"name": "tests", "run": command, "expect": {"exit_code": 0}}]


COMMANDS = (
    "python3 -m unittest",
    "python3 -m unittest -q test_calc",
    "timeout 60 python3 -B -m unittest discover -s . 2>&1",
    "cd . && sh -c 'python3 -m unittest'",
)


@pytest.mark.parametrize("command", COMMANDS)
async def test_tests_that_a_module_ends_with_success_are_no_pass(
    command: str, project: Path
) -> None:
    async with at_work(sh(f"echo '{ENDS}' > calc.py"), DONE) as at:
        result = await at.run(
            workspace=str(project), verify=_checks(command), budget={"max_attempts": 1}
        )
        assert result.status is WorkItemStatus.stuck
        (check,) = result.verification_results[-1]["results"]
        assert check["exit_code"] == 0
        assert check["reason"] == UNFINISHED.format(runner="unittest")
    assert "_exit" not in (project / "calc.py").read_text()


@pytest.mark.parametrize("command", COMMANDS)
async def test_tests_that_come_to_their_end_pass(command: str, project: Path) -> None:
    async with at_work(sh(f"echo '{RIGHT}' > calc.py"), DONE) as at:
        result = await at.run(workspace=str(project), verify=_checks(command))
        assert result.status is WorkItemStatus.done, result.summary


async def test_a_run_of_no_tests_proves_nothing(project: Path) -> None:
    """Python 3.12 ends with 5, 3.11 with 0."""
    async with at_work(sh("rm test_calc.py"), DONE) as at:
        result = await at.run(
            workspace=str(project),
            verify=_checks("python3 -m unittest"),
            budget={"max_attempts": 1},
        )
        assert result.status is WorkItemStatus.stuck
        (check,) = result.verification_results[-1]["results"]
        assert (check["exit_code"], check["reason"]) in (
            (0, NO_TESTS),
            (5, "exit code 5, expected 0"),
        )


DOTS = ".....                     [100%]\n"
PYTEST = f"{DOTS}5 passed in 0.10s\n"
LONG = "===== \x1b[32m\x1b[1m5 passed\x1b[0m, 1 warning in 0.1s =====\n"
UNITTEST = ".\n-----\nRan 1 test in 0.000s\n\nOK\n"
EMPTY = "\n-----\nRan 0 tests in 0.000s\n\nOK\n"
PYTEST_CUT = UNFINISHED.format(runner="pytest")
UNITTEST_CUT = UNFINISHED.format(runner="unittest")

LIBRARY = (
    "python3 -B -c \"import sys, unittest; done = unittest.main(None, argv=['unittest', "
    "'discover'], exit=False).result; sys.exit('No tests were found.' if not done.testsRun else "
    'not done.wasSuccessful())"'
)
"""What the runbook for "run the tests" runs in a project without pytest."""

JUDGED: tuple[tuple[str, str, str], ...] = (
    # a summary is there
    ("pytest -q", PYTEST, ""),
    ("pytest", LONG, ""),
    ("python -m pytest tests -x", "1 passed, 2 skipped in 3s", ""),
    ("pytest -q && ruff check .", PYTEST + "All checks passed!", ""),
    ("python3 -m unittest -v", UNITTEST, ""),
    ("python3 -m unittest a && python3 -m unittest b", UNITTEST + UNITTEST, ""),
    # it must be there, and is not
    ("pytest -q", "", PYTEST_CUT),
    ("pytest -q", "collecting ...\n", PYTEST_CUT),
    ("py.test", "..", PYTEST_CUT),
    ("/usr/bin/python3.12 -m pytest tests/test_a.py::test_b", "..", PYTEST_CUT),
    (".venv/bin/pytest -q", "", PYTEST_CUT),
    ("uv run pytest -q", "", PYTEST_CUT),
    ("coverage run -m pytest", "", PYTEST_CUT),
    ("env A=1 nice -n 5 timeout -k 5 60s python -B -m pytest -q 2>&1", "", PYTEST_CUT),
    ("cd sub\nPYTHONPATH=src pytest -q", "", PYTEST_CUT),
    ("bash -c 'pytest -q'", "", PYTEST_CUT),
    ("python3 -m unittest", "", UNITTEST_CUT),
    ("python3 -m unittest", "Ran 1 test in 0.1s\n", UNITTEST_CUT),
    ("python3 -m unittest a && python3 -m unittest b", UNITTEST, UNITTEST_CUT),
    ("pytest -q && python3 -m unittest", PYTEST, UNITTEST_CUT),
    ("bash -c 'python3 -m unittest && echo over'", "over", UNITTEST_CUT),
    ("python3 -B -c \"import unittest; unittest.main('tests')\"", "", UNITTEST_CUT),
    (LIBRARY, "", UNITTEST_CUT),
    (LIBRARY, UNITTEST, ""),
    ("pytest -q -k 'a or b' 'tests/if x.py'", "", PYTEST_CUT),
    # nothing was tested
    ("python3 -m unittest", EMPTY, NO_TESTS),
    ("python3 -m unittest 2>&1 | tail -4", EMPTY, NO_TESTS),
    ("python3 -m unittest a; python3 -m unittest b", EMPTY + UNITTEST, ""),
    # it cannot be expected
    ("pytest -qq", "", ""),
    ("pytest -q -q", "", ""),
    ("PYTEST_ADDOPTS='-q' pytest -q", "", ""),
    ("pytest --version", "", ""),
    ("python -m pytest --collect-only -q", "", ""),
    ("pytest -p no:terminal", "", ""),
    ("pytest -q > out.txt", "", ""),
    ("pytest -q 2>/dev/null 1>&2", "", ""),
    ("pytest -q | tail -1", "", ""),
    ("pytest -q || true", "", ""),
    ("ruff check . || python -m unittest", "", ""),
    ("if test -d tests; then pytest -q; fi", "", ""),
    ("test -d tests && pytest -q; echo over", "over", ""),
    ("! pytest -q", "", ""),
    ("pytest -q & wait", "", ""),
    ("out=$(pytest -q) && echo $out", "", ""),
    ("bash -c 'pytest -q | tail -1'", "", ""),
    ('echo "$(pytest -q)"', "", ""),
    ("python3 -c 'import unittest; unittest.main(testRunner=mine)'", "", ""),
    ("make test", "", ""),
    ("tox -q", "", ""),
    # it runs none of them
    ("echo pytest -q", "pytest -q", ""),
    ("timeout 5 echo pytest", "pytest", ""),
    ("uv pip install pytest", "", ""),
    ("command -v pytest", "/usr/bin/pytest", ""),
    ("grep -q unittest test_calc.py", "", ""),
    ("python3 -c 'import pytest'", "", ""),
    ("test -s tests/pytest.ini", "", ""),
    ("python3 test_calc.py", "", ""),
)


@pytest.mark.parametrize(("command", "printed", "reason"), JUDGED)
def test_a_summary_is_asked_for_only_where_it_must_be_there(
    command: str, printed: str, reason: str, tmp_path: Path
) -> None:
    assert why_no_pass(command, printed, tree_of(tmp_path)) == reason


@pytest.mark.parametrize(
    ("place", "settings", "command", "reason"),
    [
        ("pytest.ini", "[pytest]\naddopts = -q\n", "pytest", PYTEST_CUT),
        ("pytest.ini", "[pytest]\naddopts = -q\n", "pytest -q", ""),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-ra", "-qq"]', "pytest", ""),
        ("setup.cfg", "[tool:pytest]\naddopts = -p no:terminal\n", "pytest", ""),
        ("pyproject.toml", '[project]\nname = "a-qq"\n', "pytest", PYTEST_CUT),
        ("sub/tox.ini", "[pytest]\naddopts=-qq\n", "cd sub && pytest", ""),
        ("sub/pytest.ini", "[pytest]\naddopts=-qq\n", "pytest sub/tests/test_a.py::test_b", ""),
        ("other/pytest.ini", "[pytest]\naddopts=-qq\n", "pytest sub", PYTEST_CUT),
    ],
)
def test_settings_of_the_project_may_leave_the_summary_out(
    place: str, settings: str, command: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(settings)
    assert why_no_pass(command, "", tree_of(tmp_path)) == reason


def test_what_pytest_prints_at_the_end_of_very_quiet_tests_is_an_end(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q\n")
    assert why_no_pass("pytest", DOTS, tree_of(tmp_path)) == ""


def test_hostile_output_costs_no_time(tmp_path: Path) -> None:
    for part in ("1", "1 ", " passed", "\x1b[", "Ran 1", "[100%] "):
        assert why_no_pass("pytest -q", part * 200_000 + "x", tree_of(tmp_path)) in ("", PYTEST_CUT)
