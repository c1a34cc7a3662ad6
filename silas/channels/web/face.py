"""The page's own files: where they are, and what each one is (spec 8.2). No data in any of them."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from silas.errors import ChannelError
from silas.types import Frozen

_TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""What is served, by the end of its name; a file of another kind is not the page's."""

_PACKAGE = Path(__file__).resolve().parents[2]


class PageFile(Frozen):
    """One file as it is sent.

    Attributes:
        name: Under `/static/`.
        content_type: With its charset, where it is text.
        etag: Quoted, for `If-None-Match`.
    """

    name: str
    content_type: str
    body: bytes
    etag: str


INDEX = "index.html"
"""`GET /` with a session."""
PAIR = "pair.html"
"""`GET /pair`: needs none."""
LOCKED = "locked.html"
"""`GET /` without a session: says to open the link."""
MANIFEST = "manifest.json"
"""`GET /manifest.json`."""
WORKER = "sw.js"
"""`GET /sw.js`: at the root, so that it stands before the whole page."""


def face_dir() -> Path:
    """`silas/web` of an installed package; in a checkout the directory `web` beside the package.

    Raises:
        ChannelError: `E_CHANNEL_FACE`: neither is there.
    """
    for place in (_PACKAGE / "web", _PACKAGE.parent / "web"):
        if (place / INDEX).is_file():
            return place
    raise ChannelError(
        "The page's files are missing from this installation; install Silas again.",
        code="E_CHANNEL_FACE",
    )


def page_files() -> Mapping[str, PageFile]:
    """Every file of the page by its name, read once: no path of a request reaches the disk.

    Raises:
        ChannelError: `E_CHANNEL_FACE`: they are not there.
    """
    found = {
        path.name: _read(path)
        for path in sorted(face_dir().iterdir())
        if path.is_file() and path.suffix in _TYPES
    }
    return MappingProxyType(found)


def _read(path: Path) -> PageFile:
    body = path.read_bytes()
    return PageFile(
        name=path.name,
        content_type=_TYPES[path.suffix],
        body=body,
        etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"',
    )
