"""A known key through real flows, crashes included; then every byte that was left is searched."""

import base64
import json
import os
import pickle
import signal
import sys
import traceback
from hashlib import sha512
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticSerializationError, to_json

from silas.errors import ConfigError
from silas.keys import Ed25519Signer
from silas.keys.oskeyring import write_secret
from silas.keys.sealed import read_unsealed, seal
from tests.keys.places import Place
from tests.support.command import Ended, processes_saying, run, silas, started
from tests.support.home import Home, digest_of, soon
from tests.support.plans import check, sh_plan
from tests.support.waits import SECONDS

SEED = bytes(range(7, 39))
UNLOCK = bytes(range(100, 132))
SIGNER = Ed25519Signer.from_seed(SEED)


def forms(secret: bytes) -> dict[str, bytes]:
    """Every spelling in which 32 bytes usually come out of a program."""
    found = {
        "raw": secret,
        "reversed": secret[::-1],
        "hex": secret.hex().encode(),
        "HEX": secret.hex().upper().encode(),
        "hex with colons": secret.hex(":").encode(),
        "hex with spaces": secret.hex(" ").encode(),
        "repr": repr(secret)[2:-1].encode(),
        "list": str(list(secret)).encode(),
        "JSON list": json.dumps(list(secret), separators=(",", ":")).encode(),
        "JSON text": json.dumps(secret.decode("latin-1"))[1:-1].encode(),
        "number": str(int.from_bytes(secret, "big")).encode(),
        "little-endian number": str(int.from_bytes(secret, "little")).encode(),
        "URL": "".join(f"%{byte:02X}" for byte in secret).encode(),
        "base32": base64.b32encode(secret).rstrip(b"="),
    }
    for shift in range(3):  # base64 of a longer text that has the secret in it
        padded = base64.b64encode(bytes(shift) + secret)
        inner = padded[4 * (shift > 0) : 40]
        found[f"base64 at {shift}"] = inner
        found[f"URL-safe base64 at {shift}"] = inner.replace(b"+", b"-").replace(b"/", b"_")
    return found


SECRETS = {
    "the seed": SEED,
    "the scalar and prefix": sha512(SEED).digest()[:32],
    "what unlocks the file": UNLOCK,
}
FORMS = {
    f"{name}, {form}": text
    for name, secret in SECRETS.items()
    for form, text in forms(secret).items()
}


def shown_in(data: bytes) -> list[str]:
    return [name for name, text in FORMS.items() if text in data]


@pytest.mark.parametrize("name", FORMS)
def test_the_search_finds_each_form(name: str) -> None:
    assert name in shown_in(b"before " + FORMS[name] + b" behind")


@pytest.mark.parametrize("before", range(3))
def test_the_search_finds_a_seed_inside_encoded_text(before: int) -> None:
    assert shown_in(base64.b64encode(bytes(30 + before) + SEED + b"behind"))


# ── Real flows ───────────────────────────────────────────────────────────────────────────────────

FAULT = "a fault in a model of the user's own"
FAULTY = f"""
def factory():
    raise RuntimeError({FAULT!r})
"""


def planted(folder: Path) -> Home:
    """A home whose key is the known one, opened by a key file that is elsewhere."""
    home = Home(folder)
    unlock = folder / "stick" / "unlock.key"
    unlock.parent.mkdir()
    unlock.write_bytes(UNLOCK)
    unlock.chmod(0o600)
    keys = home.config.data_dir / "keys"
    keys.mkdir(parents=True, mode=0o700)
    facts = {"backend": "file", "owner": "owner", "public_key": SIGNER.public_key}
    record = keys / "owner.key.json"
    record.write_text(seal(SEED, UNLOCK, facts))
    record.chmod(0o600)
    home.env["SILAS_KEYS__KEY_FILE"] = str(unlock)
    (folder / "faulty.py").write_text(FAULTY)
    return home


def flows(home: Home, folder: Path) -> list[Ended]:
    """What an owner does, with a terminal's output kept."""
    env, export = home.env, folder / "export.jsonl"
    look = sh_plan(
        "env",
        "cat /proc/self/environ /proc/*/environ || true",
        "cat /proc/*/cmdline || true",
        id="task-look",
        verify=check("true"),
    )
    plan = folder / "look.md"
    plan.write_text(look)
    crash = {**env, "SILAS_MODELS__PROXY": "python:faulty:factory", "PYTHONPATH": str(folder)}
    python = [sys.executable, "-m", "silas"]  # one that reads PYTHONPATH
    talkative = [sys.executable, "-I", "-X", "dev", "-X", "faulthandler", "-m", "silas"]
    return [
        run(silas("init"), env),
        run(silas("run", plan, "--approve", digest_of(look), "--json"), env),
        run(silas("ask", "what are you?"), env),
        run(silas("doctor", "--json"), env),
        run(silas("config", "show"), env),
        run(silas("keys", "show", "--json"), env),
        run(silas("keys", "export"), env),
        run(silas("audit", "export", export), env),
        run(silas("audit", "show"), env),
        run(silas("audit", "verify"), env),
        run([*python, "ask", "crash"], crash),
        run([*talkative, "run", str(plan)], env),
    ]


@pytest.mark.proves("S5.8-KEY-NEVER-SHOWN", "A19-ENCRYPTED-FILE")
def test_no_byte_that_silas_leaves_behind_shows_the_key(tmp_path: Path) -> None:
    home = planted(tmp_path)
    told = flows(home, tmp_path)
    assert told[0].code == 0, told[0].err
    assert json.loads(told[1].out)["status"] == "done", told[1]
    assert SIGNER.public_key in told[6].out  # it is this very key that was in use
    assert told[9].code == 0
    assert told[10].code != 0
    assert "(RuntimeError)" in told[10].err  # the model's own code was reached
    assert FAULT in "".join(each.read_text() for each in tmp_path.rglob("fault-*.txt"))

    # killed in the middle of work, in the way that dumps core
    environments: list[bytes] = []
    with started(
        ["sh", "-c", 'ulimit -c unlimited; exec "$@"', "-", *home.command()], home.env
    ) as p:
        soon(home.asleep, "the step began")
        for pid in (p.pid, *processes_saying(home.nap)):
            environments.append(_read(Path(f"/proc/{pid}/environ")))
            environments.append(_read(Path(f"/proc/{pid}/cmdline")))
        p.send_signal(signal.SIGABRT)
        out, err = p.communicate(timeout=SECONDS)
    soon(home.nobody, "the sandbox ended")
    assert any(environments)

    words = "".join(each.out + each.err for each in told) + out + err
    assert shown_in(words.encode("utf-8", errors="surrogateescape")) == []
    for data in environments:
        assert shown_in(data) == []
    searched = 0
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.parent.name != "stick":
            assert shown_in(path.read_bytes()) == [], path
            searched += 1
    assert searched >= 5
    assert not list(tmp_path.rglob("core*"))
    assert not list(Path(os.getcwd()).glob("core*"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it ended, or does not let itself be read
        return b""


# ── Inside the process ───────────────────────────────────────────────────────────────────────────


def with_locals(error: BaseException) -> bytes:
    """The most talkative traceback there is: every variable of every frame, every cause."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(told.format()).encode()


class Refusing:
    """A key store that fails at the worst moment and repeats what it was given."""

    def __init__(self, forgets: bool) -> None:
        self._forgets = forgets

    def get_password(self, service: str, username: str) -> str | None:
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        if not self._forgets:
            raise RuntimeError(f"cannot store {password}")

    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError(username)


@pytest.mark.parametrize("forgets", [False, True])
def test_a_key_store_that_fails_leaves_the_key_in_no_traceback(forgets: bool) -> None:
    with pytest.raises(ConfigError) as raised:
        write_secret(Refusing(forgets), "owner", SEED.hex)
    told = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    # the frame of this test aside, which has the seed from the start
    ours = "".join(told.format()).encode()
    assert b"write_secret" in ours
    assert shown_in(ours) == []
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def test_a_key_that_does_not_fit_its_record_is_in_no_traceback(tmp_path: Path) -> None:
    place = Place("keyring", tmp_path)
    place.keys.mkdir(mode=0o700)
    facts = {"backend": "keyring", "owner": "owner", "public_key": "ab" * 32}
    place.record.write_text(read_unsealed(facts))
    place.record.chmod(0o600)
    place.store.set_password("silas", "owner", SEED.hex())
    with pytest.raises(ConfigError) as raised:
        place.vault().load("owner")
    assert raised.value.code == "E_CFG_KEY_MISMATCH"
    assert shown_in(with_locals(raised.value)) == []


def test_no_serialiser_gets_hold_of_the_key() -> None:
    dumped: list[bytes] = [repr(SIGNER).encode(), str(SIGNER).encode(), f"{SIGNER}".encode()]
    dumpers: list[Any] = [pickle.dumps, to_json, json.dumps, vars]
    for dump in dumpers:
        with pytest.raises((TypeError, PydanticSerializationError)) as raised:
            dump(SIGNER)
        dumped.append(with_locals(raised.value))
    dumped.append(to_json(SIGNER, serialize_unknown=True))
    assert [shown_in(data) for data in dumped] == [[]] * len(dumped)
