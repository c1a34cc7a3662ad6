"""Check an exported audit log with nothing but the owner's public key and the standard library.

    python -m silas.audit.verify FILE PUBLIC_KEY [--head SEQ:HASH]

This one file may be copied anywhere and run with `python3 -S -I`; it imports nothing of Silas, so
that a fault there cannot hide here. It prints one sentence. Exit 0: the log is whole. 1: it is not.
2: it could not be checked (usage, unreadable file).

What it shows: nothing signed was edited, deleted, inserted or moved, and the file ends with a head
that the owner signed. What it cannot show without `--head`: that a file cut off exactly behind an
older checkpoint is not the newest one.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256, sha512
from typing import cast

GENESIS = "0" * 64
DOMAIN = b"silas.audit.checkpoint.v1\n"
FORMAT = 1

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int, int, int]  # extended coordinates: x = X/Z, y = Y/Z, T = XY/Z
_IDENTITY: Point = (0, 1, 1, 0)

_HASH = re.compile(r"[0-9a-f]{64}\Z")
_ENTRY = re.compile(rb'\{"entry":(.*),"hash":"([0-9a-f]{64})"\}\Z', re.DOTALL)
_CHECKPOINT = re.compile(rb'\{"checkpoint":(.*),"signature":"([0-9a-f]{128})"\}\Z', re.DOTALL)


class Refused(Exception):
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


def _json_object(raw: bytes) -> dict[str, object]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    # The keys of a JSON object are strings, which the type checker cannot know.
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _lines(stream: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(stream, 1):
        yield number, line.removesuffix(b"\n")


def verify_lines(stream: Iterable[bytes], public_key: str, head: tuple[int, str] | None) -> str:
    """Check an export line by line.

    Args:
        stream: The file, opened for bytes.
        public_key: The owner's verify key, 64 hex digits.
        head: A head that was noted elsewhere: number and hash.

    Returns:
        A sentence saying what was verified.

    Raises:
        Refused: Naming the first bad entry.
    """
    lines = _lines(stream)
    _check_header(next(lines, (1, b""))[1], public_key)
    seq, entry_hash, signed, checkpoints = 0, GENESIS, -1, 0
    for number, line in lines:
        if found := _CHECKPOINT.match(line):
            _check_checkpoint(found[1], found[2], public_key, (seq, entry_hash))
            signed, checkpoints = seq, checkpoints + 1
            continue
        entry = _ENTRY.match(line)
        if entry is None:
            raise Refused(
                f"Line {number} is neither an entry nor a checkpoint; entry {seq + 1} was expected."
            )
        _check_order(entry[1], number, seq + 1, lines)
        expected = sha256(entry_hash.encode() + b"\n" + entry[1]).hexdigest()
        if expected != entry[2].decode():
            raise Refused(f"Entry {seq + 1} was edited, inserted or replaced (line {number}).")
        seq, entry_hash = seq + 1, expected
        if head is not None and head[0] == seq and head[1] != entry_hash:
            raise Refused(f"Entry {seq} is not the noted head: the log was rewritten up to there.")
    _check_end(seq, signed, head)
    counts = f"{seq} entries, {checkpoints} signed checkpoints"
    return f"The audit log is whole: {counts}, head {seq}:{entry_hash}."


def _check_header(line: bytes, public_key: str) -> None:
    header = _json_object(line)
    if header.get("silas_audit") != FORMAT:
        raise Refused("Line 1 is not the header of a Silas audit export.")
    if header.get("public_key") != public_key:
        raise Refused("The export names another public key than the one given.")


def _check_order(
    body: bytes, number: int, expected: int, rest: Iterator[tuple[int, bytes]]
) -> None:
    said = _json_object(body).get("seq")
    if said == expected and type(said) is int and body.endswith(b',"seq":%d}' % expected):
        return
    if type(said) is not int:
        raise Refused(f"Entry {expected} was edited: line {number} has no number.")
    if said < expected:
        raise Refused(f"Entry {said} stands twice, or was moved or inserted (line {number}).")
    later = (_ENTRY.match(line) for _, line in rest)
    if any(found and _json_object(found[1]).get("seq") == expected for found in later):
        raise Refused(
            f"Entry {expected} is out of order: entry {said} stands in its place (line {number})."
        )
    raise Refused(f"Entry {expected} is missing: entry {said} stands in its place (line {number}).")


def _check_checkpoint(body: bytes, signature: bytes, public_key: str, at: tuple[int, str]) -> None:
    said = _json_object(body)
    if not ed25519_verify(
        bytes.fromhex(public_key), DOMAIN + body, bytes.fromhex(signature.decode())
    ):
        raise Refused(f"The checkpoint behind entry {at[0]} was not signed by the owner's key.")
    if (said.get("seq"), said.get("entry_hash")) != at:
        raise Refused(
            f"Entry {at[0]} is not what the owner signed: the log was recomputed, "
            f"or the checkpoint of entry {said.get('seq')} was moved."
        )


def _check_end(seq: int, signed: int, head: tuple[int, str] | None) -> None:
    if head is not None and head[0] > seq:
        raise Refused(
            f"Entries {seq + 1} to {head[0]} are missing: the log was cut off behind entry {seq}."
        )
    vouched = max(signed, head[0] if head else -1)  # a noted head was compared on the way
    if vouched == seq:
        return
    first = max(vouched, 0) + 1
    raise Refused(
        f"Nothing signed covers entry {first} and what follows: the end was cut off or replaced, "
        "or the log was already broken when it was exported."
    )


# ── Command line ─────────────────────────────────────────────────────────────────────────────────


def _parse_head(text: str) -> tuple[int, str]:
    number, _, entry_hash = text.partition(":")
    if not (number.isascii() and number.isdigit()) or not _HASH.match(entry_hash):
        raise ValueError("--head needs SEQ:HASH, a number and 64 hex digits.")
    return int(number), entry_hash


def _arguments(arguments: list[str]) -> tuple[str, str, tuple[int, str] | None]:
    usage = "usage: python -m silas.audit.verify FILE PUBLIC_KEY [--head SEQ:HASH]"
    if len(arguments) not in (2, 4) or (len(arguments) == 4 and arguments[2] != "--head"):
        raise ValueError(usage)
    if not _HASH.match(arguments[1]):
        raise ValueError("PUBLIC_KEY is 64 hex digits in lower case; `silas doctor` prints it.")
    return arguments[0], arguments[1], _parse_head(arguments[3]) if len(arguments) == 4 else None


def main(arguments: list[str]) -> int:
    """Run the command; returns the exit code."""
    try:
        path, public_key, head = _arguments(arguments)
        with open(path, "rb") as stream:
            say, code = verify_lines(stream, public_key, head), 0
    except Refused as refused:
        say, code = str(refused), 1
    except (ValueError, OSError) as error:
        say, code = str(error), 2
    sys.stdout.write(say + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
