"""The demonstration: it does the main job, asks whoever can answer, and tells how it ended."""

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from silas.main.demo import reaches
from silas.plans import PlanParser
from tests.agents.openai_server import Failure, openai_server
from tests.support.command import Ended, environment, person, run, silas, without_bubblewrap
from tests.support.models import models_as_environment, scripted_fix


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty directory, far from any checkout."""
    return tmp_path


DEMO = silas("demo")


def without_git(argv: list[str]) -> list[str]:
    """The same command on a machine that seems to have no git: an empty file is there."""
    bwrap, git = shutil.which("bwrap"), shutil.which("git")
    assert bwrap is not None
    assert git is not None
    return [bwrap, "--dev-bind", "/", "/", "--ro-bind", "/dev/null", os.path.realpath(git), *argv]


def env_of(place: Path, **extra: str) -> dict[str, str]:
    env = environment(place / "owner", **extra)
    del env["SILAS_KEYS__BACKEND"]  # the demo must keep away from the key store by itself
    return env


def proved(done: Ended) -> None:
    assert done.code == 0, done.out[-3000:] + done.err
    checks, chain = done.out.splitlines()[-2:]
    assert checks == "verified checks: tests_pass"
    assert re.fullmatch(r"verified chain: \d+ audit entries", chain)
    assert done.err == ""


def fixed(place: Path) -> bool:
    return ' == "open"' in (place / "silas-demo/orders/orders.py").read_text()


def untouched(place: Path) -> bool:
    return ' is "open"' in (place / "silas-demo/orders/orders.py").read_text()


def test_it_does_the_main_job_and_does_it_again(place: Path) -> None:
    for _ in range(2):
        done = run(DEMO, env_of(place), cwd=place)
        proved(done)
        assert fixed(place)
        assert re.search(r"approving exactly sha256:[0-9a-f]{64}", done.out)
        assert '-    return [order for order in map(parse, lines) if order["status"] is' in done.out
        assert done.out.count("Silas started in the terminal.") == 1  # the record of this run alone
    assert (place / "silas-demo/orders/.git").exists()
    assert sorted(path.name for path in (place / "silas-demo/orders").iterdir()) == [
        ".git",
        "orders.py",
        "test_orders.py",
    ]
    assert not (place / "owner").exists()  # nothing of the owner's own home was used


def test_it_needs_no_git(place: Path) -> None:
    proved(run(without_git(DEMO), env_of(place), cwd=place))
    assert fixed(place)
    assert not (place / "silas-demo/orders/.git").exists()


def test_on_a_terminal_it_asks_and_a_yes_does_the_job(place: Path) -> None:
    with person(DEMO, {**env_of(place), "NO_COLOR": "1"}, cwd=place) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        assert owner.leaves() == 0
    proved(Ended(0, owner.seen, ""))
    assert fixed(place)
    assert "pydantic" not in owner.seen.lower()


def test_on_a_terminal_a_no_runs_nothing(place: Path) -> None:
    with person(DEMO, env_of(place), cwd=place) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("3\r")
        assert owner.leaves() == 3
    assert untouched(place)
    assert owner.seen.splitlines()[-1] == "The plan was not approved; nothing was run."


def test_on_a_terminal_ctrl_c_stops(place: Path) -> None:
    with person(DEMO, env_of(place), cwd=place) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("\x03")
        assert owner.leaves() == 4
    assert untouched(place)
    assert "Traceback" not in owner.seen


def test_without_a_sandbox_it_asks_nothing_and_says_what_to_install(place: Path) -> None:
    done = run(without_bubblewrap(DEMO), env_of(place), cwd=place)
    assert done.code == 2
    assert "bubblewrap is not installed; run: " in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert "approving exactly" not in done.out
    assert untouched(place)


async def test_with_a_model_the_same_command_lets_the_model_find_the_fix(place: Path) -> None:
    script = scripted_fix(place / "silas-demo/orders", "tool")
    async with openai_server(script) as server:
        env = env_of(place, **models_as_environment(server.base_url, "tool"))
        done = await asyncio.to_thread(run, DEMO, env, cwd=place)
    proved(done)
    assert fixed(place)
    assert len(server.bodies) == len(script)
    assert "Silas used python_exec." in done.out


async def test_models_of_the_owners_own_configuration_are_used(place: Path) -> None:
    script = scripted_fix(place / "silas-demo/orders", "native")
    async with openai_server(script) as server:
        home = place / "owner"
        home.mkdir()
        role = f"{{name: m, base_url: '{server.base_url}', output: native}}"
        roles = "\n".join(f"    {name}: {role}" for name in ("proxy", "planner", "executor"))
        (home / "config.yaml").write_text(f"silas:\n  models:\n{roles}\n")
        done = await asyncio.to_thread(run, DEMO, env_of(place), cwd=place)
    proved(done)
    assert len(server.bodies) == len(script)
    assert [path.name for path in home.iterdir()] == ["config.yaml"]


async def test_a_model_that_fixes_nothing_fails_the_check_and_changes_nothing(place: Path) -> None:
    script = scripted_fix(place / "silas-demo/orders", "tool", code="print('looked')")
    async with openai_server(script) as server:
        env = env_of(place, **models_as_environment(server.base_url, "tool"))
        done = await asyncio.to_thread(run, DEMO, env, cwd=place)
    assert done.code == 1
    assert untouched(place)
    assert "check “tests_pass” failed" in done.err
    assert "Traceback" not in done.err


async def test_a_model_that_only_fails_runs_nothing(place: Path) -> None:
    async with openai_server([Failure(500)] * 20) as server:
        env = env_of(place, **models_as_environment(server.base_url, "tool"))
        done = await asyncio.to_thread(run, DEMO, env, cwd=place)
    assert done.code == 1
    assert "Nothing was run." in done.out
    assert "approving exactly" not in done.out
    assert untouched(place)


async def test_without_a_terminal_a_plan_that_reaches_further_is_not_approved(place: Path) -> None:
    script = scripted_fix(place / "silas-demo/orders", "tool", front="network: [example.com]")
    async with openai_server(script) as server:
        env = env_of(place, **models_as_environment(server.base_url, "tool"))
        done = await asyncio.to_thread(run, DEMO, env, cwd=place)
    assert done.code == 3
    assert "this plan wants more than the demonstration has (a network)" in done.err
    assert "approving exactly" not in done.out
    assert untouched(place)


@pytest.mark.parametrize(
    ("front", "words"),
    [
        ("", ""),
        ("read: [/usr]", ""),
        (f"read: [{sys.prefix}, {sys.base_prefix}]", ""),
        ("read: [/home/me]", "reading /home/me"),
        ("network: [example.com]", "a network"),
        ("tools: [{tool: web_fetch, args: {url: 'https://example.com/'}}]", "further tools"),
        ("worker: reviewer", "a worker"),
        ("credential_refs: {TOKEN: ref_00000000000000000000000000000000}", "secrets"),
    ],
)
def test_what_a_plan_reaches_is_named(tmp_path: Path, front: str, words: str) -> None:
    lines = ["---", "id: task-a", "type: task", "title: A", f"workspace: {tmp_path}", front]
    check = ["verify:", "  - {name: a, run: 'true', expect: {exit_code: 0}}"]
    item = PlanParser().parse("\n".join([*lines, *check, "---", "", "Do it."]))
    assert ", ".join(reaches(item, tmp_path)) == words
    elsewhere = ", ".join(reaches(item, tmp_path / "other"))
    assert elsewhere.startswith("another workspace")


@pytest.mark.parametrize("named", ["plain", "link"])
def test_a_directory_that_it_did_not_make_is_left_as_it_is(place: Path, named: str) -> None:
    mine = place / "mine"
    (mine / "orders").mkdir(parents=True)
    (mine / "orders/kept.txt").write_text("kept")
    target = mine if named == "plain" else place / "link"
    if named == "link":
        target.symlink_to(mine)
    done = run([*DEMO, "--directory", str(target)], env_of(place), cwd=place)
    assert (done.code, "was not made by `silas demo`" in done.err) == (2, True)
    assert [path.name for path in mine.rglob("*")] == ["orders", "kept.txt"]


@pytest.mark.parametrize("more", ["", "orders/mine.txt", "mine.txt"])
def test_a_directory_that_an_older_version_made_is_used_and_no_other(
    place: Path, more: str
) -> None:
    """The versions before `silas demo` left no mark beside their home and their project."""
    older = place / "older"
    (older / "home/data").mkdir(parents=True)
    (older / "orders/.git").mkdir(parents=True)
    (older / "home/data/silas.db").touch()
    (older / "orders/orders.py").write_text("as it was")
    if more:
        (older / more).write_text("kept")
    done = run([*DEMO, "--directory", str(older)], env_of(place), cwd=place)
    assert done.code == (2 if more else 0), done.err
    assert (f"`rm -r {older}`" in done.err) == bool(more)
    assert ((older / "orders/orders.py").read_text() == "as it was") == bool(more)


def test_a_link_in_its_place_is_not_followed(place: Path) -> None:
    (place / "silas-demo").mkdir()
    (place / "silas-demo/.silas-demo").touch()
    (place / "mine").mkdir()
    (place / "mine/kept.txt").write_text("kept")
    (place / "silas-demo/orders").symlink_to(place / "mine")
    done = run(DEMO, env_of(place), cwd=place)
    assert (done.code, "is a link, which is not followed" in done.err) == (2, True)
    assert [path.name for path in (place / "mine").iterdir()] == ["kept.txt"]


def test_while_silas_is_stopped_it_does_nothing(place: Path) -> None:
    env = env_of(place)
    env["SILAS_KEYS__BACKEND"] = "file"
    env |= {"SILAS_KEYS__KEY_FILE": str(place / "key"), "SILAS_KEYS__CREATE_KEY_FILE": "true"}
    for words in (["init"], ["stop", "--now"]):
        assert run(silas(*words), env, cwd=place).code == 0
    done = run(DEMO, env, cwd=place)
    assert (done.code, "silas resume" in done.err) == (4, True)
    assert not (place / "silas-demo").exists()


def test_a_configuration_that_was_named_must_fit(place: Path) -> None:
    bad = place / "bad.yaml"
    bad.write_text("silas:\n  modles: {}\n")
    done = run(silas("--config", bad, "demo"), env_of(place), cwd=place)
    assert (done.code, "modles" in done.err) == (2, True)
    assert not (place / "silas-demo").exists()
