"""Fuzz target: whatever an export, a witness's file or a key holds, one sentence comes out.

`run` splits its input: the first byte says how it is used, the rest is an export, a file of heads
and the arguments, either as they are or spliced into good ones. It asserts that nothing is accepted
but a log that the owner signed.
"""

import contextlib
import io
import os
import tempfile
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from silas.audit import verify
from silas.audit.models import AuditHead
from silas.audit.verify import DOMAIN, GENESIS, main
from silas.audit.witness import FileWitness, contradiction
from silas.testing.approval import a_signer

_ENTRIES = 6
_EDGE = b"\xff"  # stands between the parts of an input

# The same answers, remembered: a signature takes 3 ms in plain Python, and most inputs leave the
# good one as it is.
verify.ed25519_verify = lru_cache(maxsize=4096)(verify.ed25519_verify)


class Good(NamedTuple):
    """A log that verifies, what a witness kept of it, and the hash of each of its entries."""

    key: str
    export: bytes
    heads: bytes
    hashes: tuple[str, ...]


@cache
def good() -> Good:
    signer = a_signer()
    lines = [f'{{"public_key":"{signer.public_key}","silas_audit":1}}']
    hashes = [GENESIS]
    at = "2026-01-02T03:04:05+00:00"
    for seq in range(1, _ENTRIES + 1):
        body = f'{{"at":"{at}","data":{{}},"event":"x","id":"audit-{seq}","seq":{seq}}}'
        hashes.append(sha256(f"{hashes[-1]}\n{body}".encode()).hexdigest())
        lines.append(f'{{"entry":{body},"hash":"{hashes[-1]}"}}')
    head = f'{{"at":"{at}","entry_hash":"{hashes[-1]}","seq":{_ENTRIES}}}'
    signature = signer.sign(DOMAIN + head.encode()).hex()
    lines.append(f'{{"checkpoint":{head},"signature":"{signature}"}}')
    kept = f'{{"checkpoint":{head},"public_key":"{signer.public_key}","signature":"{signature}"}}\n'
    export = "".join(f"{line}\n" for line in lines)
    return Good(signer.public_key, export.encode(), kept.encode(), tuple(hashes))


@cache
def _folder() -> Path:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    keep = tempfile.TemporaryDirectory(prefix="fuzz-audit-", dir=memory)
    _KEPT.append(keep)
    return Path(keep.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def _spliced(base: bytes, data: bytes) -> bytes:
    """Bytes put into a good file: two say where, one how many they replace, the rest is put there.

    Nothing is changed where there is nothing to put.
    """
    if len(data) < 3:
        return base
    place = int.from_bytes(data[:2], "big") % (len(base) + 1)
    return base[:place] + data[3:] + base[place + data[2] :]


def run(data: bytes) -> None:
    """One input; an exception is a finding."""
    how, rest = data[:1] or b"\0", data[1:]
    raw = how[0] & 1
    parts = [*rest.split(_EDGE, 2), b"", b"", b""][:3]
    sound = good()
    export = parts[0] if raw else _spliced(sound.export, parts[0])
    heads = parts[1] if raw else _spliced(sound.heads, parts[1])
    # Without slashes: an argument must not name a device that never ends.
    words = parts[2].replace(b"/", b"_").decode("utf-8", "surrogateescape").split("\n")
    key = [sound.key] if not raw or how[0] & 2 else words
    _alone(export, heads, key, words if how[0] & 4 else [], sound)
    _beside_the_log(heads, sound)


SEEDS = (
    b"\0",
    b"\x01" + _EDGE.join((good().export, good().heads, good().key.encode())),
    b"\x03" + _EDGE.join((good().export, good().heads, b"")),
    b"\x04" + _EDGE.join((b"", b"", b"--head\n6:" + good().hashes[-1].encode())),
    b"\x04" + _EDGE.join((b"", b"", b"--against\n.")),
    *(b"\0" + place.to_bytes(2, "big") + b"\x01" + b"0" for place in range(0, 2000, 97)),
    *(b"\0\xff" + place.to_bytes(2, "big") + b"\x01" + b"0" for place in range(0, 400, 53)),
)
TOKENS = (
    _EDGE,
    b"--head\n",
    b"--witness\n",
    b"--against\n",
    b"\n",
    *(f'"{name}":'.encode() for name in ("silas_audit", "public_key", "entry", "hash")),
    *(f'"{name}":'.encode() for name in ("checkpoint", "signature", "seq", "entry_hash", "at")),
    *(x.encode() for x in good().hashes),
)


def _alone(export: bytes, heads: bytes, key: list[str], more: list[str], sound: Good) -> None:
    folder = _folder()
    (folder / "export").write_bytes(export)
    (folder / "heads").write_bytes(heads)
    said = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict", write_through=True)
    arguments = [str(folder / "export"), *key, "--witness", str(folder / "heads"), *more]
    with contextlib.redirect_stdout(said):
        code = main(arguments)
    said.seek(0)
    text = said.read()
    assert code in (0, 1, 2), code
    assert text.endswith("\n"), text
    assert text[:-1].isprintable(), text
    if code == 0:
        assert text.endswith(f"head {_ENTRIES}:{sound.hashes[-1]}.\n"), text


def _beside_the_log(heads: bytes, sound: Good) -> None:
    path = _folder() / "heads"
    signer = a_signer()

    def hash_of(seq: int) -> str | None:
        return sound.hashes[seq] if seq < len(sound.hashes) else None

    def signed(body: str, signature: str) -> bool:
        return signer.verify(DOMAIN + body.encode(), bytes.fromhex(signature))

    words = contradiction(FileWitness(path).lines(), [AuditHead(0, GENESIS)], hash_of, signed)
    if not words:
        # Everything but the name of the key, which says where to look and decides nothing.
        before, _, after = sound.heads.partition(b'"public_key":"')
        lines = heads.removesuffix(b"\n").split(b"\n") if heads else []
        assert all(x.startswith(before) and x.endswith(after[64:-1]) for x in lines), lines
