"""The wheel: what it carries, and that all of Silas works from it without a checkout."""

import json
import os
import re
import shutil
import signal
import subprocess
import zipfile
from email.message import Message
from email.parser import Parser
from itertools import starmap
from pathlib import Path

import httpx
import pytest

from tests.support.command import ROOT, SECONDS, Ended, person, run
from tests.support.wheel import bare, build_wheel, install

CHECKS = """\
import json, sys
from click.testing import CliRunner
from silas.main import cli

ends = [CliRunner().invoke(cli, ["plan", "check", path]) for path in sys.argv[1:]]
print(json.dumps([[end.exit_code, end.stdout, end.stderr] for end in ends]))
"""
"""`silas plan check` of many plans in one process."""

TESTS = """\
import unittest

from thing import double


class Thing(unittest.TestCase):
    def test_double(self):
        self.assertEqual(double(2), 4)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("installed") / "env"
    install(wheel, place)
    return str(place / "bin" / "silas")


@pytest.fixture(scope="module")
def made_home(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `silas init` makes of nothing."""
    place = tmp_path_factory.mktemp("made") / "home"
    _ended_well(run([program, "init"], bare(place), cwd=place.parent))
    return place


@pytest.fixture
def home(made_home: Path, tmp_path: Path) -> Path:
    """A home of the test's own, as `silas init` made it."""
    return Path(shutil.copytree(made_home, tmp_path / "home"))


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """An empty directory to stand in."""
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture
def project(empty: Path) -> Path:
    """A small project with one test, for no particular runner."""
    (empty / "thing.py").write_text("def double(number):\n    return 2 * number\n")
    (empty / "test_thing.py").write_text(TESTS)
    return empty


def _carried(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def _files(folder: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _ended_well(done: Ended) -> str:
    assert done.code == 0, done.out[-3000:] + done.err
    assert "Traceback" not in done.err
    return done.out


def test_the_wheel_carries_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    carried = _carried(wheel)
    inside = {name for name in carried if ".dist-info/" not in name}
    assert inside == _files("silas") | {f"silas/{name}" for name in _files("web")}
    assert {Path(name).suffix for name in inside} >= {".py", ".sql", ".md", ".html", ".js", ".css"}
    told = {name.partition(".dist-info/")[2] for name in carried - inside}
    assert {"METADATA", "entry_points.txt", "licenses/LICENSE"} <= told


def test_what_the_wheel_says_of_itself_is_what_is_tried(wheel: Path) -> None:
    said = _metadata(wheel)
    assert said["Requires-Python"] == ">=3.11"
    assert said["License-Expression"] == "MIT"
    versions = re.findall(r"Python :: (3\.\d+)$", "\n".join(said.get_all("Classifier", [])), re.M)
    assert versions == ["3.11", "3.12", "3.13"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"on Python {versions[0]} to {versions[-1]}" in readme


def test_the_commands_of_a_first_day(program: str, tmp_path: Path, empty: Path) -> None:
    env = bare(tmp_path / "home")
    assert "demo" in _ended_well(run([program, "--help"], env, cwd=empty))
    _ended_well(run([program, "init"], env, cwd=empty))
    parts = json.loads(_ended_well(run([program, "doctor", "--json"], env, cwd=empty)))
    assert [part["part"] for part in parts if not part["ok"]] == []
    plans = sorted((ROOT / "plans").glob("*.md"))
    python = [str(Path(program).with_name("python")), "-I", "-c", CHECKS]
    given_all = json.loads(_ended_well(run([*python, *map(str, plans)], env, cwd=empty)))
    by_command = run([program, "plan", "check", str(plans[0])], env, cwd=empty)
    for plan, given in zip(plans, [by_command, *starmap(Ended, given_all[1:])], strict=True):
        assert re.search(r"^sha256:[0-9a-f]{64}$", given.out, re.MULTILINE), (plan.name, given.err)
        runs_here = "\ntype: task\n" in plan.read_text(encoding="utf-8")
        assert given.code == (0 if runs_here else 2), (plan.name, given.err)
    assert list(empty.iterdir()) == []


def test_the_demonstration(program: str, tmp_path: Path, empty: Path) -> None:
    done = _ended_well(run([program, "demo"], bare(tmp_path / "home"), cwd=empty))
    assert "verified checks: tests_pass" in done
    assert ' == "open"' in (empty / "silas-demo/orders/orders.py").read_text()
    assert [path.name for path in empty.iterdir()] == ["silas-demo"]


@pytest.mark.parametrize(
    ("request_", "shown"),
    [
        ("run the tests", "Ran 1 test"),
        ("list the files of {project}", "thing.py"),
        ("fix the comparisons", "Done and verified"),
    ],
)
def test_a_shipped_runbook_does_its_work(
    program: str, home: Path, project: Path, request_: str, shown: str
) -> None:
    env = bare(home)
    request_ = request_.format(project=project)
    with person([program, "ask", request_], {**env, "NO_COLOR": "1"}, cwd=project) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        code = owner.leaves()
    assert (code, shown in owner.seen) == (0, True), owner.seen[-3000:]
    assert sorted(path.name for path in project.iterdir()) == ["test_thing.py", "thing.py"]


def test_a_runbook_says_what_it_misses(program: str, home: Path, project: Path) -> None:
    """Nothing of the environment that Silas runs in stands in for what a project lacks."""
    (project / "test_thing.py").write_text("def test_one():\n    assert True\n")
    done = run([program, "ask", "run the tests"], bare(home), cwd=project)
    assert "pip install pytest" in done.out + done.err
    assert done.code != 0


def test_the_cockpit_is_served(program: str, tmp_path: Path, empty: Path) -> None:
    with subprocess.Popen(
        [program, "start", "--port", "0"],
        env=bare(tmp_path / "home"),
        cwd=empty,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        links = (re.search(r"(http://127\.0\.0\.1:\d+)/pair#(\S+)", line) for line in lines)
        address, token = next((found.groups() for found in links if found), ("", ""))
        try:
            with httpx.Client(base_url=address, timeout=SECONDS, trust_env=False) as browser:
                assert "not paired" in browser.get("/").text
                asked = {"token": token, "name": "A browser"}
                browser.post("/pair", json=asked, headers={"Origin": address}).raise_for_status()
                page = browser.get("/").raise_for_status().text
                assert '<script type="module" src="/static/app.js">' in page
                for path in ("/static/app.js", "/static/style.css", "/manifest.json", "/sw.js"):
                    assert browser.get(path).raise_for_status().content
        finally:
            process.send_signal(signal.SIGTERM)
        process.stdout.read()
        assert process.wait(timeout=SECONDS) == 0


def test_nothing_of_the_checkout_or_of_the_tests_is_seen(program: str, tmp_path: Path) -> None:
    python = str(Path(program).with_name("python"))
    code = (
        "import importlib.util as u, silas; print(silas.__file__);"
        "print([n for n in ('pytest', 'ruff', 'mcp', 'hatchling', 'tests') if u.find_spec(n)])"
    )
    done = run([python, "-I", "-c", code], bare(tmp_path), cwd=tmp_path)
    file, others = _ended_well(done).splitlines()
    assert os.path.commonpath([file, str(ROOT)]) != str(ROOT)
    assert others == "[]"
