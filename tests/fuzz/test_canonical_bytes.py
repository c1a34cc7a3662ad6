"""A short run of the fuzz target: random bytes, random JSON, and signed things with a change."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from silas.canonical import canonical_json
from silas.testing import MockClock
from silas.testing.approval import a_signer, a_token
from tests.fuzz.canonical_bytes import SEEDS, run

TOKEN: dict[str, Any] = a_token(a_signer(), MockClock()).model_dump(mode="json")

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=300))
@example(b"[" * 100_000)
@example(b'{"checksum":' * 100_000)
@example(b'{"checksum":[' + b"[" * 900 + b"]" * 900 + b"]}")
@example(b"1e999")
@example(b"9" * 5_000)
@example(b'{"a":1,"a":2}')
@example(b'"\\ud800"')
def test_random_bytes_are_refused_with_an_error_of_ours(data: bytes) -> None:
    run(data)


@given(json_values)
def test_any_json_means_one_thing(value: Any) -> None:
    run(json.dumps(value).encode())


@given(st.sampled_from(SEEDS), st.integers(0, 2000), st.binary(min_size=1, max_size=4))
def test_a_change_anywhere_is_refused_or_read_and_never_a_surprise(
    seed: bytes, at: int, change: bytes
) -> None:
    at %= len(seed)
    run(seed)
    run(seed[:at] + change + seed[at + len(change) :])
    run(seed[:at] + change + seed[at:])
    run(seed[:at])


@given(st.sampled_from(sorted(TOKEN)), json_values)
def test_a_token_with_any_field_is_refused_and_no_surprise(field: str, value: Any) -> None:
    run(json.dumps({**TOKEN, field: value}).encode())
    deep = canonical_json({**TOKEN, "conditions": {"x": value}})[:-1] if _writable(value) else ""
    run(f"{deep}}}".encode())


def _writable(value: Any) -> bool:
    try:
        canonical_json(value)
    except ValueError:
        return False
    return True
