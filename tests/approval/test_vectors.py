"""Frozen vectors, computed with plain json and hashlib and another Ed25519 library."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from silas.approval import ApprovalToken, token_bytes
from silas.approval.models import SIGNED_FIELDS, token_id_of
from silas.cards import ChannelMessage, message_bytes
from silas.keys import Ed25519Signer, verify_with

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "approval.json").read_text()
)
SIGNER = Ed25519Signer.from_seed(bytes.fromhex(VECTORS["seed"]))


@pytest.mark.proves("S3.6-SIGNED-BYTES", "S3.6-SIGNED-FIELDS", "A5-TOKEN-ID-DERIVED")
@pytest.mark.parametrize("vector", VECTORS["tokens"], ids=lambda v: str(v["name"]))
def test_the_signed_bytes_of_a_token(vector: dict[str, Any]) -> None:
    signature = bytes.fromhex(vector["signature"])
    token = ApprovalToken.model_validate(
        {**vector["fields"], "token_id": "unsigned", "signature": signature, "executions_used": 7}
    )
    assert set(vector["fields"]) == set(SIGNED_FIELDS)
    assert token_bytes(token) == vector["canonical"].encode()
    assert token_id_of(token_bytes(token)) == f"token-{vector['sha256']}"
    assert SIGNER.sign(token_bytes(token)) == signature
    assert verify_with(VECTORS["public_key"], token_bytes(token), signature)
    again = ApprovalToken.model_validate_json(token.model_dump_json())
    assert token_bytes(again) == token_bytes(token)


@pytest.mark.proves("S3.1-CANONICAL-MESSAGE")
@pytest.mark.parametrize("vector", VECTORS["messages"], ids=lambda v: str(v["name"]))
def test_the_signed_bytes_of_a_message(vector: dict[str, Any]) -> None:
    message = ChannelMessage(
        channel="web",
        sender_id="owner",
        text=vector["text"],
        timestamp=datetime.fromisoformat(vector["timestamp"]),
    )
    signed = message_bytes(message, vector["nonce"])
    assert signed == vector["canonical"].encode()
    assert SIGNER.sign(signed).hex() == vector["signature"]
    assert SIGNER.verify(signed, bytes.fromhex(vector["signature"]))
