"""Canonical bytes and digests: what is hashed, signed and stored (spec 3.1, 3.3, 3.6)."""

import hashlib
import json
from json.encoder import encode_basestring_ascii
from typing import Any

# What `json.dumps` would make anew at every call; a test holds the two against each other.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


canonical_text = encode_basestring_ascii
"""`canonical_json` of text alone, for whoever writes an object of known fields out himself.

Raises `TypeError` where the value is not text.
"""


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no insignificant white space, ASCII as `json.dumps` has it.

    Raises:
        ValueError: A number is not finite: NaN has no JSON, and two readers would disagree.
        TypeError: The value is not JSON.
    """
    return _ENCODER.encode(value)


def canonical_bytes(value: Any) -> bytes:
    """The canonical JSON as UTF-8 bytes."""
    return canonical_json(value).encode("utf-8")


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes of a JSON value."""
    return sha256_hex(canonical_bytes(value))
