"""Canonical bytes and digests: what is hashed, signed and stored (spec 3.1, 3.3, 3.6)."""

import hashlib
import json
import math
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
        ValueError: A number is not finite: NaN has no JSON, and two readers would disagree. Or the
            value is nested deeper than it can be written.
        TypeError: The value is not JSON.
    """
    try:
        return _ENCODER.encode(value)
    except RecursionError as error:
        raise ValueError("The value is nested too deeply to be written as JSON.") from error


def canonical_bytes(value: Any) -> bytes:
    """The canonical JSON as UTF-8 bytes."""
    return canonical_json(value).encode("utf-8")


def read_json(text: str | bytes) -> Any:
    """Read JSON that can mean one thing only; what `canonical_json` wrote reads back as it was.

    Stricter than `json.loads`, which keeps the last of two equal keys and knows NaN: two readers of
    what was signed must not see two different things.

    Raises:
        ValueError: It is no JSON, has a key twice, a number that is not finite or of thousands of
            digits, is not UTF-8, or is nested too deeply.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")  # `json.loads` would guess UTF-16 and UTF-32, too
    try:
        return json.loads(
            text,
            object_pairs_hook=_each_key_once,
            parse_float=_finite,
            parse_constant=_no_constant,
        )
    except RecursionError as error:
        raise ValueError("The JSON is nested too deeply to be read.") from error


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes of a JSON value."""
    return sha256_hex(canonical_bytes(value))


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("The JSON has a key twice.")
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("The JSON has a number that is too large.")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")
