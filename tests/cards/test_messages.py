"""What a message signature covers, and what a message is worth until it is verified (spec 3.1)."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.cards import ChannelMessage, SignedMessage, message_bytes
from silas.types import TaintLevel

_MOMENTS = st.datetimes(
    min_value=datetime(2000, 1, 1),
    max_value=datetime(2100, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=2))]),
)
_TEXT = st.text(st.sampled_from('ab",:{}\\|\n\x1f\u00e9'), max_size=8)
"""Everything a separator could be made of, in few characters, so that pairs nearly collide."""
_SIGNED = st.tuples(_TEXT, _MOMENTS, _TEXT)


def _message(text: str, moment: datetime, **fields: str) -> ChannelMessage:
    given = {"channel": "web", "sender_id": "owner", **fields}
    return ChannelMessage.model_validate({**given, "text": text, "timestamp": moment})


@pytest.mark.proves("S3.1-CANONICAL-MESSAGE")
@given(st.text(), _MOMENTS, st.text())
def test_exactly_text_timestamp_and_nonce_are_signed_as_sorted_compact_json(
    text: str, moment: datetime, nonce: str
) -> None:
    fields = {"text": text, "timestamp": moment.isoformat(), "nonce": nonce}
    expected = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("utf-8")
    assert message_bytes(_message(text, moment), nonce) == expected
    other = _message(text, moment, channel="telegram", sender_id="somebody", reply_to="m-1")
    assert message_bytes(other, nonce) == expected


@pytest.mark.proves("S3.1-NO-DELIMITERS")
@given(_SIGNED, _SIGNED)
def test_no_two_messages_have_the_same_signed_bytes(
    one: tuple[str, datetime, str], two: tuple[str, datetime, str]
) -> None:
    first = message_bytes(_message(one[0], one[1]), one[2])
    second = message_bytes(_message(two[0], two[1]), two[2])
    same = (one[0], one[1].isoformat(), one[2]) == (two[0], two[1].isoformat(), two[2])
    assert (first == second) == same


@pytest.mark.proves("S3.1-NO-DELIMITERS")
@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("a|b", "c"), ("a", "b|c")),
        (("a\nb", "c"), ("a", "b\nc")),
        (('a","nonce":"b', "c"), ("a", 'b","text":"c')),
        (("ab", ""), ("a", "b")),
    ],
)
def test_a_delimiter_inside_a_value_moves_nothing(
    one: tuple[str, str], two: tuple[str, str]
) -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert message_bytes(_message(one[0], moment), one[1]) != message_bytes(
        _message(two[0], moment), two[1]
    )


@pytest.mark.proves("S3-AWARE-DATETIMES")
def test_a_timestamp_without_a_time_zone_is_never_signed() -> None:
    naive = _message("hi", datetime(2026, 1, 1, tzinfo=UTC)).model_copy(
        update={"timestamp": datetime(2026, 1, 1)}
    )
    with pytest.raises(ValueError, match="timezone-aware"):
        message_bytes(naive, "n")


@pytest.mark.proves("S3.1-TAINT-EXTERNAL-BY-DEFAULT")
def test_a_signed_message_is_external_until_it_is_shown_otherwise() -> None:
    message = _message("hi", datetime(2026, 1, 1, tzinfo=UTC))
    assert SignedMessage(message=message, signature=b"x", nonce="n").taint is TaintLevel.external
