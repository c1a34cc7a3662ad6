"""Check an exported audit log with nothing but the owner's public key and the standard library.

    python -I -m silas.audit.verify FILE PUBLIC_KEY... [--head SEQ:HASH]... [--witness HEADS]...
                                 [--against OTHER_EXPORT]...

This one file may be copied anywhere and run with `python3 -S -I`; it imports nothing of Silas, so
that a fault there cannot hide here. It prints one sentence. Exit 0: the log is whole. 1: it is not.
2: it could not be checked (usage, unreadable file).

Where the owner's key was replaced, give every key in the order of replacement: the last one must
be named in the export and have signed its end, and a replaced one signs nothing afterwards.

What it shows: nothing signed was edited, deleted, inserted or moved, and the file ends with a head
that the owner signed. That it was not cut off behind an older checkpoint, and not forked, takes
memory outside the log: a noted head, a witness's file of heads, or another export.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256, sha512
from typing import NamedTuple, cast

GENESIS = "0" * 64
DOMAIN = b"silas.audit.checkpoint.v1\n"
FORMAT = 1

_P, _L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int, int, int]  # extended coordinates: x = X/Z, y = Y/Z, T = XY/Z
_IDENTITY: Point = (0, 1, 1, 0)

_HASH = re.compile(r"[0-9a-f]{64}\Z")
_ENTRY = re.compile(rb'\{"entry":(.*),"hash":"([0-9a-f]{64})"\}\Z', re.DOTALL)
_CHECKPOINT = re.compile(rb'\{"checkpoint":(.*),"signature":"([0-9a-f]{128})"\}\Z', re.DOTALL)
_WITNESSED = re.compile(
    rb'\{"checkpoint":(.*),"public_key":"[0-9a-f]{64}","signature":"([0-9a-f]{128})"\}\Z', re.DOTALL
)

_NO_HEAD = "is no head that the owner signed; the witness was altered."


class Invalid(Exception):
    """The log is not whole; the message names the first bad entry."""


# ── Ed25519, RFC 8032 section 5.1.7, as strict as libsodium ──────────────────────────────────────


def _add(a: Point, b: Point) -> Point:
    e = (a[1] - a[0]) * (b[1] - b[0]) % _P
    f = (a[1] + a[0]) * (b[1] + b[0]) % _P
    g = 2 * a[3] * b[3] * _D % _P
    h = 2 * a[2] * b[2] % _P
    return (
        (f - e) * (h - g) % _P,
        (h + g) * (f + e) % _P,
        (h - g) * (h + g) % _P,
        (f - e) * (f + e) % _P,
    )


def _multiply(scalar: int, point: Point) -> Point:
    result = _IDENTITY
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point, scalar = _add(point, point), scalar >> 1
    return result


def _same(a: Point, b: Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % _P == 0 and (a[1] * b[2] - b[1] * a[2]) % _P == 0


def _point(data: bytes) -> Point | None:
    """Decode 32 bytes; None if they are no point or not its only encoding."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if len(data) != 32 or y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


_BASE = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little")) or _IDENTITY


def ed25519_verify(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether the signature is the key's over exactly this message.

    Refuses s >= L (a second signature made from the first), encodings that are not canonical,
    and points of small order (keys that sign anything).
    """
    if len(signature) != 64:
        return False
    key, commitment = _point(public_key), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if key is None or commitment is None or s >= _L:
        return False
    if any(_same(_multiply(8, point), _IDENTITY) for point in (key, commitment)):
        return False
    hashed = sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(hashed, "little") % _L
    return _same(_multiply(s, _BASE), _add(commitment, _multiply(challenge, key)))


# ── The log ──────────────────────────────────────────────────────────────────────────────────────


class NotedHead(NamedTuple):
    """A remembered head; `body` and `signature` are a witness's, empty where the caller vouches."""

    seq: int
    entry_hash: str
    place: str
    body: bytes = b""
    signature: bytes = b""


class VerifiedLog(NamedTuple):
    """A whole log: how much was checked, and every entry's 32-byte hash in a row."""

    entries: int
    checkpoints: int
    head: str
    hashes: bytearray


def verify_lines(
    stream: Iterable[bytes], keys: Sequence[str], noted: Iterable[NotedHead] = ()
) -> VerifiedLog:
    """Check an export line by line.

    Args:
        stream: The file, open for bytes.
        keys: The owner's verify keys in hex, in the order of their replacement.
        noted: Heads that are remembered elsewhere.

    Raises:
        Refused: Naming the first bad entry.
    """
    walk = _Walk(keys, noted)
    lines = enumerate((line.removesuffix(b"\n") for line in stream), 1)
    _check_header(next(lines, (1, b""))[1], keys)
    seq, previous, expected = 0, GENESIS.encode(), 1
    watched, hashes = walk.watched, bytearray()
    for number, line in lines:
        body, said = line[9:-75], line[-66:-2]
        found = sha256(previous + b"\n" + body)
        # The common line in as few steps as possible; everything else goes the careful way.
        if (
            found.hexdigest().encode() != said
            or not body.endswith(b',"seq":%d}' % expected)
            or line[:9] != b'{"entry":'
            or line[-75:-66] != b',"hash":"'
            or line[-2:] != b'"}'
        ):
            walk.other_line(line, number, (seq, previous.decode()), lines)
            continue
        seq, previous, expected = expected, said, expected + 1
        hashes += found.digest()
        if seq in watched:
            walk.compare(seq, said.decode())
    walk.end(seq)
    return VerifiedLog(seq, walk.checkpoints, f"{seq}:{previous.decode()}", hashes)


class _Walk:
    """What was vouched for so far, and by which key."""

    def __init__(self, keys: Sequence[str], noted: Iterable[NotedHead]) -> None:
        self.keys = [bytes.fromhex(key) for key in keys]
        self.watched: dict[int, list[NotedHead]] = {}
        for each in noted:
            self.watched.setdefault(each.seq, []).append(each)
        self.checkpoints = 0
        self._key = 0  # index of the key that signed last
        self._signed = self._vouched = -1
        self._agreed = 0  # the last entry that something outside the chain agrees with

    def compare(self, seq: int, entry_hash: str) -> None:
        """Hold the entry against what is noted about it.

        A witness's signature is checked only where it decides something: it costs 3 ms.
        """
        for each in self.watched[seq]:
            if each.entry_hash != entry_hash:
                self._believe(each)
                raise Invalid(
                    f"Entry {seq} is not the one noted in {each.place}: the log was rewritten or "
                    f"forked there or before, behind entry {self._agreed}."
                )
            if not each.body:
                self._vouched = seq
        self._agreed = seq

    def _believe(self, each: NotedHead) -> None:
        if each.body and self._signer(each.body, each.signature) is None:
            raise Invalid(f"{each.place} {_NO_HEAD}")

    def _signer(self, body: bytes, signature: bytes) -> int | None:
        raw = bytes.fromhex(signature.decode())
        order = [*range(self._key, len(self.keys)), *range(self._key)]
        return next((n for n in order if ed25519_verify(self.keys[n], DOMAIN + body, raw)), None)

    def other_line(
        self, line: bytes, number: int, at: tuple[int, str], rest: Iterator[tuple[int, bytes]]
    ) -> None:
        """A checkpoint, or the first thing that is wrong."""
        if found := _CHECKPOINT.match(line):
            self._checkpoint(found[1], found[2], at)
            return
        expected = at[0] + 1
        entry = _ENTRY.match(line)
        if entry is None:
            say = "is neither an entry nor a checkpoint"
            raise Invalid(f"Line {number} {say}; entry {expected} was expected.")
        _check_order(entry[1], number, expected, rest)
        raise Invalid(f"Entry {expected} was edited, inserted or replaced (line {number}).")

    def _checkpoint(self, body: bytes, signature: bytes, at: tuple[int, str]) -> None:
        signer, said = self._signer(body, signature), _json_object(body)
        if signer is None:
            raise Invalid(f"The checkpoint behind entry {at[0]} was not signed by the owner's key.")
        if signer < self._key:
            replaced = "a key that had been replaced"
            raise Invalid(f"The checkpoint behind entry {at[0]} was signed by {replaced}.")
        if (said.get("seq"), said.get("entry_hash")) != at:
            raise Invalid(
                f"Entry {at[0]} is not what the owner signed: the log was recomputed behind entry "
                f"{self._agreed}, or the checkpoint of entry {said.get('seq')} was moved."
            )
        self._key, self.checkpoints = signer, self.checkpoints + 1
        self._signed = self._vouched = self._agreed = at[0]

    def end(self, seq: int) -> None:
        """The file is over: was it cut off, and is its end signed?"""
        newest = max(self.watched, default=seq)
        if newest > seq:
            self._believe(self.watched[newest][0])
            cut = f"the log was cut off behind entry {seq}"
            raise Invalid(f"Entries {seq + 1} to {newest} are missing: {cut}.")
        if self._vouched != seq == self._agreed and seq in self.watched:
            self._believe(self.watched[seq][0])
        elif self._vouched != seq:
            raise Invalid(
                f"Nothing signed covers entry {max(self._vouched, 0) + 1} and what follows: the "
                "end was cut off or replaced, or the log was already broken when it was exported."
            )
        if self._signed == seq and self._key != len(self.keys) - 1:
            raise Invalid(f"Entry {seq}, the last one, was signed by a key that had been replaced.")


def _json_object(raw: bytes) -> dict[str, object]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    # JSON has string keys only
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _check_header(line: bytes, keys: Sequence[str]) -> None:
    header = _json_object(line)
    if header.get("silas_audit") != FORMAT:
        raise Invalid("Line 1 is not the header of a Silas audit export.")
    if header.get("public_key") != keys[-1]:
        last = "one" if len(keys) == 1 else "last one"
        raise Invalid(f"The export names another public key than the {last} given.")


def _check_order(
    body: bytes, number: int, expected: int, rest: Iterator[tuple[int, bytes]]
) -> None:
    said = _json_object(body).get("seq")
    if said == expected and type(said) is int and body.endswith(b',"seq":%d}' % expected):
        return
    if type(said) is not int:
        raise Invalid(f"Entry {expected} was edited: line {number} has no number.")
    if said < expected:
        raise Invalid(f"Entry {said} stands twice, or was moved or inserted (line {number}).")
    later = (_ENTRY.match(line) for _, line in rest)
    if any(found and _json_object(found[1]).get("seq") == expected for found in later):
        raise Invalid(
            f"Entry {expected} is out of order: entry {said} stands in its place (line {number})."
        )
    raise Invalid(f"Entry {expected} is missing: entry {said} stands in its place (line {number}).")


# ── What is remembered elsewhere ─────────────────────────────────────────────────────────────────


def read_witness(stream: Iterable[bytes], name: str) -> list[NotedHead]:
    """The heads in a witness's file, one a line; a line that is no head is refused."""
    heads: list[NotedHead] = []
    for number, line in enumerate(stream, 1):
        place = f"{name} line {number}"
        found = _WITNESSED.match(line.removesuffix(b"\n"))
        said = _json_object(found[1]) if found else {}
        seq, entry_hash = said.get("seq"), said.get("entry_hash")
        if not found or type(seq) is not int or seq < 0 or not isinstance(entry_hash, str):
            raise Invalid(f"{place} {_NO_HEAD}")
        heads.append(NotedHead(seq, entry_hash, place, found[1], found[2]))
    return heads


def check_fork(mine: VerifiedLog, keys: Sequence[str], name: str) -> None:
    """Say where another export parts from this one, if it does; one may be longer."""
    with open(name, "rb") as stream:
        # An export from before a replacement names, and ends with, the key of its time.
        named = _json_object(stream.readline()).get("public_key")
        known = [key for n, key in enumerate(keys) if named not in keys[:n]]
        stream.seek(0)
        try:
            other = verify_lines(stream, known).hashes
        except Invalid as refused:
            raise Invalid(f"{name}: {refused}") from None
    for n in range(0, min(len(mine.hashes), len(other)), 32):
        if mine.hashes[n : n + 32] != other[n : n + 32]:
            raise Invalid(
                f"The record was forked: entry {n // 32 + 1} differs from the one in {name}, and "
                "the owner's key signed both."
            )


# ── Command line ─────────────────────────────────────────────────────────────────────────────────

_USAGE = (
    "usage: python -I -m silas.audit.verify FILE PUBLIC_KEY... [--head SEQ:HASH]... "
    "[--witness HEADS]... [--against OTHER_EXPORT]..."
)


def _parse_head(text: str) -> NotedHead:
    number, _, entry_hash = text.partition(":")
    digits = number.isascii() and number.isdigit() and len(number) < 19
    if not digits or not _HASH.match(entry_hash):
        raise ValueError("--head needs SEQ:HASH, a number and 64 hex digits.")
    return NotedHead(int(number), entry_hash, "--head")


def _arguments(arguments: list[str]) -> tuple[str, list[str], dict[str, list[str]]]:
    plain: list[str] = []
    given: dict[str, list[str]] = {"--head": [], "--witness": [], "--against": []}
    rest = iter(arguments)
    for each in rest:
        if not each.startswith("--"):
            plain.append(each)
        elif each not in given or (value := next(rest, None)) is None:
            raise ValueError(_USAGE)
        else:
            given[each].append(value)
    if len(plain) < 2:
        raise ValueError(_USAGE)
    if not all(map(_HASH.match, plain[1:])):
        raise ValueError("PUBLIC_KEY is 64 hex digits in lower case; `silas doctor` prints it.")
    return plain[0], plain[1:], given


def _check(path: str, keys: list[str], given: dict[str, list[str]]) -> str:
    noted = [_parse_head(text) for text in given["--head"]]
    for name in given["--witness"]:
        with open(name, "rb") as stream:
            noted += read_witness(stream, name)
    with open(path, "rb") as stream:
        whole = verify_lines(stream, keys, noted)
    for name in given["--against"]:
        check_fork(whole, keys, name)
    counts = f"{whole.entries} entries, {whole.checkpoints} signed checkpoints"
    return f"The audit log is whole: {counts}, head {whole.head}."


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    try:
        say, code = _check(*_arguments(arguments)), 0
    except Invalid as refused:
        say, code = str(refused), 1
    except (ValueError, OSError, MemoryError) as error:
        say, code = str(error) or "The file has a line that does not fit into memory.", 2
    # Names of files and what they hold may drive a terminal, or not be text at all.
    plain = "".join(c if c.isprintable() else "?" for c in say)
    sys.stdout.write(plain.encode("ascii", "backslashreplace").decode() + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
