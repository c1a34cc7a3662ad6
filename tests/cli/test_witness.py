"""`silas audit witness` and the witnesses of the configuration, as a user meets them."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from silas.testing import Harness, ScriptedChannel
from tests.support.command import Ended, environment, run, silas
from tests.support.waits import SECONDS


class Told:
    """A home with one witness of each kind, on other media."""

    def __init__(self, folder: Path) -> None:
        self.home, self.away = folder / "home", folder / "away"
        self.env = environment(self.home)
        self.home.mkdir()
        (self.away / "folder").mkdir(parents=True)
        self.witnesses = [
            {"file": str(self.away / "heads.jsonl")},
            {"directory": str(self.away / "folder")},
            {"command": ["/usr/bin/tee", "-a", str(self.away / "told")]},
        ]
        self.configure(self.witnesses)
        assert self.silas("init").code == 0

    def configure(self, witnesses: object) -> None:
        said = {"silas": {"audit": {"witness": witnesses}}}
        (self.home / "config.yaml").write_text(json.dumps(said))

    def silas(self, *words: str | Path) -> Ended:
        return run(silas(*words), self.env)

    def attack(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.home / "data" / "silas.db")) as driver:
            for (name,) in driver.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                driver.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                driver.execute(statement)
            driver.commit()


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path)


@pytest.mark.proves("B5-WITNESS")
def test_a_log_cut_off_and_signed_before_is_found_by_what_its_witnesses_kept(told: Told) -> None:
    unborn = told.silas("audit", "verify")
    assert (unborn.code, unborn.out) == (1, "")
    assert "has no head yet; run `silas audit witness`" in unborn.err
    assert "has no head yet" in told.silas("doctor").out

    assert told.silas("ask", "what can you do?").code == 0
    kept = (told.away / "heads.jsonl").read_text()
    assert (told.away / "told").read_text() == kept
    assert [path.read_text() for path in (told.away / "folder").iterdir()] == [kept]
    witnessed = told.silas("audit", "witness")
    assert (witnessed.code, witnessed.out) == (0, kept)
    assert told.silas("audit", "verify").code == 0
    doctor = told.silas("doctor").out
    assert doctor.count("was told entry") == 3

    told.attack("DELETE FROM audit_log WHERE seq > 1", "DELETE FROM audit_checkpoints")
    found = told.silas("audit", "verify")
    assert found.code == 1
    assert found.err.startswith("The audit log does not hold: Entry ")
    assert "is missing" in found.err
    told.configure([])
    left = told.silas("audit", "verify")
    assert left.code == 1  # the head that is kept beside the key remembers
    assert "kept-head.json" in left.err
    newest = told.silas("audit", "accept").err.split("silas audit accept ")[1].split("`")[0]
    assert told.silas("audit", "accept", newest).code == 0
    assert told.silas("audit", "verify").code == 0  # nothing is left that remembers
    found = told.silas("audit", "verify", "--witness", told.away / "told")
    assert (found.code, "is missing" in found.err) == (1, True)


@pytest.mark.proves("B5-WITNESS-FAILS-LOUDLY")
def test_a_witness_that_fails_is_said_on_every_surface(told: Told) -> None:
    told.configure([{"command": ["/bin/sh", "-c", "echo no route to host >&2; exit 255"]}])
    asked = told.silas("ask", "what can you do?")
    assert asked.code == 0
    assert "ended with 255: no route to host" in asked.out + asked.err
    shown = told.silas("audit", "show").out
    assert "The witness command /bin/sh did not take the signed head" in shown
    doctor = told.silas("doctor")
    assert doctor.code == 2
    assert "no route to host" in " ".join(doctor.out.split())
    again = told.silas("audit", "witness")
    assert again.code == 1
    assert "no route to host" in again.err
    assert json.loads(again.out)["checkpoint"]["seq"] > 0


@pytest.mark.parametrize(
    ("witness", "words"),
    [
        ({"file": "heads.jsonl"}, "must not be inside data_dir"),
        ({"directory": "."}, "must not be inside data_dir"),
        ({"command": ["tee", "x"]}, "absolute path"),
        ({"command": []}, "absolute path"),
        ({}, "one of `file`, `directory` and `command`"),
        ({"file": "/a", "directory": "/b"}, "one of `file`, `directory` and `command`"),
    ],
)
def test_a_witness_that_could_witness_nothing_is_refused(
    tmp_path: Path, witness: object, words: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    said = {"silas": {"audit": {"witness": [witness]}}}
    (home / "config.yaml").write_text(json.dumps(said))
    done = run(silas("config", "validate"), environment(home))
    assert done.code == 2
    assert words in done.err


def test_a_noted_head_is_asked_for_as_it_was_printed(told: Told) -> None:
    for head in ("1", "1:ab", f"x:{'ab' * 32}", f"{'9' * 40}:{'ab' * 32}"):
        done = told.silas("audit", "verify", "--head", head)
        assert done.code == 2
        assert "give a head as printed" in done.err
    done = told.silas("audit", "verify", "--head", f"1:{'ab' * 32}")
    assert done.code == 1


@pytest.mark.proves("B5-SIGNED-CHECKPOINTS")
async def test_a_running_silas_signs_a_head_now_and_then(tmp_path: Path) -> None:
    kept = tmp_path / "heads.jsonl"
    settings = {"audit": {"witness": [{"file": str(kept)}], "checkpoint_minutes": 5}}
    async with Harness(ScriptedChannel(), settings=settings) as h:
        await h.silas.ask("what can you do?")
        assert not kept.exists()
        h.clock.advance(5 * 60)
        await until(kept.exists)
        before = kept.read_text()
        h.clock.advance(5 * 60)  # nothing happened: nothing is signed
        await h.silas.audit.write_checkpoint()
        assert kept.read_text() == before
    assert kept.read_text().count("\n") == 2


async def until(holds: object) -> None:
    import asyncio

    assert callable(holds)
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


LIMITED = (
    "import os, resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))\n"
    "os.execv(sys.executable, [sys.executable, '-m', 'silas', *sys.argv[1:]])"
)


@pytest.mark.proves("B5-DISK-FULL")
def test_without_room_a_command_ends_with_one_sentence_and_the_record_holds(told: Told) -> None:
    assert told.silas("ask", "what can you do?").code == 0
    before = told.silas("audit", "verify").out
    done = run([sys.executable, "-c", LIMITED, "ask", "list the files"], told.env)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    # whichever file is written first
    assert "disk I/O error" in done.err or "File too large" in done.err
    assert told.silas("audit", "verify").out == before
