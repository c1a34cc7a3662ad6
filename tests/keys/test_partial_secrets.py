"""A text that goes on is shown only as far as no secret can have begun."""

import base64
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.keys.partial_secrets import unread_from
from silas.keys.redact import Redactor

SECRET = "Xk9$hunter2-pq/Zz"
_OCTETS = SECRET.encode()
_HEX = [f"{octet:02x}" for octet in _OCTETS]
FORMS = {
    "as it is": SECRET,
    "upper case": SECRET.upper(),
    "with blanks": " ".join(SECRET),
    "with colours": "\x1b[31m".join(SECRET),
    "percent": "".join(f"%{digits}" for digits in _HEX),
    "percent twice": "".join(f"%25{digits}" for digits in _HEX),
    "backslash": "".join(f"\\u{ord(one):04x}" for one in SECRET),
    "octets": "".join(f"\\x{digits}" for digits in _HEX),
    "html": "".join(f"&#{ord(one)};" for one in SECRET),
    "hex": "".join(_HEX),
    "hex with blanks": " ".join(_HEX),
    "base64": base64.b64encode(b"a" + _OCTETS + b"b").decode(),
    "dumped": f"\n00000000: {' '.join(_HEX[:16])}\n00000010: {' '.join(_HEX[16:])}\n",
}
_CUTS = st.lists(st.integers(1, 9), min_size=1, max_size=60)


@settings(deadline=None)
@given(form=st.sampled_from(sorted(FORMS)), cuts=_CUTS)
def test_no_form_of_a_secret_is_ever_seen_beyond_its_first_letters(
    form: str, cuts: list[int]
) -> None:
    redactor, written = Redactor([("door", SECRET)]), FORMS[form]
    text = f"Don't worry, it is {written} and so on, 100% of it & more."
    first = text.index(written)
    least = len(written) // len(SECRET) * 4  # what four of its letters take in this form
    for end in (*accumulate(cuts), len(text)):
        shown = redactor.redact_begun(text[:end])
        if "[secret door]" not in shown:
            assert len(shown) <= first + least, shown
        assert SECRET not in shown


@settings(deadline=None)
@given(st.text(alphabet="Xk9$hunter2 %25u\\&#;\n0123456789abc", max_size=80))
def test_what_is_shown_ends_where_something_may_begin_and_adds_nothing(text: str) -> None:
    plain, secret = Redactor(()), Redactor([("door", SECRET)])
    assert plain.redact_begun(text) == text
    shown = secret.redact_begun(text)
    assert secret.redact(text).startswith(shown) or "[secret" in secret.redact(text)


def test_ordinary_text_is_held_back_by_a_few_letters_at_most() -> None:
    redactor = Redactor([("door", SECRET)])
    text = "It is nine, and the train leaves in an hour. "
    for end in range(len(text)):
        assert end - len(redactor.redact_begun(text[:end])) <= 10


@pytest.mark.parametrize("bad", ["H4sI", "H4sI ", "%", "&#", "1f8b08", "'", "\x1b[", "\\u", "0 "])
def test_a_text_that_seems_to_begin_something_everywhere_is_read_once(bad: str) -> None:
    text = bad * 4000
    assert 0 <= unread_from(text) <= len(text)
    assert len(Redactor([("door", SECRET)]).redact_begun(text)) <= len(text)
