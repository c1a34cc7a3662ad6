"""No Python program of ours imports from the directory one stands in, and none is told to.

Without `-I` the current directory is the first place that `python -m` imports from: a `json.py` or
a `silas/` there is run before any code of ours.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import ROOT, Ended, environment, run, silas
from tests.support.home import digest_of
from tests.support.plans import a_workspace, check, sh_plan
from tests.support.waits import SECONDS

WHERE = (
    "docs", "silas", "scripts", "plans", "web", "workers", "config",
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
)  # fmt: skip
SKIPPED = frozenset({"__pycache__", "node_modules", "vendor"})

IN_THE_SANDBOX = "runs in the sandbox, on the workspace's copy, where the project imports its own"
ALLOWED = {
    "silas/plans/library/lint-fix.md": IN_THE_SANDBOX,
    "silas/plans/library/run-tests.md": IN_THE_SANDBOX,
    "silas/plans/library/fix-comparisons.md": IN_THE_SANDBOX,
    "silas/skills/bundled/coding/SKILL.md": IN_THE_SANDBOX,
    "silas/agents/prompts/executor.md": IN_THE_SANDBOX,
    "silas/agents/prompts/planner.md": IN_THE_SANDBOX,
    "workers/maintainer.worker": IN_THE_SANDBOX,
    "plans/fix-bug.md": IN_THE_SANDBOX,
    "silas/main/demo.py": IN_THE_SANDBOX,
    "silas/sandbox/toolchains/probe.py": IN_THE_SANDBOX,
    "silas/work/checks/runner_summary.py": "reads command lines of checks; starts nothing",
    "scripts/quick.py": "runs the suite, whose tests import `tests.support`",
    "scripts/stress.py": "runs the suite, whose tests import `tests.support`",
    "scripts/mutants.py": "runs the suite of a private copy, whose tests import `tests.support`",
}
"""Files that may name `python -m` without `-I`, and why."""

_STARTS = re.compile(
    r"(?:\bpython[0-9.]*|\bexecutable)[\"'`\])}]*"  # `python3`, `$python`, `sys.executable`
    r"(?P<options>(?:[\s,]+[\"']?-[A-Za-z]+[\"']?)*?)"
    r"[\s,]+[\"']?-(?P<last>[A-Za-z]*)m\b"
)

HOSTILE = """\
import os
with open(os.environ["SILAS_TEST_MARK"], "a") as mark:
    mark.write(__file__ + "\\n")
print("The audit log is whole: 1 entries, 1 signed checkpoints, head 1:" + "0" * 64 + ".")
os._exit(0)
"""


def _unisolated(text: str) -> list[str]:
    return [
        found[0] for found in _STARTS.finditer(text) if "I" not in found["options"] + found["last"]
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("python -m silas", True),
        ("$ .venv/bin/python3.12 -B -m pip install x", True),
        ('[sys.executable, "-B", "-m", "silas"]', True),
        ('{"argv": ["python", "-m", "pytest"]}', True),
        ("$python -m pytest", True),
        ("python3 -Bm silas", True),
        ("python -I -m silas", False),
        ("python3 -BI -m silas", False),
        ('[sys.executable, "-I", "-m", "silas"]', False),
        ("python3 -Im silas", False),
        ('git commit -m "python"', False),
    ],
)
def test_the_search_finds_every_way_to_write_it(text: str, found: bool) -> None:
    assert bool(_unisolated(text)) is found


def _files() -> list[Path]:
    found = [ROOT / name for name in WHERE if (ROOT / name).is_file()]
    for name in WHERE:
        found += [p for p in sorted((ROOT / name).rglob("*")) if p.is_file()]
    return [p for p in found if not SKIPPED.intersection(p.relative_to(ROOT).parts)]


def test_no_python_m_without_isolation_is_documented_or_printed() -> None:
    found: dict[str, list[str]] = {}
    for path in _files():
        name = str(path.relative_to(ROOT))
        starts = _unisolated(path.read_bytes().decode("utf-8", "replace"))
        if starts and name not in ALLOWED:
            found[name] = starts
    assert found == {}


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A directory that looks as one that an attacker could leave behind."""
    place = tmp_path / "hostile"
    (place / "silas/audit").mkdir(parents=True)
    names = ("json.py", "hashlib.py", "sitecustomize.py", "usercustomize.py", "silas/__init__.py")
    for name in (*names, "silas/__main__.py", "silas/audit/__init__.py", "silas/audit/verify.py"):
        (place / name).write_text(HOSTILE)
    return place


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    mark = tmp_path / "mark"
    return environment(tmp_path / "home") | {"PATH": path, "SILAS_TEST_MARK": str(mark)}


def test_the_printed_command_believes_no_module_of_the_directory_one_stands_in(
    tmp_path: Path, hostile: Path, env: dict[str, str]
) -> None:
    assert run(silas("init"), env).code == 0
    assert run(silas("ask", "what can you do?"), env).code == 0
    export = tmp_path / "audit.jsonl"
    printed = run(silas("audit", "export", export), env)
    (command,) = [line.strip() for line in printed.out.splitlines() if "silas.audit.verify" in line]
    assert " -I " in command
    whole = run(["/bin/sh", "-c", command], env, cwd=hostile)
    assert (whole.code, whole.out[:23]) == (0, "The audit log is whole:")
    lines = export.read_text().splitlines()
    entry = next(n for n, line in enumerate(lines) if line.startswith('{"entry"'))
    export.write_text("\n".join([*lines[:entry], *lines[entry + 1 :]]) + "\n")
    forged = run(["/bin/sh", "-c", command], env, cwd=hostile)
    assert (forged.code, "whole" in forged.out) == (1, False)
    assert not (tmp_path / "mark").exists()


def _findings(done: Ended) -> dict[str, dict[str, object]]:
    return {part["part"]: part for part in json.loads(done.out)}


def test_python_itself_is_started_so_that_it_imports_nothing_of_that_directory(
    tmp_path: Path, hostile: Path, env: dict[str, str]
) -> None:
    assert run(silas("init"), env).code == 0
    argv = ["/usr/bin/env", *silas("doctor", "--json")]  # started, not forked
    assert _findings(run(argv, env, cwd=hostile))["public key"]["ok"]
    assert not (tmp_path / "mark").exists()
    unisolated = [word for word in argv if word != "-I"]
    run(unisolated, env, cwd=hostile)
    assert (tmp_path / "mark").exists()  # or the directory would do no harm anyway


def test_no_process_of_ours_imports_from_the_directory_one_stands_in(
    tmp_path: Path, hostile: Path, env: dict[str, str]
) -> None:
    def called(*words: str) -> Ended:
        return run(["silas", *words], env, cwd=hostile)

    assert called("init").code == 0
    assert _findings(called("doctor", "--json"))["public key"]["ok"]
    work = a_workspace(tmp_path / "work")
    given = {"workspace": str(work), "verify": check("test -s result.txt")}
    plan = tmp_path / "plan.md"
    plan.write_text(sh_plan("cp input.txt result.txt", **given))
    done = called("run", str(plan), "--approve", digest_of(plan.read_text()))
    assert done.code == 0, done.err
    assert (work / "result.txt").is_file()
    assert not (tmp_path / "mark").exists()


def test_an_mcp_server_of_ours_imports_nothing_from_the_directory_one_stands_in(
    tmp_path: Path, hostile: Path
) -> None:
    """It answers, and nothing of the directory was run."""
    env = environment(tmp_path / "home") | {"SILAS_TEST_MARK": str(tmp_path / "mark")}
    program = str(Path(sys.executable).parent / "silas")
    assert run(silas("init"), env).code == 0
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    served = subprocess.run(
        [program, "mcp", "serve"],
        env=env,
        cwd=hostile,
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert '"serverInfo"' in served.stdout, served.stderr
    assert not (tmp_path / "mark").exists()
