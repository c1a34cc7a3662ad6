"""Every type of a slot takes what it is called and nothing that only looks like it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.approval.slots import SLOT_TYPES, slot_type

TAKEN: tuple[tuple[str, Any], ...] = (
    ("text", "Two lines,\nwith\ttabs.\r\n"),
    ("text", "Größe, 東京, مرحبا, 👩‍👩‍👧"),
    ("line", "Minutes of 12 May, draft"),
    ("number", 3),
    ("number", -2.5),
    ("integer", 0),
    ("integer", -13),
    ("integer", 2**53),
    ("boolean", True),
    ("boolean", False),
    ("date", "2024-02-29"),
    ("time", "23:59"),
    ("time", "09:30:15"),
    ("datetime", "2024-05-15 10:00"),
    ("datetime", "2024-05-15T10:00:00Z"),
    ("datetime", "2024-05-15T10:00:00.25+02:00"),
    ("email", "alice@example.com"),
    ("email", "first.last+tag@mail.example.co.uk"),
    ("url", "https://example.com"),
    ("url", "http://sub.example.com:8080/a/b?c=d&e=%20#f"),
    ("path", "/home/me/notes/a b.txt"),
    ("path", "docs/plan..old.md"),
    ("identifier", "13"),
    ("identifier", "DE89370400440532013000"),
    ("identifier", "файл-7"),
)

REFUSED: tuple[tuple[str, Any], ...] = (
    ("text", ""),
    ("text", "a\x00b"),
    ("text", "a\x1b[2Jb"),
    ("text", "half \ud800"),
    ("text", ["a"]),
    ("text", 5),
    ("line", "one\ntwo"),
    ("line", "one\rtwo"),
    ("line", "one\u2028two"),
    ("line", "one\x85two"),
    ("line", "a\tb"),
    ("number", True),
    ("number", "3"),
    ("number", float("nan")),
    ("number", float("inf")),
    ("number", 1e300),
    ("integer", "13"),
    ("integer", "13 files"),
    ("integer", 13.0),
    ("integer", True),
    ("integer", 10**400),
    ("boolean", 1),
    ("boolean", "true"),
    ("boolean", None),
    ("date", "2023-02-29"),
    ("date", "2024-5-1"),
    ("date", "20240501"),
    ("date", "2024-W01-1"),
    ("date", "2024-05-01 10:00"),
    ("date", "２０２４-05-01"),
    ("date", "2024-05-01\n"),
    ("date", 20240501),
    ("time", "24:00"),
    ("time", "9:30"),
    ("time", "09:30 and more"),
    ("datetime", "2024-05-15"),
    ("datetime", "2024-05-15 25:00"),
    ("datetime", "2024-05-15T10:00Z\n"),
    ("email", "Alice <alice@example.com>"),
    ("email", "alice@example.com, mallory@example.com"),
    ("email", "alice@example.com\nBcc: mallory@example.com"),
    ("email", "alice@example.com "),
    ("email", "alice"),
    ("email", "alice@localhost"),
    ("email", "alice@@example.com"),
    ("email", ".alice@example.com"),
    ("email", "al..ice@example.com"),
    ("email", "-oX@example.com"),
    ("email", "mallory%evil.example@example.com"),
    ("email", '"a b"@example.com'),
    ("email", "аlice@example.com"),
    ("email", "alice@-example.com"),
    ("email", "a" * 65 + "@example.com"),
    ("email", "a@" + "a." * 200 + "com"),
    ("email", ["alice@example.com"]),
    ("url", "ftp://example.com/"),
    ("url", "javascript:alert(1)"),
    ("url", "//example.com"),
    ("url", "example.com"),
    ("url", "HTTPS://example.com"),
    ("url", "https://user:secret@example.com/"),
    ("url", "https://example.com@evil.example/"),
    ("url", "https://example.com\\@evil.example/"),
    ("url", "https://example.com /a"),
    ("url", "https://example.com/a\n"),
    ("url", "https://exämple.com/"),
    ("url", "https://example.com:0/"),
    ("url", "https://example.com:99999/"),
    ("url", "https://example.com:port/"),
    ("url", "https:///path"),
    ("url", "https://[::1]/"),
    ("url", "https://[/"),
    ("url", "https://-a.example/"),
    ("url", "https://" + "a." * 200 + "example/"),
    ("path", "../etc/passwd"),
    ("path", "/a/../b"),
    ("path", "~/a"),
    ("path", "-rf"),
    ("path", " /a"),
    ("path", "a\nb"),
    ("path", "a\u202eb"),
    ("path", "a\x00"),
    ("identifier", "two words"),
    ("identifier", "a\u00a0b"),
    ("identifier", "a\u200bb"),
    ("identifier", "a\n"),
    ("identifier", 13),
)


@pytest.mark.parametrize(("kind", "value"), TAKEN)
def test_a_slot_takes_what_is_of_its_type(kind: str, value: Any) -> None:
    assert SLOT_TYPES[kind].fits(value)


@pytest.mark.parametrize(("kind", "value"), REFUSED, ids=range(len(REFUSED)))
def test_a_slot_refuses_what_only_looks_like_its_type(kind: str, value: Any) -> None:
    assert not SLOT_TYPES[kind].fits(value)


def test_every_type_is_in_both_tables() -> None:
    assert {kind for kind, _ in TAKEN} == {kind for kind, _ in REFUSED} == set(SLOT_TYPES)


def test_a_list_has_the_type_of_its_items() -> None:
    assert slot_type("list of email") is SLOT_TYPES["email"]
    for kind in ("list of list of email", "list", "lists of email", ""):
        with pytest.raises(KeyError):
            slot_type(kind)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_STRUCTURED = {"integer", "number", "boolean"}


@given(_JSON, st.sampled_from(sorted(SLOT_TYPES)))
def test_no_value_is_of_a_type_that_json_says_it_is_not(value: object, kind: str) -> None:
    if not SLOT_TYPES[kind].fits(value):
        return
    if kind in _STRUCTURED:
        assert isinstance(value, int | float)
        assert isinstance(value, bool) == (kind == "boolean")
        assert kind != "integer" or isinstance(value, int)
    else:
        assert isinstance(value, str)
        assert value


@given(st.text(alphabet="a@. <>,\n\t%:/\\-_ü\u202e", max_size=12))
def test_one_address_is_one_address(text: str) -> None:
    if SLOT_TYPES["email"].fits(text):
        assert text.count("@") == 1
        assert not set(text) & set(" <>,\n\t%:/\\ü\u202e")
