"""Replacing the key in every place where one can be kept: one key in force, at every moment."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from silas.errors import ConfigError
from silas.keys import Ed25519Signer, KeyRing
from silas.keys.files import replace
from silas.keys.key_ring import Handover
from tests.keys.places import PASSPHRASE, PLACES, Place
from tests.support.command import environment, python, run

HANDOVER = Handover(datetime(2026, 1, 2, tzinfo=UTC), 7, "ab" * 32, ("token-a",))


def rotated(place: Place, number: int = 1) -> KeyRing:
    with place.vault().rotation("owner") as change:
        return change.succeed(HANDOVER._replace(seq=7 * number))


def code_of(error: pytest.ExceptionInfo[ConfigError]) -> str:
    return error.value.code


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    made = Place(request.param, tmp_path)
    made.vault().create("owner")
    return made


def test_after_a_rotation_the_new_key_signs_and_the_old_one_is_known(place: Place) -> None:
    old = place.vault().public_key("owner")
    ring = rotated(place)
    vault = place.vault()
    signer = vault.load("owner")
    assert signer.public_key == vault.public_key("owner") == ring.current != old
    assert vault.ring("owner").public_keys == (old, signer.public_key)
    assert signer.verify(b"data", signer.sign(b"data"))
    assert place.record.stat().st_mode & 0o777 == 0o600
    assert vault.in_force_since("owner") == HANDOVER.at


def test_keys_can_be_replaced_again_and_again(place: Place) -> None:
    keys = [place.vault().public_key("owner")]
    for number in (1, 2, 3):
        keys.append(rotated(place, number).current)
    ring = place.vault().ring("owner")
    assert list(ring.public_keys) == keys
    assert len(set(keys)) == 4
    assert place.vault().load("owner").public_key == keys[-1]


def test_the_old_private_key_is_kept_nowhere(place: Place) -> None:
    vault = place.vault()
    seed = Ed25519Signer.seed_for_vault(vault.load("owner"))
    del vault
    record = place.record.read_bytes()
    rotated(place)
    assert place.record.read_bytes() != record
    for path in place.path.rglob("*"):
        if path.is_file():
            assert seed.hex().encode() not in path.read_bytes()
            assert seed not in path.read_bytes()
            if path != place.record:
                assert json.loads(record)["public_key"].encode() not in path.read_bytes()


def test_what_opened_the_old_key_opens_the_new_one(tmp_path: Path) -> None:
    place = Place("passphrase", tmp_path)
    place.vault().create("owner")
    ring = rotated(place)
    assert place.vault().load("owner").public_key == ring.current
    assert PASSPHRASE.encode() not in place.record.read_bytes()


def test_a_key_that_is_in_use_is_not_replaced(place: Place) -> None:
    user = place.vault().load("owner")
    with pytest.raises(ConfigError) as raised, place.vault().rotation("owner"):
        raise AssertionError("this is never reached")
    assert code_of(raised) == "E_CFG_KEY_BUSY"
    assert place.vault().public_key("owner") == user.public_key
    del user
    rotated(place)


def test_a_ring_that_is_released_holds_nothing_any_more(place: Place) -> None:
    vault = place.vault()
    user, ring = vault.load("owner"), vault.ring("owner")
    ring.release()
    new = rotated(place)
    assert vault.load("owner").public_key == new.current != user.public_key
    with pytest.raises(ConfigError) as raised:
        rotated(place, 2)
    assert code_of(raised) == "E_CFG_KEY_BUSY"


def test_keys_that_are_relied_upon_are_not_replaced(place: Place) -> None:
    ring = place.vault().ring("owner")
    with pytest.raises(ConfigError) as raised, place.vault().rotation("owner"):
        raise AssertionError("this is never reached")
    assert code_of(raised) == "E_CFG_KEY_BUSY"
    assert ring.current == place.vault().public_key("owner")


def test_nobody_comes_in_while_the_key_is_replaced(place: Place) -> None:
    before = place.vault().public_key("owner")
    with place.vault().rotation("owner"):
        for ask in (place.vault().load, place.vault().ring, place.vault().create):
            with pytest.raises(ConfigError) as raised:
                ask("owner")
            assert code_of(raised) == "E_CFG_KEY_BUSY"
        with pytest.raises(ConfigError) as raised, place.vault().rotation("owner"):
            raise AssertionError("this is never reached")
        assert code_of(raised) == "E_CFG_KEY_BUSY"
    assert place.vault().load("owner").public_key == before


def test_a_rotation_that_is_not_carried_out_changes_nothing(place: Place) -> None:
    before = place.record.read_bytes()
    with pytest.raises(RuntimeError, match="changed my mind"), place.vault().rotation("owner"):
        raise RuntimeError("changed my mind")
    assert place.record.read_bytes() == before
    assert place.vault().ring("owner").former == ()


def test_without_a_key_there_is_nothing_to_replace(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised, Place("passphrase", tmp_path).vault().rotation("x"):
        raise AssertionError("this is never reached")
    assert code_of(raised) == "E_CFG_NOT_INITIALISED"


def test_a_record_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "record"
    path.write_bytes(b"as it was")
    with pytest.raises(ConfigError) as raised:
        replace(path, bytes(1 << 20))
    assert code_of(raised) == "E_CFG_KEY_BUSY"
    assert [each.name for each in tmp_path.iterdir()] == ["record"]
    assert path.read_bytes() == b"as it was"


@pytest.mark.parametrize("change", ["cut", "forged"])
def test_a_past_that_was_tampered_with_opens_nothing(place: Place, change: str) -> None:
    from silas.canonical import canonical_json, digest

    rotated(place)
    rotated(place, 2)
    document = json.loads(place.record.read_text())
    document.pop("checksum")
    if change == "cut":
        document["former"] = document["former"][1:]
    else:
        document["former"][0]["old_signature"] = "00" * 64
    place.record.write_text(canonical_json({**document, "checksum": digest(document)}))
    with pytest.raises(ConfigError) as raised:
        place.vault().ring("owner")
    assert code_of(raised) == "E_CFG_KEY_RING"


def test_in_the_key_store_no_second_account_stays(tmp_path: Path) -> None:
    place = Place("keyring", tmp_path)
    place.vault().create("owner")
    rotated(place)
    assert place.store.accounts() == {"silas/owner"}


CRASHES = """
import json, os, shutil, sys
from pathlib import Path

from silas.errors import SilasError
from silas.keys import sealed
from tests.keys.places import Place
from tests.keys.test_rotation import HANDOVER

sealed._OPERATIONS, sealed._MEMORY = 1, 8192  # hundreds of keys are opened here
kind, folder = sys.argv[1], Path(sys.argv[2])
prepared = Place(kind, folder / "prepared")
prepared.path.mkdir()
old = prepared.vault().create("owner").public_key

WRITERS = tuple(
    f"/silas/keys/{name}.py" for name in ("account", "files", "oskeyring", "rotation", "vault")
) + ("/places.py",)

def dies_at(number):
    seen = 0
    def trace(frame, event, argument):
        nonlocal seen
        name = frame.f_code.co_filename
        if not name.endswith(WRITERS):
            return None
        if event == "line":
            seen += 1
            if seen == number:
                os._exit(9)
        return trace
    return trace

def attempt(place, number):
    child = os.fork()
    if child == 0:
        with place.vault().rotation("owner") as change:
            sys.settrace(dies_at(number))
            change.succeed(HANDOVER)
        sys.settrace(None)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for number in range(1, 2000):
    place = Place(kind, folder / str(number))
    shutil.copytree(prepared.path, place.path)
    ended = attempt(place, number)
    said = {"ended": ended}
    try:
        vault = place.vault()
        signer, ring = vault.load("owner"), vault.ring("owner")
        said["in force"] = "old" if signer.public_key == old else "new"
        said["keys"] = list(ring.public_keys) == [
            *([old] if signer.public_key != old else []), signer.public_key
        ] and place.vault().public_key("owner") == signer.public_key
        again = place.vault().load("owner").public_key == signer.public_key
        said["stable"] = again
        del vault, signer, ring
        with place.vault().rotation("owner") as change:
            change.succeed(HANDOVER._replace(seq=99))
        place.vault().load("owner")
        said["left"] = sorted(p.name for p in place.path.rglob("*") if p.is_file())
    except SilasError as error:
        said["error"] = str(error)
    print(json.dumps(said), flush=True)
    shutil.rmtree(place.path)
    if ended == 0:
        break
"""


@pytest.mark.parametrize("kind", PLACES)
def test_a_crash_at_any_moment_leaves_one_key_in_force(kind: str, tmp_path: Path) -> None:
    done = run(python(CRASHES, kind, tmp_path), environment(tmp_path), imported=True)
    assert done.code == 0, done.err
    moments: list[dict[str, Any]] = [json.loads(line) for line in done.out.splitlines()]
    assert len(moments) >= 30
    assert [each["ended"] for each in moments] == [9] * (len(moments) - 1) + [0]
    assert [each for each in moments if "error" in each] == []
    assert all(each["keys"] and each["stable"] for each in moments)
    in_force = [each["in force"] for each in moments]
    switch = in_force.index("new")
    assert in_force == ["old"] * switch + ["new"] * (len(moments) - switch)
    assert switch > 10
    assert {tuple(each["left"]) for each in moments} == {tuple(moments[-1]["left"])}
