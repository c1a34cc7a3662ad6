"""The fuzz target of audit import runs, sees what it should, and finds nothing in a few inputs."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fuzz.audit_import import good, run
from tests.support.chance import examples


@settings(max_examples=examples(300), deadline=None)
@given(how=st.integers(0, 7), rest=st.binary(max_size=600))
@example(how=0, rest=b"")
@example(how=1, rest=b"")
@example(how=4, rest=b"\xff\xff--head\n1:" + b"ab" * 32)
@example(how=5, rest=b"\xff\xff--against\n.")
@example(how=4, rest=b"\xff\xff--against\n\xed\xb2\x80\x1b[31m")
@example(how=1, rest=b'{"silas_audit":1,"public_key":"' + b"9" * 5000)
@example(how=1, rest=b"[" * 5000)
def test_any_bytes_end_in_one_sentence(how: int, rest: bytes) -> None:
    run(bytes([how]) + rest)


@settings(max_examples=examples(300), deadline=None)
@given(place=st.integers(0, 3000), cut=st.integers(0, 255), put=st.binary(max_size=80))
def test_a_good_export_changed_anywhere_is_never_taken_for_another_log(
    place: int, cut: int, put: bytes
) -> None:
    splice = place.to_bytes(2, "big") + bytes([cut]) + put
    run(b"\0" + splice.replace(b"\xff", b"\xfe"))
    run(b"\0\xff" + splice.replace(b"\xff", b"\xfe"))


def test_the_good_export_is_accepted_by_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    run(b"\0")
    assert capsys.readouterr().out == ""
    assert good().export.count(b"\n") == 8
