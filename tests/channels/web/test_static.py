"""The page's own files: found by name, asked about again, and small on the way."""

import gzip
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from silas.channels.web.static import StaticDirectory

PAGE = Path(__file__).resolve().parents[3] / "web"


def asked(name: str, **headers: str) -> Response:
    sent = [(key.replace("_", "-").encode(), value.encode()) for key, value in headers.items()]
    return StaticDirectory(PAGE).answer(
        name, Request({"type": "http", "method": "GET", "headers": sent})
    )


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br", "br, GZIP"])
def test_text_comes_compressed_to_a_browser_that_takes_it(accepted: str) -> None:
    whole, small = asked("style.css"), asked("style.css", accept_encoding=accepted)
    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(bytes(small.body)) == bytes(whole.body)
    assert len(small.body) * 2 < len(whole.body)
    assert small.headers["vary"] == whole.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "x-gzip"])
def test_a_browser_that_does_not_gets_it_as_it_is(accepted: str) -> None:
    plain = asked("index.html", accept_encoding=accepted)
    assert "content-encoding" not in plain.headers
    assert bytes(plain.body) == (PAGE / "index.html").read_bytes()


def test_pictures_are_sent_as_they_are() -> None:
    picture = asked("icon-192.png", accept_encoding="gzip")
    assert "content-encoding" not in picture.headers
    assert "vary" not in picture.headers


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_a_file_that_the_browser_has_is_not_sent_again(accepted: str) -> None:
    tag = asked("app.js", accept_encoding=accepted).headers["etag"]
    again = asked("app.js", accept_encoding=accepted, if_none_match=tag)
    assert (again.status_code, bytes(again.body), again.headers["etag"]) == (304, b"", tag)


def test_both_forms_of_a_file_have_tags_of_their_own() -> None:
    tags = {asked("app.js", accept_encoding=form).headers["etag"] for form in ("gzip", "identity")}
    assert len(tags) == 2


@pytest.mark.parametrize("name", ["../pyproject.toml", "nothing.js", "", "app.js\0"])
def test_what_is_no_file_of_the_page_is_not_there(name: str) -> None:
    assert asked(name).status_code == 404
