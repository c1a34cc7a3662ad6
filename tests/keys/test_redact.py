"""A known secret is found in every encoding that programs print, and nothing else is changed."""

import base64
import gzip
import html
import json
import random
import shlex
import string
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.context import scrub_output
from silas.keys.redact import Redactor

ODD = "s3cr3t-Token/x+y=\"&'é~ü Z<%41>\\n\\tend"
PLAIN = "s3cr3t-Token-of-mine"
MARK = "[secret TOKEN]"


def _dump(text: str) -> str:
    octets = text.encode()
    rows = [octets[at : at + 16] for at in range(0, len(octets), 16)]
    return "".join(f"{16 * n:08x}: {row.hex(' ', 2):<40} {row!r}\n" for n, row in enumerate(rows))


ENCODINGS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "upper case": str.upper,
    "lower case": str.lower,
    "hex": lambda text: text.encode().hex(),
    "upper hex": lambda text: text.encode().hex().upper(),
    "hex with colons": lambda text: text.encode().hex(":"),
    "hex with spaces": lambda text: text.encode().hex(" "),
    "escaped hex": lambda text: "".join(f"\\x{octet:02x}" for octet in text.encode()),
    "octal": lambda text: "".join(f"\\{octet:03o}" for octet in text.encode("latin-1")),
    "url": quote,
    "url, everything": lambda text: "".join(f"%{octet:02x}" for octet in text.encode()),
    "form": quote_plus,
    "json": json.dumps,
    "json, unicode kept": lambda text: json.dumps(text, ensure_ascii=False),
    "json, slashes escaped": lambda text: json.dumps(text).replace("/", "\\/"),
    "json in json": lambda text: json.dumps({"inner": json.dumps([text])}),
    "unicode escapes": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "python": repr,
    "python bytes": lambda text: repr(text.encode()),
    "shell": shlex.quote,
    "html": html.escape,
    "html by number": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "gzip in base64": lambda text: base64.b64encode(gzip.compress(text.encode())).decode(),
    "gzip in hex": lambda text: gzip.compress(text.encode()).hex(),
    "over lines": "\n".join,
    "hidden breaks": "\u200b".join,
    "colours": "\x1b[0m".join,
    "utf-16": "\0".join,
    **{
        f"base64 behind {before} before {after}": (
            lambda text, before=before, after=after: base64.b64encode(
                b"x" * before + text.encode() + b"y" * after
            ).decode()
        )
        for before in range(3)
        for after in range(3)
    },
    "base64 for urls": lambda text: base64.urlsafe_b64encode(b">" + text.encode()).decode(),
    "base64 in json": lambda text: json.dumps(
        base64.encodebytes(b"?" * 50 + text.encode() + b"?" * 50).decode()
    ),
    "base64 in lines": lambda text: base64.encodebytes(
        b"?" * 50 + text.encode() + b"?" * 50
    ).decode(),
    "base64 in a url": lambda text: quote(base64.b64encode(b">?" + text.encode()).decode(), ""),
}


@pytest.mark.parametrize("secret", [PLAIN, ODD], ids=["plain", "odd"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_secret_is_redacted_in_every_encoding(encoding: str, secret: str) -> None:
    redactor = Redactor([("TOKEN", secret), ("OTHER", "another-secret-of-mine")])
    encoded = ENCODINGS[encoding](secret)
    clean = redactor.redact(f"before\n{encoded}\nafter")
    assert clean.startswith("before\n")
    assert MARK in clean
    assert clean.endswith("after") or "gzip" in encoding  # letters without a gap run on
    for part in (encoded, secret, secret[2:-2]):
        assert part not in clean
    assert redactor.redact(clean) == clean
    assert redactor.names_in(encoded) == ("TOKEN",)


def test_a_dump_of_a_secret_is_redacted_as_a_whole() -> None:
    redactor = Redactor([("TOKEN", PLAIN)])
    clean = redactor.redact("dump:\n" + _dump(f"the token is {PLAIN}!") + "end\n")
    assert clean.startswith("dump:\n")
    assert clean.endswith("end\n")
    assert MARK in clean
    assert "s3cr" not in clean
    assert "7333 6372" not in clean


@given(
    st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=8, max_size=60),
    st.text(max_size=40),
    st.text(max_size=40),
    st.sampled_from(["raw", "json", "url", "python bytes", "form", "unicode escapes"]),
)
def test_whatever_the_secret_is_it_does_not_come_through(
    secret: str, before: str, after: str, encoding: str
) -> None:
    redactor = Redactor([("N", secret)])
    if max(map(ord, secret)) > 0xFFFF:
        encoding = "json"
    clean = redactor.redact(before + ENCODINGS[encoding](secret) + after)
    assert not redactor.names_in(clean)
    assert redactor.redact(clean) == clean


@given(st.text())
def test_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert Redactor([("TOKEN", PLAIN)]).redact(text) == text
    assert Redactor(()).redact(text) == text


def test_cleaning_a_text_for_people_after_it_uncovers_nothing() -> None:
    redactor = Redactor([("TOKEN", PLAIN)])
    for between in ("\u200b", "\x1b[31m", "\x07", "\u2060", "\x00", "\ue000", "\U000e0020"):
        assert PLAIN in scrub_output(between.join(PLAIN))
        assert scrub_output(redactor.redact(between.join(PLAIN))) == MARK


@pytest.mark.parametrize("encoding", ["raw", "hex", "base64 behind 0 before 0", "url"])
def test_a_secret_that_has_only_begun_where_output_was_cut_is_redacted(encoding: str) -> None:
    redactor = Redactor([("TOKEN", PLAIN)])
    encoded = ENCODINGS[encoding](PLAIN)
    for length in range(8, len(encoded)):
        begun = f"noise {encoded[:length]}"
        assert redactor.redact(begun, cut=True) == f"noise {MARK}"
        if length < len(encoded) - 4:
            assert redactor.redact(begun) == begun


def test_a_key_of_several_lines_is_found_line_by_line() -> None:
    lines = ["".join(random.Random(n).choices(string.ascii_letters, k=64)) for n in range(5)]
    key = "\n".join(("-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"))
    redactor = Redactor([("KEY", key)])
    assert redactor.redact(f"a\n{key}\nb") == "a\n[secret KEY]\nb"
    assert redactor.redact(lines[2]) == "[secret KEY]"
    assert redactor.redact(f"  {lines[0]}\r\n  {lines[1]}\r\n") == (
        "  [secret KEY]\r\n  [secret KEY]\r\n"
    )
    assert redactor.redact("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"


_CUT = (1 << 20) - 9
"""A secret that begins here ends in the next piece that is looked through."""


@pytest.mark.parametrize("at", [0, _CUT, (1 << 20) - 1, (1 << 20), 2_200_000])
def test_a_secret_is_found_in_a_file_wherever_the_pieces_are_cut(at: int) -> None:
    redactor = Redactor([("TOKEN", PLAIN)])
    for encoding in ("raw", "hex", "base64 behind 0 before 0") if at == _CUT else ("raw",):
        content = b"." * at + ENCODINGS[encoding](PLAIN).encode() + b"." * 1000
        for packed in (content, gzip.compress(content, 1)):
            pieces = [packed[n : n + 65_536] for n in range(0, len(packed), 65_536)]
            assert redactor.names_in_file(pieces) == ("TOKEN",)


def test_in_a_file_without_a_secret_none_is_found() -> None:
    assert Redactor([("TOKEN", PLAIN)]).names_in_file([b"." * 65_536] * 20) == ()


def test_a_file_in_utf_16_is_read_too() -> None:
    redactor = Redactor([("TOKEN", PLAIN)])
    assert redactor.names_in_file([PLAIN.encode("utf-16")]) == ("TOKEN",)
