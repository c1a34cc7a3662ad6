"""The stand-alone verifier with a memory outside the log: heads, witnesses, other exports, keys."""

import json
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest

from silas.audit import AuditLog
from silas.audit.verify import DOMAIN, main
from silas.audit.witness import FileWitness
from silas.audit.witnessed_log import WitnessedAuditLog
from silas.db import Database
from silas.keys import Ed25519Signer
from silas.testing import MockClock
from silas.testing.approval import a_signer

OLD, NEW, STRANGER = a_signer(), a_signer("the next key"), a_signer("somebody else")


class Said(NamedTuple):
    code: int
    words: str


class Place:
    """A log with a witness in a folder; its signer can be replaced."""

    def __init__(self, folder: Path, clock: MockClock) -> None:
        self.folder, self.clock = folder, clock
        self.heads = folder / "heads.jsonl"
        self.opened: list[Database] = []

    def log(self, name: str = "silas.db", signer: Ed25519Signer = OLD) -> AuditLog:
        database = Database(self.folder / name, self.clock)
        database.migrate("silas.audit")
        self.opened.append(database)
        return WitnessedAuditLog(
            database, self.clock, signer, [FileWitness(self.heads)], self.nobody
        )

    async def nobody(self, words: str) -> None:
        raise AssertionError(words)

    async def export(self, log: AuditLog, name: str) -> str:
        await log.export(self.folder / name)
        return str(self.folder / name)


@pytest.fixture
def place(tmp_path: Path, clock: MockClock) -> "Place":
    return Place(tmp_path, clock)


async def fill(log: AuditLog, *facts: object) -> None:
    for fact in facts:
        await log.log("x", fact=fact)


def check(capsys: pytest.CaptureFixture[str], *arguments: str) -> Said:
    code = main(list(arguments))
    return Said(code, capsys.readouterr().out)


async def forked(place: Place) -> tuple[str, str]:
    """Two exports of one record that went two ways behind entry 3, both signed by the owner."""
    first = place.log()
    await fill(first, 1, 2, 3)
    await first.write_checkpoint()
    place.opened[0].close()
    (place.folder / "copy.db").write_bytes((place.folder / "silas.db").read_bytes())
    one, other = place.log(), place.log("copy.db")
    await fill(one, "a", "b")
    await fill(other, "z", "b")
    return await place.export(one, "one"), await place.export(other, "other")


@pytest.mark.proves("B5-WITNESS", "B5-ONE-FILE-VERIFIER")
async def test_a_fork_signed_by_the_owner_is_found_by_the_other_export(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = await forked(place)
    assert check(capsys, one, OLD.public_key).code == 0
    assert check(capsys, other, OLD.public_key).code == 0
    for mine, yours in ((one, other), (other, one)):
        said = check(capsys, mine, OLD.public_key, "--against", yours)
        assert said.code == 1
        assert said.words.startswith("The record was forked: entry 4 differs from the one in")
    assert check(capsys, one, OLD.public_key, "--against", one).code == 0


@pytest.mark.proves("B5-WITNESS", "B5-ONE-FILE-VERIFIER")
async def test_a_fork_signed_by_the_owner_is_found_by_the_witnessed_heads(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = await forked(place)
    said = check(capsys, one, OLD.public_key, "--witness", str(place.heads))
    assert said == (
        1,
        f"Entry 5 is not the one noted in {place.heads} line 3: the log was rewritten or forked "
        "there or before, behind entry 3.\n",
    )
    del other


async def test_an_older_export_is_no_fork(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    log = place.log()
    await fill(log, 1, 2)
    older = await place.export(log, "older")
    await fill(log, 3)
    newer = await place.export(log, "newer")
    for pair in ((older, newer), (newer, older)):
        assert check(capsys, pair[0], OLD.public_key, "--against", pair[1]).code == 0
    assert check(capsys, newer, OLD.public_key, "--witness", str(place.heads)).code == 0


async def test_another_export_that_is_broken_itself_is_named(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    log = place.log()
    await fill(log, 1, 2)
    mine, other = await place.export(log, "mine"), place.folder / "other"
    other.write_text(Path(mine).read_text().replace('"fact":1', '"fact":9'))
    said = check(capsys, mine, OLD.public_key, "--against", str(other))
    assert said == (1, f"{other}: Entry 1 was edited, inserted or replaced (line 2).\n")


@pytest.mark.proves("B5-WITNESS", "B5-ONE-FILE-VERIFIER")
async def test_a_cut_off_export_is_refused_by_the_witnessed_head(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    log = place.log()
    await fill(log, 1, 2)
    older = await place.export(log, "older")
    await fill(log, 3, 4)
    await log.write_checkpoint()
    assert check(capsys, older, OLD.public_key).code == 0
    said = check(capsys, older, OLD.public_key, "--witness", str(place.heads))
    assert said == (1, "Entries 3 to 4 are missing: the log was cut off behind entry 2.\n")


@pytest.mark.parametrize("key", [OLD, STRANGER])
async def test_a_line_smuggled_into_the_witness_never_vouches_for_an_unsigned_end(
    place: Place, capsys: pytest.CaptureFixture[str], key: Ed25519Signer
) -> None:
    log = place.log()
    await fill(log, 1, 2)
    export = Path(await place.export(log, "export"))
    body = '{"at":"2026-01-02T03:04:05+00:00","data":{},"event":"x","id":"audit-1","seq":3}'
    previous = export.read_text().splitlines()[2].rpartition('"hash":"')[2][:64]
    entry_hash = sha256(f"{previous}\n{body}".encode()).hexdigest()
    with export.open("a") as stream:
        stream.write(f'{{"entry":{body},"hash":"{entry_hash}"}}\n')
    head = f'{{"at":"2026-01-02T03:04:05+00:00","entry_hash":"{entry_hash}","seq":3}}'
    signature = STRANGER.sign(DOMAIN + head.encode()).hex()
    line = f'{{"checkpoint":{head},"public_key":"{key.public_key}","signature":"{signature}"}}'
    place.heads.write_text(line + "\n")
    said = check(capsys, str(export), OLD.public_key, "--witness", str(place.heads))
    assert said.code == 1
    assert "is no head that the owner signed" in said.words


@pytest.mark.parametrize("seq", [1, 2, 9])
async def test_a_forged_witness_is_told_from_a_forged_log(
    place: Place, capsys: pytest.CaptureFixture[str], seq: int
) -> None:
    log = place.log()
    await fill(log, 1, 2)
    export = await place.export(log, "export")
    said = json.loads(place.heads.read_text())
    said["checkpoint"] |= {"seq": seq, "entry_hash": "ab" * 32}
    place.heads.write_text(json.dumps(said, sort_keys=True, separators=(",", ":")) + "\n")
    answer = check(capsys, export, OLD.public_key, "--witness", str(place.heads))
    assert answer.code == 1
    assert f"{place.heads} line 1 is no head that the owner signed" in answer.words


async def replaced(place: Place) -> AuditLog:
    """Two entries signed by the first key, two by the second."""
    first = place.log()
    await fill(first, 1, 2)
    await first.write_checkpoint()
    second = place.log(signer=NEW)
    # The second key's log takes the first key's checkpoint over as its own would: by its signature.
    await fill(second, 3, 4)
    head = await second.head()
    body = f'{{"at":"2026-01-02T03:04:05+00:00","entry_hash":"{head.entry_hash}","seq":4}}'
    lines = [line for line in Path(await place.export(second, "raw")).read_text().splitlines()]
    signature = NEW.sign(DOMAIN + body.encode()).hex()
    lines.append(f'{{"checkpoint":{body},"signature":"{signature}"}}')
    (place.folder / "export").write_text("".join(f"{line}\n" for line in lines))
    return second


async def test_keys_are_given_in_the_order_of_their_replacement(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    await replaced(place)
    export = str(place.folder / "export")
    assert check(capsys, export, OLD.public_key, NEW.public_key).code == 0
    wrong = {
        (NEW.public_key,): "The checkpoint behind entry 2 was not signed by the owner's key.",
        (OLD.public_key,): "The export names another public key than the one given.",
        (NEW.public_key, OLD.public_key): "The export names another public key than the last one",
        (STRANGER.public_key, NEW.public_key): "The checkpoint behind entry 2 was not signed",
    }
    for keys, words in wrong.items():
        said = check(capsys, export, *keys)
        assert said.code == 1
        assert said.words.startswith(words)


@pytest.mark.parametrize(("at", "words"), [(4, "Entry 4, the last one,"), (5, "The checkpoint")])
async def test_a_replaced_key_signs_nothing_any_more(
    place: Place, capsys: pytest.CaptureFixture[str], at: int, words: str
) -> None:
    await replaced(place)
    export = place.folder / "export"
    lines = export.read_text().splitlines()
    last = lines[-1] if at == 5 else lines.pop()
    body = last.removeprefix('{"checkpoint":').rpartition(',"signature"')[0]
    signature = OLD.sign(DOMAIN + body.encode()).hex()
    lines.append(f'{{"checkpoint":{body},"signature":"{signature}"}}')
    export.write_text("".join(f"{line}\n" for line in lines))
    said = check(capsys, str(export), OLD.public_key, NEW.public_key)
    assert said.code == 1
    assert said.words.startswith(words)
    assert "signed by a key that had been replaced" in said.words


async def test_an_export_from_before_a_replacement_counts_with_the_key_of_its_time(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    older = place.log()
    await fill(older, 1, 2)
    before = await place.export(older, "before")
    await replaced_further(place, older)
    export = str(place.folder / "export")
    said = check(capsys, export, OLD.public_key, NEW.public_key, "--against", before)
    assert said.code == 0


async def replaced_further(place: Place, log: AuditLog) -> None:
    await fill(log, 3)
    lines = Path(await place.export(log, "raw")).read_text().splitlines()
    lines[0] = lines[0].replace(OLD.public_key, NEW.public_key)
    body = lines[-1].removeprefix('{"checkpoint":').rpartition(',"signature"')[0]
    signature = NEW.sign(DOMAIN + body.encode()).hex()
    lines[-1] = f'{{"checkpoint":{body},"signature":"{signature}"}}'
    (place.folder / "export").write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("rubbish", ["", "rubbish", "{}", '{"checkpoint":{},"public_key":"'])
async def test_a_line_that_is_no_head_is_named(
    place: Place, capsys: pytest.CaptureFixture[str], rubbish: str
) -> None:
    log = place.log()
    await fill(log, 1)
    export = await place.export(log, "export")
    with place.heads.open("a") as stream:
        stream.write(f"{rubbish}\n")
    said = check(capsys, export, OLD.public_key, "--witness", str(place.heads))
    assert said.code == 1
    assert said.words.startswith(f"{place.heads} line 2 is no head")
