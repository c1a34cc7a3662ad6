"""What the work leaves in the way of its checks is no verdict, and what it changed of them is told.

Spec 5.3: verification is outside the agent's reach.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from silas.plans import VerificationCheck, WorkItemStatus
from silas.work.changes.copy_view import tree_of
from silas.work.checks.check_files import changed_files
from silas.work.checks.shadowing import shadows
from silas.workspace.copy import Change
from silas.workspace.tree import TreeEntry
from tests.support.command import environment, run, silas
from tests.support.plans import check, sh_plan
from tests.work.kit import DONE, at_work, sh

FORGED = "import os; os._exit(0)"
TESTS = "def test_add():\n    from calc import add\n    assert add(1, 2) == 3\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    at = tmp_path / "project"
    (at / "tests").mkdir(parents=True)
    (at / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (at / "tests/test_calc.py").write_text(TESTS)
    (at / "check.py").write_text(
        "import json\nfrom calc import add\n"
        "assert json.loads('[1]') == [1]\nassert add(1, 2) == 3\n"
    )
    return at


def _checks(command: str) -> list[dict[str, Any]]:
    return [{"name": "right", "run": command, "expect": {"exit_code": 0}}]


SHADOWS = {
    "a module of Python's own": ("echo '{forged}' > json.py", "python3 check.py", "json.py"),
    "the same, imported in text": (
        "echo '{forged}' > json.py",
        "python3 -c 'import json; json.loads(open(\"calc.json\").read())'",
        "json.py",
    ),
    "a package of the standard library": (
        "mkdir json; echo '{forged}' > json/__init__.py",
        "python3 check.py",
        "json/__init__.py",
    ),
    "the runner": ("echo '{forged}' > pytest.py", "python3 -m pytest -q", "pytest.py"),
    "a part of the runner": (
        "mkdir _pytest; echo '{forged}' > _pytest/__init__.py",
        "python3 -m pytest -q",
        "_pytest/__init__.py",
    ),
    "behind a script for a shell": ("echo '{forged}' > json.py", "sh ./check.sh", "json.py"),
    "in a directory of the path": (
        "mkdir more; echo '{forged}' > more/json.py",
        "PYTHONPATH=more python3 check.py",
        "more/json.py",
    ),
    "at the start": (
        "mkdir more; echo '{forged}' > more/sitecustomize.py",
        "export PYTHONPATH=more; python3 check.py",
        "more/sitecustomize.py",
    ),
    "a program earlier on the path": (
        "mkdir tools; echo true > tools/python3; chmod +x tools/python3",
        "PATH=tools:$PATH python3 check.py",
        "tools/python3",
    ),
    "a link": ("ln -s calc.py json.py", "python3 check.py", "json.py"),
    "beside the tests": (
        "echo '{forged}' > tests/queue.py",
        "python3 -m pytest tests",
        "tests/queue.py",
    ),
}  # fmt: skip
"""What the work does, the check, and the file that is named."""


@pytest.mark.parametrize("name", SHADOWS)
async def test_a_check_that_would_run_what_the_work_left_in_its_way_is_refused(
    name: str, project: Path
) -> None:
    work, command, named = SHADOWS[name]
    (project / "check.sh").write_text("python3 check.py\n")
    steps = (sh(work.replace("{forged}", FORGED)), DONE)
    async with at_work(*steps, *steps) as at:
        result = await at.run(
            workspace=str(project), verify=_checks(command), budget={"max_attempts": 3}
        )
        assert result.status is WorkItemStatus.blocked
        assert result.summary.startswith("The verdict is refused: the work added or changed")
        assert named in result.summary
        assert "'right'" in result.summary
        assert (await at.stored()).attempts == 1  # it is not tried again as failed work
        assert "verification_finished" not in await at.events()
        assert not (project / named).exists()


async def test_a_module_that_was_there_before_is_the_projects_own(project: Path) -> None:
    (project / "json.py").write_text("def loads(text):\n    return [1]\n")
    async with at_work(sh("echo 'def add(a, b): return a + b' > calc.py"), DONE) as at:
        result = await at.run(workspace=str(project), verify=_checks("python3 check.py"))
        assert result.status is WorkItemStatus.done, result.summary


async def test_such_a_module_that_the_work_changed_is_refused(project: Path) -> None:
    (project / "json.py").write_text("def loads(text):\n    return [1]\n")
    async with at_work(sh(f"echo '{FORGED}' >> json.py"), DONE) as at:
        result = await at.run(workspace=str(project), verify=_checks("python3 check.py"))
        assert result.status is WorkItemStatus.blocked
        assert "json.py" in result.summary


async def test_a_compiled_module_that_the_work_left_beside_its_source_is_not_run(
    project: Path,
) -> None:
    """Python takes `__pycache__` for the source where time and size agree, or nobody compares."""
    forge = (
        "import importlib._bootstrap_external as b, importlib.util as u, pathlib, marshal;"
        "p = pathlib.Path(u.cache_from_source('calc.py')); p.parent.mkdir(exist_ok=True);"
        "c = compile('def add(a, b): return 3', 'calc.py', 'exec');"
        "p.write_bytes(b._code_to_hash_pyc(c, b'12345678', False))"
    )
    async with at_work(sh(f'python3 -c "{forge}"'), DONE) as at:
        result = await at.run(
            workspace=str(project), verify=_checks("python3 check.py"), budget={"max_attempts": 1}
        )
        assert result.status is WorkItemStatus.stuck


def _change(path: str, *, before: bool = False, executable: bool = False) -> Change:
    entry = TreeEntry("file", 0o755 if executable else 0o644, "00", 1)
    return Change(path, entry if before else None, entry)


def _shadowed(project: Path, command: str, *changes: Change) -> list[str]:
    for change in changes:
        (project / change.path).parent.mkdir(parents=True, exist_ok=True)
        (project / change.path).write_text("")
    one = VerificationCheck.model_validate(_checks(command)[0])
    return [shadow.path for shadow in shadows(changes, [one], tree_of(project))]


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python3 -m pytest -q", "utils.py"),
        ("python3 -m pytest -q", "tests/test_more.py"),
        ("python3 -m pytest -q", "tests/conftest.py"),
        ("python3 -m pytest -q", "test/__init__.py"),
        ("python3 -m pytest -q", "app/types.py"),
        ("python3 -m pytest -q", "src/app/logging.py"),
        ("python3 -m pytest -q", "json.txt"),
        ("python3 -m pytest -q", "code/main.js"),
        ("python3 -m pytest -q", "docs/calendar.md"),
        ("python3 -m pytest -q", "model.pth"),
        ("python3 -I check.py", "json.py"),
        ("python3 -BI -c 'import json'", "json.py"),
        ("test -s calendar.py && grep -q def calendar.py", "calendar.py"),
        ("node --test", "json.py"),
        ("cd web && npm test", "web/json.py"),
        ("python3 calc.py", "calc.py"),
        ("./hello | grep -q hello", "hello"),
        ("./bin/hello", "bin/hello"),
    ],
)
def test_ordinary_work_is_not_refused(project: Path, command: str, path: str) -> None:
    (project / "app").mkdir()
    (project / "app/__init__.py").write_text("")
    (project / "src/app").mkdir(parents=True)
    (project / "src/app/__init__.py").write_text("")
    assert _shadowed(project, command, _change(path, executable=path.endswith("hello"))) == []


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("pytest -q", "env/bin/pytest"),
        ("env/bin/pytest -q", "env/bin/pytest"),
        ("timeout 60 npx jest", "packages/a/tools/.bin/jest"),
        ("pytest", "env/lib/python3.12/site-packages/_pytest/main.py"),
        ("pytest", "env/lib/python3.12/site-packages/evil.pth"),
        ("pytest", "env/lib/python3.12/site-packages/sitecustomize.py"),
        ("pytest", "env/pyvenv.cfg"),
        ("cd sub && python3 -m unittest", "sub/unittest.py"),
        ("python3 scripts/check.py", "scripts/re.py"),
        ("make test", "subprocess.py"),
        ("bash -c 'python3 -m mypy .'", "mypy/__init__.py"),
        ("python3 -m pytest -q", "random.cpython-311-x86_64-linux-gnu.so"),
    ],
)
def test_other_ways_into_a_verdict_are_found(project: Path, command: str, path: str) -> None:
    (project / "env").mkdir()
    (project / "env/pyvenv.cfg").write_text("")
    assert _shadowed(project, command, _change(path, executable=True)) == [path]


CHANGED = {
    "a test": ("python3 -m pytest -q", "tests/test_calc.py"),
    "a test that is named": ("pytest tests/test_calc.py::test_add", "tests/test_calc.py"),
    "a fixture": ("python3 -m pytest -q tests", "tests/conftest.py"),
    "the runner's settings": ("pytest", "pytest.ini"),
    "more settings": ("pytest", "pyproject.toml"),
    "a script": ("python3 check.py", "check.py"),
    "a script of a shell": ("cd tests && sh ./check.sh", "tests/check.sh"),
    "a makefile": ("make test", "Makefile"),
    "scripts of a package": ("npm test", "package.json"),
    "a linter's settings": ("ruff check .", "ruff.toml"),
    "a test of another language": ("npx jest", "src/add.test.ts"),
    "an absolute path": ("sh /w/check.sh", "check.sh"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("before", [False, True])
def test_a_file_that_a_check_runs_is_told_where_the_work_changed_it(
    name: str, before: bool, project: Path
) -> None:
    command, path = CHANGED[name]
    one = VerificationCheck.model_validate(_checks(command)[0])
    changes = [_change(path, before=before), _change("calc.py", before=True)]
    assert changed_files(changes, [one], "/w", tree_of(project)) == (path,)


@pytest.mark.parametrize(
    "command",
    [
        "test -s calc.py",
        "grep -q def calc.py",
        "python3 -c 'import calc'",
        "cat calc.py",
        "python3 -I -c 'import os, sys; sys.exit(os.path.lexists(sys.argv[1]))' calc.py",
        "python3 -I -c 'import re, sys; re.compile(open(sys.argv[1]).read())' calc.py",
        "python3 -I -c \"import sys; open(sys.argv[1], 'rb').read().replace(b'a', b'')\" calc.py",
        "python3 -I -c 'import pathlib, sys; pathlib.Path(sys.argv[1]).open().read()' calc.py",
        "python3 -I -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).namelist()' calc.py",
        "python3 -I -c \"import shutil; shutil.which('sh').copy()\" calc.py",
    ],
)
def test_what_a_check_only_looks_at_is_what_the_work_was_about(command: str, project: Path) -> None:
    one = VerificationCheck.model_validate(_checks(command)[0])
    changes = [_change("calc.py", before=True)]
    assert changed_files(changes, [one], "/w", tree_of(project)) == ()


@pytest.mark.parametrize(
    "code",
    [
        "import sys; exec(open(sys.argv[1]).read())",
        "import sys; getattr(sys.modules, chr(101))(sys.argv[1])",
        "import runpy, sys; runpy.run_path(sys.argv[1])",
        "import os, sys; os.execv(sys.argv[1], sys.argv)",
        "import sys; compile(open(sys.argv[1]).read(), str(), str())",
        "import sys; sys.path.insert(0, sys.argv[1]); import other",
        "import sys, zipimport; zipimport.zipimporter(sys.argv[1]).load_module(sys.argv[2])",
        "import asyncio, sys; asyncio.run(asyncio.create_subprocess_exec(sys.argv[1]))",
        "import sqlite3, sys; sqlite3.connect(str()).load_extension(sys.argv[1])",
        "import doctest, sys; doctest.testfile(sys.argv[1])",
        "import logging.config, sys; logging.config.fileConfig(sys.argv[1])",
        "from os import *; from sys import argv; system(argv[1])",
        "from os import system as see; from sys import argv; see(argv[1])",
        "import operator, os, sys; operator.methodcaller(str(1), sys.argv[1])(os)",
        "import operator, os, sys; operator.attrgetter(str(1) + str(2))(os)(sys.argv[1])",
        "import os, sys; other = os; other.system(sys.argv[1])",
        "import os as path, sys; path.system(sys.argv[1])",
        "import shutil, sys; shutil.os.system(sys.argv[1])",
        "import sys, zipfile; zipfile.importlib.import_module(sys.argv[1])",
        "import sys; [one for one in sys.modules.values()][0].get(sys.argv[1])",
        "import sys; sys.meta_path.insert(0, sys.argv[1])",
        "import ast, sys; ast.NodeVisitor().visit(sys.argv[1])",
        "no python (",
    ],
)
def test_inline_python_that_may_run_what_it_is_given_is_told(code: str, project: Path) -> None:
    for given in (f"python3 -I -c '{code}' calc.py", "python3 -c 'import sys' calc.py"):
        one = VerificationCheck.model_validate(_checks(given)[0])
        changes = [_change("calc.py", before=True)]
        assert changed_files(changes, [one], "/w", tree_of(project)) == ("calc.py",)


@pytest.mark.parametrize(
    "code",
    [
        "import shutil, sys; shutil.copy(sys.argv[1], 'run.py')",
        "from shutil import move; from sys import argv; move(argv[1], 'run.py')",
        "import pathlib, sys; pathlib.shutil.copy(sys.argv[1], 'run.py')",
        "import sys; open('run.py', 'w').write(open(sys.argv[1]).read())",
        "import sys; open('run.py', mode='x').write(open(sys.argv[1]).read())",
        "import sys; open('run.py', *'w').write(open(sys.argv[1]).read())",
        "import sys; open('run.py', chr(119)).write(open(sys.argv[1]).read())",
        "import sys; see = open; see('run.py', 'w').write(see(sys.argv[1]).read())",
        "import sys; list(map(open, ['run.py', sys.argv[1]], ['w', 'r']))",
        "import io, sys; io.open('run.py', 'w').write(open(sys.argv[1]).read())",
        "import io, sys; io.FileIO('run.py', 'w').write(open(sys.argv[1], 'rb').read())",
        "import sys, tarfile; tarfile.bltn_open('run.py', 'w').write(open(sys.argv[1]).read())",
        "from io import open as see; import sys; see('run.py', 'w').write(see(sys.argv[1]).read())",
        "import pathlib, sys; pathlib.Path('run.py').write_text(open(sys.argv[1]).read())",
        "import pathlib, sys; pathlib.Path('run.py').open('w').write(open(sys.argv[1]).read())",
        "import pathlib, sys; pathlib.Path('run.py').open(mode='w').write(open('calc.py').read())",
        "import pathlib, sys; pathlib.Path(sys.argv[1]).rename('run.py')",
        "import pathlib, sys; pathlib.Path(sys.argv[1]).replace('run.py')",
        "import pathlib, sys; [*map(pathlib.Path(sys.argv[1]).replace, ['run.py'])]",
        "import pathlib, sys; pathlib.Path(sys.argv[1]).copy('run.py')",
        "import pathlib, sys; pathlib.Path('run.py').symlink_to(sys.argv[1])",
        "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall()",
        "import sys, tarfile; tarfile.open(sys.argv[1]).extract('run.py')",
        "import sys, zipfile; zipfile.ZipFile('run.py', 'w').write(sys.argv[1], '__main__.py')",
        "import sys, zipfile; zipfile.main(['-e', sys.argv[1], '.'])",
    ],
)
def test_inline_python_that_may_write_what_another_command_runs_is_told(
    code: str, project: Path
) -> None:
    given = f'python3 -I -c "{code}" calc.py && python3 run.py'
    one = VerificationCheck.model_validate(_checks(given)[0])
    changes = [_change("calc.py", before=True)]
    assert changed_files(changes, [one], "/w", tree_of(project)) == ("calc.py",)


@pytest.mark.parametrize("plan", sorted(Path("silas/plans/library").glob("*.md")), ids=str)
def test_no_check_of_the_library_is_said_to_run_what_it_looks_at(plan: Path, project: Path) -> None:
    front = plan.read_text("utf-8").split("---")[1]
    for code in re.findall(r'\$python -c (".*?")(?: |$)', front, re.MULTILINE):
        one = VerificationCheck.model_validate(_checks(f"python3 -I -c {code} calc.py")[0])
        changes = [_change("calc.py", before=True)]
        assert changed_files(changes, [one], "/w", tree_of(project)) == ()


async def test_a_result_says_which_files_of_its_own_checks_the_work_changed(project: Path) -> None:
    weakened = "echo 'def test_add(): pass' > tests/test_calc.py"
    async with at_work(sh(weakened), DONE) as at:
        verify = _checks("python3 tests/test_calc.py")
        result = await at.run(workspace=str(project), verify=verify)
        assert result.status is WorkItemStatus.done
        said = "This work changed what its own checks run: tests/test_calc.py."
        assert result.summary == f"Done and verified: right. {said}"
        assert result.checks_changed == ["tests/test_calc.py"]
        kept = await at.silas.store.get_result("task-example")
        assert kept is not None
        assert kept.checks_changed == ["tests/test_calc.py"]


def test_the_command_line_tells_both(tmp_path: Path, project: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0

    def ran(name: str, *commands: str) -> Any:
        plan = tmp_path / f"{name}.md"
        given = {"workspace": str(project), "verify": check("python3 check.py")}
        plan.write_text(sh_plan(*commands, id=f"task-{name}", **given))
        digest = run(silas("plan", "check", plan), env).out.splitlines()[-1]
        return run(silas("run", plan, "--approve", digest, "--json"), env)

    forged = ran("forged", f"echo '{FORGED}' > json.py")
    assert forged.code != 0
    assert "The verdict is refused" in forged.out
    assert "json.py" in forged.out
    told = ran("told", "cp tests/test_calc.py check.py")
    said = json.loads(told.out)
    assert "what its own checks run: check.py" in said["summary"]
    assert said["checks_changed"] == ["check.py"]
