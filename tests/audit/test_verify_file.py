"""The verifier of exports: one file, standard library only, no key but the public one."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

import silas.audit.verify as module
from silas.audit import AuditLog
from silas.audit.verify import DOMAIN, GENESIS, ed25519_verify, main
from silas.db import Database
from silas.keys import Ed25519Signer
from silas.testing.approval import a_signer
from tests.support.waits import SECONDS

KEY = a_signer().public_key
OTHER = a_signer("somebody else")


async def exported(audit: AuditLog, path: Path) -> list[str]:
    """Six entries, a checkpoint behind the third and one at the end: lines 2-4, 5, 6-8, 9."""
    for n in range(3):
        await audit.log("work_item_attempt", work_item_id="task-1", attempt=n)
    await audit.write_checkpoint()
    for n in range(3, 6):
        await audit.log("work_item_attempt", work_item_id="task-1", attempt=n)
    await audit.export(path)
    lines = path.read_text().splitlines()
    assert len(lines) == 9
    return lines


class Said(NamedTuple):
    code: int
    words: str


def verify(path: Path, capsys: pytest.CaptureFixture[str], *more: str, key: str = KEY) -> Said:
    code = main([str(path), key, *more])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return Said(code, out)


def body(line: str) -> str:
    return line.removeprefix('{"entry":').rpartition(',"hash":"')[0]


def rehash(lines: list[str], *, number_again: bool) -> list[str]:
    """Compute the chain anew over whatever entries there are, keeping the checkpoints."""
    made, previous, seq = [lines[0]], GENESIS, 0
    for line in lines[1:]:
        if not line.startswith('{"entry":'):
            made.append(line)
            continue
        seq += 1
        text = body(line)
        if number_again:
            said = {**json.loads(text), "seq": seq}
            text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        previous = sha256(f"{previous}\n{text}".encode()).hexdigest()
        made.append(f'{{"entry":{text},"hash":"{previous}"}}')
    return made


def task_2(lines: list[str]) -> list[str]:
    return [line.replace("task-1", "task-2") for line in lines]


def forged_checkpoint(lines: list[str]) -> list[str]:
    """Sign the last entry with another key, as whoever rewrote the log would have to."""
    entries = [line for line in lines if line.startswith('{"entry":')]
    last = entries[-1].rpartition('"hash":"')[2][:64]
    text = f'{{"at":"2026-01-02T03:04:05+00:00","entry_hash":"{last}","seq":{len(entries)}}}'
    signature = OTHER.sign(DOMAIN + text.encode()).hex()
    return [lines[0], *entries, f'{{"checkpoint":{text},"signature":"{signature}"}}']


ATTACKS: dict[str, tuple[Callable[[list[str]], list[str]], str]] = {
    "edited": (
        lambda x: [line.replace('"attempt":1', '"attempt":9') for line in x],
        "Entry 2 was edited, inserted or replaced (line 3).",
    ),
    "edited, its hash too": (
        lambda x: [*x[:2], rehash([x[0], task_2(x)[2]], number_again=False)[1], *x[3:]],
        "Entry 2 was edited, inserted or replaced (line 3).",
    ),
    "deleted": (
        lambda x: [*x[:2], *x[3:]],
        "Entry 2 is missing: entry 3 stands in its place (line 3).",
    ),
    "first deleted": (
        lambda x: [x[0], *x[2:]],
        "Entry 1 is missing: entry 2 stands in its place (line 2).",
    ),
    "deleted and renumbered": (
        lambda x: rehash([*x[:6], *x[7:]], number_again=True),
        "Entry 5 is not what the owner signed",
    ),
    "inserted": (
        lambda x: [*x[:3], x[2], *x[3:]],
        "Entry 2 stands twice, or was moved or inserted (line 4).",
    ),
    "inserted and renumbered": (
        lambda x: rehash([*x[:3], x[2], *x[3:]], number_again=True),
        "Entry 4 is not what the owner signed",
    ),
    "reordered": (
        lambda x: [*x[:6], x[7], x[6], *x[8:]],
        "Entry 5 is out of order: entry 6 stands in its place (line 7).",
    ),
    "recomputed without the key": (
        lambda x: rehash(task_2(x), number_again=False),
        "Entry 3 is not what the owner signed",
    ),
    "recomputed, signed by another key": (
        lambda x: forged_checkpoint(rehash(task_2(x), number_again=False)),
        "The checkpoint behind entry 6 was not signed by the owner's key.",
    ),
    "checkpoint moved": (
        lambda x: [*x[:4], x[5], x[4], *x[6:]],
        "Entry 4 is not what the owner signed",
    ),
    "checkpoints left out": (
        lambda x: [line for line in x if "checkpoint" not in line],
        "Nothing signed covers entry 1 and what follows",
    ),
    "cut off behind an entry": (lambda x: x[:7], "Nothing signed covers entry 4 and what follows"),
    "last checkpoint left out": (lambda x: x[:8], "Nothing signed covers entry 4 and what follows"),
    "a line of rubbish": (lambda x: [*x[:3], "rubbish", *x[3:]], "Line 4 is neither an entry nor"),
    "an empty line": (lambda x: [*x[:3], "", *x[3:]], "Line 4 is neither an entry nor"),
    "an entry without a number": (
        lambda x: [*x[:2], x[2].replace('"seq":2', '"sec":2'), *x[3:]],
        "Entry 2 was edited: line 3 has no number.",
    ),
    "two numbers": (
        lambda x: [*x[:2], x[2].replace('"seq":2', '"seq":2,"seq":3'), *x[3:]],
        "Entry 2 is missing: entry 3 stands in its place (line 3).",
    ),
    "a true number": (
        lambda x: [x[0], x[1].replace('"seq":1', '"seq":true'), *x[2:]],
        "Entry 1 was edited: line 2 has no number.",
    ),
    "another key named": (
        lambda x: [x[0].replace(KEY, OTHER.public_key), *x[1:]],
        "The export names another public key than the one given.",
    ),
    "header left out": (lambda x: x[1:], "Line 1 is not the header"),
    "emptied": (lambda x: [], "Line 1 is not the header"),
    "everything but the header gone": (lambda x: x[:1], "Nothing signed covers entry 1"),
}


@pytest.mark.proves("B5-ONE-FILE-VERIFIER")
async def test_a_whole_export_verifies(
    tmp_path: Path, audit: AuditLog, capsys: pytest.CaptureFixture[str]
) -> None:
    await exported(audit, tmp_path / "export")
    head = await audit.head()
    whole = f"The audit log is whole: 6 entries, 2 signed checkpoints, head {head}.\n"
    assert verify(tmp_path / "export", capsys) == (0, whole)
    assert verify(tmp_path / "export", capsys, "--head", str(head)) == (0, whole)


async def test_an_empty_log_exports_and_verifies(
    tmp_path: Path, audit: AuditLog, capsys: pytest.CaptureFixture[str]
) -> None:
    await audit.export(tmp_path / "export")
    assert verify(tmp_path / "export", capsys).code == 0


@pytest.mark.proves("B5-HASH-CHAIN", "B5-SIGNED-CHECKPOINTS", "B5-ONE-FILE-VERIFIER")
@pytest.mark.parametrize("name", ATTACKS)
async def test_an_altered_export_is_refused_and_the_place_named(
    tmp_path: Path, audit: AuditLog, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    change, words = ATTACKS[name]
    lines = change(await exported(audit, tmp_path / "export"))
    (tmp_path / "export").write_text("".join(line + "\n" for line in lines))
    said = verify(tmp_path / "export", capsys)
    assert said.code == 1
    assert said.words.startswith(words)


async def test_a_file_cut_off_behind_a_checkpoint_is_refused_by_the_noted_head(
    tmp_path: Path, audit: AuditLog, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = await exported(audit, tmp_path / "export")
    (tmp_path / "export").write_text("".join(line + "\n" for line in lines[:5]))
    assert verify(tmp_path / "export", capsys).code == 0
    said = verify(tmp_path / "export", capsys, "--head", str(await audit.head()))
    assert said == (1, "Entries 4 to 6 are missing: the log was cut off behind entry 3.\n")


async def test_another_log_than_the_noted_one_is_refused(
    tmp_path: Path, audit: AuditLog, capsys: pytest.CaptureFixture[str]
) -> None:
    await exported(audit, tmp_path / "export")
    said = verify(tmp_path / "export", capsys, "--head", f"4:{'ab' * 32}")
    assert said.code == 1
    assert said.words.startswith("Entry 4 is not the one noted in --head")


async def test_another_key_does_not_verify(
    tmp_path: Path, audit: AuditLog, capsys: pytest.CaptureFixture[str]
) -> None:
    await exported(audit, tmp_path / "export")
    assert verify(tmp_path / "export", capsys, key=OTHER.public_key).code == 1


async def test_a_broken_log_is_exported_as_it_is_and_refused(
    tmp_path: Path, database: Database, audit: AuditLog, capsys: pytest.CaptureFixture[str]
) -> None:
    await exported(audit, tmp_path / "before")
    with database.write() as tx:
        tx.driver.execute("DROP TRIGGER audit_log_no_update")
        tx.driver.execute("UPDATE audit_log SET body = replace(body, 'task-1', 'x') WHERE seq = 5")
    await audit.log("x")
    await audit.export(tmp_path / "export")
    said = verify(tmp_path / "export", capsys)
    assert said.code == 1
    assert said.words.startswith("Entry 5 was edited")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["file"],
        ["file", KEY, "--head"],
        ["file", KEY, "--tail", f"1:{GENESIS}"],
        ["file", KEY, "--head", "1"],
        ["file", KEY, "--head", f"-1:{GENESIS}"],
        ["file", KEY, "--head", f"²:{GENESIS}"],
        ["file", "no key"],
        ["file", KEY.upper() + "0"],
        ["/does/not/exist", KEY],
    ],
)
def test_what_cannot_be_checked_is_neither_good_nor_bad(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.proves("B5-ONE-FILE-VERIFIER")
@pytest.mark.parametrize("elsewhere", [True, False])
async def test_it_runs_on_the_standard_library_alone(
    tmp_path: Path, audit: AuditLog, elsewhere: bool
) -> None:
    await exported(audit, tmp_path / "export")
    source = Path(str(module.__file__))
    if elsewhere:
        shutil.copy(source, tmp_path / "checker.py")
        command = [sys.executable, "-S", "-I", str(tmp_path / "checker.py")]
    else:
        # `-S` leaves out every installed package: the package must not need one to get here.
        command = [sys.executable, "-S", "-m", "silas.audit.verify"]
    ran = subprocess.run(
        [*command, "export", KEY],
        cwd=tmp_path,
        env={"PYTHONPATH": str(source.parents[2])},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("The audit log is whole: 6 entries")


def test_a_line_that_does_not_fit_into_memory_is_said_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_text(f'{{"public_key":"{KEY}","silas_audit":1}}\n')
    os.truncate(path, 1 << 31)  # a hole of the file system's, which takes no room
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)); "
    code = f"{limit}from silas.audit.verify import main; raise SystemExit(main({[str(path), KEY]}))"
    ran = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=Path(str(module.__file__)).parents[2],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (2, "")
    assert ran.stdout == "The file has a line that does not fit into memory.\n"


# Every encoding of a point of small order, from libsodium's own list, and non-canonical ones.
SMALL_ORDER = [
    "00" * 32,
    "01" + "00" * 31,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "01" + "00" * 30 + "80",
]


@pytest.mark.parametrize("point", SMALL_ORDER)
def test_a_key_of_small_order_verifies_nothing(point: str) -> None:
    # With the neutral element as key and commitment and s = 0, any message would verify.
    for commitment in (point, "01" + "00" * 31):
        signature = bytes.fromhex(commitment) + bytes(32)
        assert not ed25519_verify(bytes.fromhex(point), b"anything", signature)


def test_a_second_signature_made_from_the_first_is_refused() -> None:
    signer, message = a_signer(), b"message"
    signature = signer.sign(message)
    order = 2**252 + 27742317777372353535851937790883648493
    s = int.from_bytes(signature[32:], "little") + order
    key = bytes.fromhex(signer.public_key)
    assert ed25519_verify(key, message, signature)
    assert not ed25519_verify(key, message, signature[:32] + s.to_bytes(32, "little"))


@given(
    seed=st.binary(min_size=32, max_size=32),
    message=st.binary(max_size=40),
    flip=st.none() | st.integers(0, 511),
)
def test_it_agrees_with_libsodium(seed: bytes, message: bytes, flip: int | None) -> None:
    signer = Ed25519Signer.from_seed(seed)
    signature = bytearray(signer.sign(message))
    if flip is not None:
        signature[flip // 8] ^= 1 << flip % 8
    key = bytes.fromhex(signer.public_key)
    try:
        VerifyKey(key).verify(message, bytes(signature))
        expected = True
    except BadSignatureError:
        expected = False
    assert ed25519_verify(key, message, bytes(signature)) is expected is (flip is None)
