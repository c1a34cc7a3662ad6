"""A passphrase is asked for once, by what signs; whoever only looks is asked for nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.command import environment, person, python, run, silas

TYPED = "correct horse"
ASKED = "Passphrase for the signing key of owner: "

LOOKING = [
    ("status",),
    ("status", "--json"),
    ("doctor", "--json"),
    ("audit", "show"),
    ("audit", "verify"),
    ("approvals", "list"),
    ("calls", "list"),
    ("queue", "list"),
    ("tools", "list"),
    ("workers", "list"),
    ("skills", "list"),
    ("mcp", "list"),
    ("secrets", "list"),
    ("devices", "list"),
    ("memory", "search", "anything"),
    ("memory", "list"),
    ("persona", "show"),
    ("keys", "show"),
    ("config", "show"),
    ("config", "validate"),
]


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home whose key a passphrase unlocks."""
    env = environment(tmp_path_factory.mktemp("locked") / "home")
    with person(silas("init"), env) as owner:
        for question in ("Choose a passphrase for Silas's signing key: ", "passphrase again: "):
            owner.waits_for(question)
            owner.types(f"{TYPED}\r")
        assert owner.leaves() == 0, owner.seen
    return env


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_a_command_that_only_looks_asks_for_no_passphrase(
    words: tuple[str, ...], locked: dict[str, str]
) -> None:
    done = run(silas(*words), locked)  # nobody could type one
    assert done.code == 0, done.err
    assert "passphrase" not in done.err


@pytest.mark.parametrize("keys", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
@pytest.mark.parametrize(
    "words",
    [("chat",), ("ask", "what can you do?"), ("memory", "add", "words of mine")],
    ids=" ".join,
)
def test_the_question_for_a_passphrase_can_be_ended(
    words: tuple[str, ...], keys: str, locked: dict[str, str]
) -> None:
    with person(silas(*words), locked) as owner:
        owner.waits_for(ASKED)
        owner.types(keys)
        assert owner.leaves() == 4, owner.seen
    said = owner.seen.partition(ASKED)[2].strip().splitlines()
    assert len(said) == 1, owner.seen
    assert said[0].startswith("No passphrase was typed, so the command ended; nothing was done.")


_UNNOTICED = """
import os, signal, threading
from pathlib import Path

from silas.home.passphrases import allow_interrupt

def waits(thread):
    state = Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "S"

def interrupt(thread):
    while not waits(thread):
        os.sched_yield()
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

never, _other = os.pipe()
threading.Thread(target=interrupt, args=(threading.get_native_id(),)).start()
try:
    with allow_interrupt():
        os.read(never, 1)
except KeyboardInterrupt:
    print("ended", signal.getitimer(signal.ITIMER_REAL), signal.getsignal(signal.SIGALRM).name)
"""


def test_an_interrupt_that_the_waiting_read_does_not_notice_ends_the_question(
    tmp_path: Path,
) -> None:
    done = run(python(_UNNOTICED), environment(tmp_path), imported=True)
    assert done.out == "ended (0.0, 0.0) SIG_DFL\n", done.err


def test_one_passphrase_for_key_and_secrets_is_typed_once(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    with person(silas("init"), env) as owner:
        for question in ("Choose a passphrase for Silas's signing key: ", "passphrase again: "):
            owner.waits_for(question)
            owner.types(f"{TYPED}\r")
        assert owner.leaves() == 0, owner.seen
    with person(silas("secrets", "add", "TOKEN"), env) as owner:
        owner.waits_for("Value of TOKEN: ")
        owner.types("a-value-that-is-long-enough\r")
        for question in ("Choose a passphrase for your secrets: ", "passphrase again: "):
            owner.waits_for(question)
            owner.types(f"{TYPED}\r")
        assert owner.leaves() == 0, owner.seen
    with person(silas("ask", "what can you do?"), env) as owner:
        owner.waits_for(ASKED)
        owner.types(f"{TYPED}\r")
        owner.leaves()
    assert owner.seen.count("Passphrase for") == 1
    assert "I can run these plans" in owner.seen


def test_what_signs_still_asks_and_a_wrong_passphrase_signs_nothing(
    locked: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "audit.jsonl"
    database = Path(locked["SILAS_HOME"]) / "data/silas.db"
    with closing(sqlite3.connect(database)) as db:
        before = db.execute("SELECT count(*) FROM audit_checkpoints").fetchone()
    with person(silas("audit", "witness"), locked) as owner:
        owner.waits_for(ASKED)
        owner.types("wrong horse\r")
        assert owner.leaves() == 2, owner.seen
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("SELECT count(*) FROM audit_checkpoints").fetchone() == before
    assert not file.exists()


def test_a_start_of_a_home_that_has_a_key_asks_once(locked: dict[str, str]) -> None:
    german = {**locked, "LC_MESSAGES": "de_DE.UTF-8", "SILAS_LANGUAGE": "de"}
    for env, asked, there in (
        (locked, ASKED, "Afterwards it is at http"),
        (german, "Passphrase für den Schlüssel von owner: ", "Danach ist es unter http"),
    ):
        with person(silas("start", "--port", "0"), env) as owner:
            owner.waits_for(asked)
            owner.types(f"{TYPED}\r")
            owner.waits_for(there)
            owner.types("\x03")
            assert owner.leaves() == 0, owner.seen
        assert owner.seen.count("Passphrase ") == 1


def test_setting_up_again_asks_for_no_passphrase(locked: dict[str, str]) -> None:
    assert run(silas("init"), locked).code == 0  # nobody could type one
