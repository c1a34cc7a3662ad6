import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from silas.types import Base64Bytes, TaintLevel, join_taint, new_id, new_nonce


@pytest.mark.proves("A10-UNLISTED-EXTERNAL")
def test_nothing_known_about_an_origin_means_external() -> None:
    assert join_taint([]) is TaintLevel.external


@given(st.lists(st.sampled_from(TaintLevel), min_size=1))
def test_a_join_is_never_more_trusted_than_any_part(levels: list[TaintLevel]) -> None:
    order = [TaintLevel.owner, TaintLevel.auth, TaintLevel.external]
    assert order.index(join_taint(levels)) == max(order.index(level) for level in levels)


@given(st.binary())
def test_bytes_round_trip_through_json_as_base64(raw: bytes) -> None:
    adapter = TypeAdapter[bytes](Base64Bytes)
    assert adapter.validate_json(adapter.dump_json(raw)) == raw


def test_text_that_is_not_base64_is_refused() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[bytes](Base64Bytes).validate_python("not base64!")


def test_identifiers_and_nonces_do_not_repeat() -> None:
    assert len({new_id("task") for _ in range(200)} | {new_nonce() for _ in range(200)}) == 400
    assert new_id("task").startswith("task-")
    assert len(new_nonce()) == 64
