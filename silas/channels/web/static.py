"""The page's own files: read once, served from memory, the same for everybody.

Scripts and styles are served without their comments and indentation: a first visit is read on a
telephone. Each line stays where it is, so a fault in a browser names the line of the file.
"""

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from silas.errors import ConfigError

_TYPES: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
"""What is served, by its ending; a file of any other kind is not."""

_TEXT = frozenset({".html", ".css", ".js", ".json", ".svg"})
"""What becomes a third of its size when it is compressed."""

_PROGRAMS = frozenset({".css", ".js"})
"""What has comments and indentation that no browser needs."""

_VENDORED = "vendor"  # served as its package has it: its comments hold its licence

_AGAIN = "no-cache"  # kept by the browser, and asked about each time: a new version shows at once


class File(NamedTuple):
    """One file of the page, as it is and compressed; pictures are compressed already."""

    content: bytes
    kind: str
    tag: str
    small: bytes


class StaticDirectory:
    """The files below one directory, by their path in it.

    Raises:
        ConfigError: `E_CFG_FACE`: the page is not there.
    """

    def __init__(self, folder: Path) -> None:
        self._files = {
            path.relative_to(folder).as_posix(): _read(path, folder)
            for path in sorted(folder.rglob("*"))
            if path.suffix in _TYPES and path.is_file()
        }
        if "index.html" not in self._files:
            raise ConfigError(
                f"The cockpit's page is not in {folder}; install Silas again.", code="E_CFG_FACE"
            )

    def names(self) -> frozenset[str]:
        """Every file, by its path."""
        return frozenset(self._files)

    def answer(self, name: str, request: Request) -> Response:
        """One file, or that there is none; nothing is looked for on the disk."""
        file = self._files.get(name)
        if file is None:
            return Response("There is nothing here.\n", 404, media_type="text/plain")
        content, tag, headers = file.content, file.tag, {"Cache-Control": _AGAIN}
        if file.small:
            headers["Vary"] = "Accept-Encoding"
            if _takes_gzip(request):
                content, tag = file.small, f'{file.tag[:-1]}-gz"'
                headers["Content-Encoding"] = "gzip"
        headers["ETag"] = tag
        if request.headers.get("if-none-match") == tag:
            headers.pop("Content-Encoding", None)
            return Response(status_code=304, headers=headers)
        return Response(content, headers=headers, media_type=file.kind)


def _takes_gzip(request: Request) -> bool:
    """Whether the browser asks for it by name; one that refuses it by `q=0` does not get it."""
    wanted = request.headers.get("accept-encoding", "").lower().replace(" ", "").split(",")
    return "gzip" in wanted


def _read(path: Path, folder: Path) -> File:
    content = path.read_bytes()
    if path.suffix in _PROGRAMS and path.relative_to(folder).parts[0] != _VENDORED:
        content = _without_comments(content.decode()).encode()
    digest = hashlib.sha256(content).hexdigest()[:32]
    small = gzip.compress(content, mtime=0) if path.suffix in _TEXT else b""
    return File(content, _TYPES[path.suffix], f'"{digest}"', small)


def _without_comments(program: str) -> str:
    """The program without the comments that begin a line, and without indentation.

    No line is added or taken away. A comment after code stays, because it takes a parser to know it
    from a string; so no string or template of the page may have a line break (a test holds it).
    """
    lines, inside = list[str](), False
    for whole in program.split("\n"):
        line = whole.lstrip(" ")
        if not inside and line.startswith("//"):
            line = ""
        elif not inside and line.startswith("/*"):
            line, inside = line[2:], True
        if inside:
            _comment, end, line = line.partition("*/")
            inside = not end
        lines.append(line.strip(" "))
    return "\n".join(lines)
