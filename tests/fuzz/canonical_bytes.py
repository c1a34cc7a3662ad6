"""Fuzz target: whatever bytes arrive where signed, hashed and sealed JSON is read."""

import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from silas.approval.models import ApprovalToken, token_bytes
from silas.approval.rules import authentic
from silas.canonical import canonical_bytes, canonical_json, digest, read_json
from silas.errors import SilasError
from silas.keys import Ed25519Signer, KeyRing, import_public_key, verify_with
from silas.keys.sealed import read_document
from silas.testing import MockClock
from silas.testing.approval import a_signer, a_token

ROOT = Path(__file__).resolve().parents[2]
_SIGNER = Ed25519Signer.from_seed(bytes(range(32)))
_RING = KeyRing.alone(_SIGNER.public_key)

_TOKEN: dict[str, Any] = a_token(a_signer(), MockClock()).model_dump(mode="json")
_DOCUMENT: dict[str, Any] = {"backend": "file", "owner": "owner", "public_key": "ab" * 32}
_VECTORS = json.loads((ROOT / "tests" / "vectors" / "canonical.json").read_text("utf-8"))

SEEDS = (
    canonical_bytes(_TOKEN),
    canonical_bytes({**_DOCUMENT, "checksum": digest(_DOCUMENT)}),
    b"\x01" + bytes(31),
    *(vector["json"].encode() for vector in _VECTORS["canonical"]),
)
TOKENS = tuple(f'"{name}":'.encode() for name in [*_TOKEN, *_DOCUMENT, "checksum"])


def run(data: bytes) -> None:
    """Read `data` in every way in which a signed or sealed document is read.

    Raises:
        AssertionError: Something that was read does not mean exactly one thing, or something that
            nobody signed verifies. Any other exception is a fault, too: what may be refused is
            refused with a documented error, which ends here.
    """
    _as_keys_and_signatures(data)
    _as_a_sealed_document(data)
    try:
        value = read_json(data)
    except ValueError:
        return
    _means_one_thing(value)
    _as_a_token(value)


def _means_one_thing(value: Any) -> None:
    try:
        text = canonical_json(value)
    except ValueError:  # nested deeper than it can be written
        return
    again = read_json(text)
    assert canonical_json(again) == text
    assert canonical_bytes(again) == text.encode("ascii")
    assert digest(again) == digest(value)


def _as_a_token(value: Any) -> None:
    try:
        token = ApprovalToken.model_validate(value)
    except ValidationError:
        return
    assert authentic(token, _SIGNER, _RING, ZoneInfo("UTC")) is not None
    try:
        signed = token_bytes(token)
    except (TypeError, ValueError):
        return
    assert canonical_bytes(read_json(signed)) == signed


def _as_a_sealed_document(data: bytes) -> None:
    try:
        document = read_document(data.decode("utf-8", errors="replace"), "the file")
    except SilasError:
        return
    canonical_bytes(document)  # what was read was hashed


def _as_keys_and_signatures(data: bytes) -> None:
    assert not _SIGNER.verify(data, data[:64])
    assert not _SIGNER.verify(data[64:], data[:64])
    for text in (data[:32].hex(), data[:64].decode("latin-1")):
        try:
            assert import_public_key(text) == text.lower()
        except SilasError:
            assert not verify_with(text, data, data[:64])
