"""A real Silas is killed in the middle of writing to a workspace; then it is opened by each door.

Whatever the door, the workspace is as it was before anything else happens; what cannot be brought
back is named, and nothing is built on it.
"""

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from silas.config import load_config
from silas.errors import SandboxError
from silas.services.work import open_work
from silas.testing import ScriptedChannel
from silas.wiring.build import Silas
from silas.workspace.journal import hold_journal
from tests.stream.kit import saying_yes
from tests.support.client import client
from tests.support.command import Ended, environment, person, python, run, silas
from tests.support.plans import check, sh_plan

_KILLED = """
import os, signal
import silas.workspace.transition as transition

class Os:
    left = {left}
    def __getattr__(self, name):
        if name == "rename":
            Os.left -= 1
            if Os.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return getattr(os, name)

transition.os = Os()
from silas.main import cli
cli()
"""
"""Silas, killed between two of the files that it writes to a workspace."""


class House:
    """A home and a workspace of three files; a plan that changes all of them was cut short."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.folder = folder / "home", folder / "work", folder
        self.env = environment(self.home)
        self.home.mkdir()
        self.work.mkdir()
        for name in "abc":
            (self.work / name).write_text("before\n")
        done = self.command("init")
        assert done.code == 0, done.err

    def command(self, *words: str | Path) -> Ended:
        return run(silas(*words), self.env)

    def plan(self, name: str, *commands: str) -> Path:
        path = self.folder / f"{name}.md"
        steps = {"workspace": str(self.work), "verify": check("test -f a")}
        path.write_text(sh_plan(*commands, id=name, title=f"Do {name}", **steps))
        return path

    def approved(self, plan: Path) -> list[str | Path]:
        """The words that run a plan under its own hash."""
        shown = self.command("plan", "check", plan).out.split()
        return ["run", plan, "--approve", shown[-1]]

    def killed(self) -> None:
        commands = [f"cp {name} {name}.new" for name in "abc"]
        words = self.approved(self.plan("cut-short", *commands, "sh -c 'echo after > b'"))
        done = run(python(_KILLED.format(left=2), *words), self.env, imported=True)
        assert done.code == -signal.SIGKILL, done.err
        assert not self.whole

    @property
    def files(self) -> dict[str, str]:
        """What stands there, leftovers included."""
        return {path.name: path.read_text() for path in sorted(self.work.iterdir())}

    @property
    def whole(self) -> bool:
        """Whether it is as it was."""
        return self.files == dict.fromkeys("abc", "before\n")

    @property
    def place(self) -> Path:
        """Where the way back is."""
        return self.home / "data" / "undo" / "cut-short" / "000001"


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Killed half-way."""
    found = House(tmp_path)
    found.killed()
    return found


def asks(house: House) -> None:
    house.command("ask", "hello")


def runs(house: House) -> None:
    words = house.approved(house.plan("later", "cat a"))
    done = house.command(*words)
    assert done.code == 0, done.err


def answers_a_plan(house: House) -> None:
    house.command("approvals", "approve", "nothing-of-this-name")


def undoes(house: House) -> None:
    done = house.command("undo", "cut-short")
    assert (done.code, done.err) == (0, "")


def chats(house: House) -> None:
    house.command("chat")


def starts(house: House) -> None:
    with person(silas("start", "--port", "0"), house.env) as owner:
        owner.waits_for("Ctrl-C ends it")
        owner.types("\x03")
        owner.leaves()


def serves_clients(house: House) -> None:
    async def serve() -> None:
        async with client(house.env):
            assert house.whole

    asyncio.run(serve())


def opens(*, resume: bool) -> Callable[[House], None]:
    def door(house: House) -> None:
        async def open_it() -> None:
            config = load_config(environ=house.env)
            async with Silas.open(config, channel=ScriptedChannel(), resume=resume):
                assert house.whole

        asyncio.run(open_it())

    return door


DOORS: dict[str, Callable[[House], None]] = {
    "silas ask": asks,
    "silas run": runs,
    "silas approvals approve": answers_a_plan,
    "silas undo": undoes,
    "silas chat": chats,
    "silas start": starts,
    "silas mcp serve": serves_clients,
    "Silas.open that resumes": opens(resume=True),
    "Silas.open that does not": opens(resume=False),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_a_crash_left_half_changed_is_whole_after_any_opening(house: House, door: str) -> None:
    DOORS[door](house)
    stands = {name: text for name, text in house.files.items() if name in "abc"}
    if door not in ("silas chat", "silas start", "Silas.open that resumes"):  # these go on with it
        assert house.whole
    assert stands["a"] == "before\n"


def test_who_only_looks_is_told_and_changes_nothing(house: House) -> None:
    half = house.files
    told = house.command("status").out
    assert f"{house.work} is half-changed: cut-short was interrupted" in told
    [row] = json.loads(house.command("status", "--json").out)
    assert row["half_changed"] == str(house.work)
    assert "half-changed" in house.command("doctor").out
    assert house.files == half
    assert house.command("undo", "cut-short").code == 0
    assert "half-changed" not in house.command("status").out + house.command("doctor").out.replace(
        "none was left half-changed", ""
    )


def test_later_work_begins_on_whole_files_and_can_be_undone(house: House) -> None:
    done = house.command(*house.approved(house.plan("later", "cp a later.txt")))
    assert done.code == 0, done.err
    assert house.files == {**dict.fromkeys("abc", "before\n"), "later.txt": "before\n"}
    assert house.command("undo", "later").code == 0
    assert house.whole


def test_what_cannot_be_brought_back_is_refused_named_and_left_to_the_owner(house: House) -> None:
    (house.work / "b").write_text("mine\n")
    mine = house.files
    later = house.plan("later", "cp a later.txt")
    for _ in range(2):
        done = house.command(*house.approved(later))
        assert done.code != 0
        assert f"{house.work} is half-changed" in done.err
        assert "silas undo cut-short --keep-files" in done.err
    refused = house.command("undo", "cut-short")
    assert refused.code != 0
    assert "--keep-files" in refused.err
    assert house.files == mine
    record = house.command("audit", "show", "--last", "500").out
    assert record.count("could not be put back") == 1  # told once, not at every opening
    assert house.command("undo", "cut-short", "--keep-files").code == 0
    assert house.files == mine
    assert house.command(*house.approved(later)).code == 0
    assert house.command("undo", "cut-short", "--keep-files").code == 2


async def test_a_change_that_a_living_process_is_writing_is_not_taken_for_a_crash(
    house: House,
) -> None:
    half = house.files
    config = load_config(environ=house.env)
    with hold_journal(house.place):  # as the process that writes holds it
        async with Silas.open(config, channel=ScriptedChannel()) as opened:
            assert house.files == half
            with pytest.raises(SandboxError) as refused:
                await opened.run(house.plan("later", "cat a").read_text())
            words = f"{house.work} is being written by cut-short at this moment; ask again when "
            assert refused.value.message.startswith(words)
            assert refused.value.code == "E_SANDBOX_BUSY"
        async with open_work(config) as service:
            with pytest.raises(SandboxError, match="is being written by cut-short"):
                await service.undo("cut-short")
    assert house.files == half
    async with open_work(config) as service:
        await service.undo("cut-short")
    assert house.whole


async def test_another_process_that_dies_while_this_one_is_open_leaves_nothing_half_built(
    tmp_path: Path,
) -> None:
    house = House(tmp_path)
    config = load_config(environ=house.env)
    async with Silas.open(config, channel=ScriptedChannel(saying_yes)) as opened:
        await asyncio.to_thread(house.killed)
        result = await opened.run(house.plan("later", "cp a later.txt").read_text())
        assert result.status.value == "done", result.summary
        assert house.files == {**dict.fromkeys("abc", "before\n"), "later.txt": "before\n"}
