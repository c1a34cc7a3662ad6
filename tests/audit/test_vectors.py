"""Frozen vectors, computed with hashlib and another Ed25519 library."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from silas.audit import AuditLog
from silas.audit.verify import ed25519_verify, verify_lines
from silas.db import Database
from silas.keys import Ed25519Signer
from silas.testing import MockClock

VECTORS = Path(__file__).parents[1] / "vectors"
AUDIT: dict[str, Any] = json.loads((VECTORS / "audit.json").read_text())
RFC8032: list[dict[str, str]] = json.loads((VECTORS / "approval.json").read_text())["rfc8032"]


@pytest.mark.proves("B5-HASH-CHAIN")
async def test_the_chain_and_its_export_are_the_frozen_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ids = iter([str(e["id"]) for e in AUDIT["entries"]])

    def next_id(prefix: str) -> str:
        return next(ids, prefix)

    monkeypatch.setattr("silas.audit.log.new_id", next_id)
    clock = MockClock()
    db = Database(tmp_path / "silas.db", clock)
    db.migrate("silas.audit")
    audit = AuditLog(db, clock, Ed25519Signer.from_seed(bytes.fromhex(AUDIT["seed"])))
    try:
        for each in AUDIT["entries"]:
            clock.advance((datetime.fromisoformat(each["at"]) - clock.now()).total_seconds())
            audit.log_now(each["event"], **each["data"])
        stored = await audit.entries()
        assert [e._asdict() for e in stored] == [
            {
                "seq": e["seq"],
                "entry_id": e["id"],
                "body": e["body"],
                "previous_hash": e["previous_hash"],
                "entry_hash": e["entry_hash"],
            }
            for e in AUDIT["entries"]
        ]
        signed_at = datetime.fromisoformat(AUDIT["checkpoint"]["at"])
        clock.advance((signed_at - clock.now()).total_seconds())
        await audit.export(tmp_path / "export")
        assert (tmp_path / "export").read_text().splitlines() == AUDIT["export"]
    finally:
        db.close()


def test_the_verifier_accepts_the_frozen_export() -> None:
    lines = [line.encode() + b"\n" for line in AUDIT["export"]]
    whole = verify_lines(lines, [AUDIT["public_key"]])
    assert (whole.entries, whole.checkpoints) == (3, 1)
    assert whole.head.startswith("3:")


@pytest.mark.parametrize("vector", RFC8032, ids=lambda v: f"{len(v['message']) // 2} bytes")
def test_ed25519_in_plain_python_agrees_with_rfc_8032(vector: dict[str, str]) -> None:
    key, message, signature = (
        bytes.fromhex(vector[name]) for name in ("public_key", "message", "signature")
    )
    assert ed25519_verify(key, message, signature)
    assert not ed25519_verify(key, message + b"x", signature)
    assert not ed25519_verify(key, message, signature[:-1])
    for place in (0, 31, 32, 63):
        changed = bytearray(signature)
        changed[place] ^= 1
        assert not ed25519_verify(key, message, bytes(changed))
