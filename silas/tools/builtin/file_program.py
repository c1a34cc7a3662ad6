"""The one program behind the file tools; it runs inside the sandbox and needs Python alone.

It reads a request as JSON from standard input and prints its answer as plain text. Exit code 0 is
an answer, `REFUSED` a sentence that says why there is none. The sandbox is what keeps it in: the
checks here only give clear sentences, and keep it from waiting on a FIFO or reading without end.

It imports nothing of Silas, is handed to the sandbox as text, and is started with `-I`, so that no
file of the workspace can stand in for a module.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from io import BufferedReader
from itertools import islice
from typing import Any, NamedTuple

REFUSED = 3
MAX_SCAN = 1 << 26  # bytes that are read to find a line
MAX_FILE = 1 << 24  # bytes of a file that is edited or searched
MAX_SEEN = 100_000  # entries one call looks at
MAX_LISTED = 1000
MAX_FOUND = 200
MAX_SHOWN = 300  # characters of a line that was found
_PIECE = 1 << 16
_HEAD = 8192  # a NUL in here means that a file is no text
_UNSEARCHED = {".git", ".hg", ".svn", ".jj", ".venv", "venv", "node_modules", "__pycache__"}


class FileRefused(Exception):
    """The request cannot be done; its text is the sentence for the model."""


class HiddenPaths(NamedTuple):
    """What is only listed; nothing, where there are no patterns.

    Attributes:
        shut: Patterns of names, compared without case, of what is not read.
        named: Names and paths that are read nevertheless.
        largest: Bytes of a file that is searched where a directory is named; 0 for the most.
        kinds: What the name of an entry at the top says about a project.
    """

    shut: list[str]
    named: list[str]
    largest: int
    kinds: dict[str, str]

    def shuts(self, inside: str) -> bool:
        """Whether a path inside the workspace is not read."""
        if not self.shut or inside == "." or inside in self.named:
            return False
        parts = [part for part in inside.split("/") if part not in self.named]
        return any(fnmatchcase(part.casefold(), shut) for part in parts for shut in self.shut)


class FileRequest(NamedTuple):
    """What is asked, and where.

    Attributes:
        args: The validated arguments of the tool.
        roots: Directories and files that may be read, as absolute paths.
        writable: Those of them that may be written.
        limit: Bytes of the answer.
        guard: What of it is only listed.
    """

    args: dict[str, Any]
    roots: list[str]
    writable: list[str]
    limit: int
    guard: HiddenPaths

    @property
    def path(self) -> str:
        """As the model wrote it."""
        return str(self.args.get("path", "."))

    def shuts(self, path: str) -> bool:
        """Whether this file or directory is not read."""
        return self.guard.shuts(os.path.relpath(path, os.path.realpath(self.roots[0])))


def _locate_path(request: FileRequest, *, write: bool = False, listed: bool = False) -> str:
    """Where a path leads when every link is followed; refused where that is out of bounds."""
    real = os.path.realpath(request.path)
    if not any(_within(real, root) for root in request.roots):
        raise FileRefused(f"{request.path} lies outside the workspace and the plan's read paths.")
    if write and not any(_within(real, root) for root in request.writable):
        raise FileRefused(f"{request.path} may only be read.")
    if request.guard.shut and real != os.path.abspath(request.path):
        raise FileRefused(f"{request.path} is reached by a link; name the file that it leads to.")
    if request.shuts(real) and not listed:
        raise FileRefused(
            f"{request.path} is hidden or may hold secrets, so it is not read; the owner can name "
            "it in his message."
        )
    return real


def _within(path: str, root: str) -> bool:
    real = os.path.realpath(root)
    return path == real or path.startswith(real.rstrip("/") + "/")


def _open_regular(path: str, shown: str) -> BufferedReader:
    """A regular file; a FIFO or device is refused without waiting for its other end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise FileRefused(f"{shown} is no regular file.")


def _is_text(stream: BufferedReader) -> bool:
    return b"\0" not in stream.peek(_HEAD)[:_HEAD]


def read(request: FileRequest) -> str:
    """Lines of a text file, under a heading that says which they are."""
    first, last = int(request.args.get("from_line", 1)), int(request.args.get("to_line", 0))
    with _open_regular(_locate_path(request), request.path) as stream:
        size = os.fstat(stream.fileno()).st_size
        if not _is_text(stream):
            raise FileRefused(f"{request.path} is not text ({size} bytes).")
        kept, reached, more = _lines(stream, first, last or sys.maxsize, request.limit)
    if reached < first > 1:
        raise FileRefused(f"{request.path} has no line {first} that can be read; it ends before.")
    if not kept:
        return f"{request.path} is empty."
    told = f"{request.path}, lines {first} to {reached}{'; more follow' if more else ''}:\n"
    return told + kept.decode("utf-8", "replace")


def _lines(stream: BufferedReader, first: int, last: int, limit: int) -> tuple[bytes, int, bool]:
    """The bytes of these lines, the last line reached, and whether there is more."""
    kept, line, scanned, fresh = bytearray(), 0, 0, True
    while scanned < MAX_SCAN:
        piece = stream.readline(_PIECE)
        if not piece:
            return bytes(kept), line, False
        if fresh and line == last:
            return bytes(kept), line, True
        line += fresh
        if line >= first:
            room = limit - len(kept)
            kept += piece[:room]
            if len(piece) > room:
                return bytes(kept), line, True
        scanned += len(piece)
        fresh = piece.endswith(b"\n")
    return bytes(kept), line, True


def write(request: FileRequest) -> str:
    """Put a whole text in place of a file, or make a new one with the directories it needs."""
    path = _locate_path(request, write=True)
    content = str(request.args["content"]).encode("utf-8")
    mode = _replaceable(path, request.path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    _replace(path, content, 0o644 if mode is None else mode)
    done = "wrote the new file" if mode is None else "replaced"
    return f"{done} {request.path} ({len(content)} bytes)"


def edit(request: FileRequest) -> str:
    """Put one text in place of another that occurs exactly once."""
    path = _locate_path(request, write=True)
    old, new = (str(request.args[name]).encode("utf-8") for name in ("old", "new"))
    mode = _replaceable(path, request.path)
    if mode is None:
        raise FileRefused(f"{request.path} does not exist; `file_write` makes new files.")
    with _open_regular(path, request.path) as stream:
        content = stream.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise FileRefused(f"{request.path} is too large to edit (over {MAX_FILE} bytes).")
    found = list(islice(_places(content, old), 10))
    lines = [str(content.count(b"\n", 0, at) + 1) for at in found]
    if not found:
        raise FileRefused(
            f"`old` is not in {request.path}; nothing was changed. Give the lines exactly as they "
            "are in the file, white space included."
        )
    if len(found) > 1:
        raise FileRefused(
            f"`old` is in {request.path} more than once (lines {', '.join(lines)}); nothing was "
            "changed. Give more of the text around it."
        )
    _replace(path, content[: found[0]] + new + content[found[0] + len(old) :], mode)
    return f"edited {request.path} at line {lines[0]}"


def _places(content: bytes, text: bytes) -> Iterator[int]:
    """Where a text begins; overlapping places count, too."""
    at = content.find(text)
    while at >= 0:
        yield at
        at = content.find(text, at + 1)


def _replaceable(path: str, shown: str) -> "int | None":
    """The permissions of a regular file; None where there is nothing yet."""
    try:
        facts = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(facts.st_mode):
        raise FileRefused(f"{shown} is no regular file.")
    return stat.S_IMODE(facts.st_mode)


def _replace(path: str, content: bytes, mode: int) -> None:
    """All or nothing: written beside it, then put in its place."""
    beside = os.path.join(os.path.dirname(path), f".writing-{os.urandom(8).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def entries(request: FileRequest) -> str:
    """What a directory holds, with kinds and sizes, ordered by name."""
    top, guard = _locate_path(request, listed=True), request.guard
    unopened = frozenset(_UNSEARCHED if guard.shut else ())
    found = _walk(top, int(request.args.get("depth", 1)), unopened)
    lines = [
        "  " * level + _describe_entry(entry) + (" (not read)" if request.shuts(entry.path) else "")
        for entry, level in islice(found, MAX_LISTED)
    ]
    if guard.shut and top == os.path.realpath(request.roots[0]):
        lines.insert(0, _kind(top, guard.kinds))
    if next(found, None) is not None:
        lines.append(f"(more than {MAX_LISTED} entries; list a directory inside)")
    return _cut(lines, request.limit) or f"{request.path} is empty."


def _kind(top: str, kinds: dict[str, str]) -> str:
    """What kind of project this is, by the names at its top."""
    there = dict.fromkeys(kind for name, kind in kinds.items() if os.path.lexists(f"{top}/{name}"))
    return f"Kind: {', '.join(there) or 'no project that is known by its files'}"


def _sort_entries(path: str) -> list["os.DirEntry[str]"]:
    with os.scandir(path) as found:
        return sorted(islice(found, MAX_SEEN), key=lambda entry: entry.name)


def _walk(
    top: str, depth: int, unopened: "frozenset[str]"
) -> Iterator[tuple["os.DirEntry[str]", int]]:
    """Entries with their level, each directory before what is in it; no link is followed."""
    open_ones = [iter(_sort_entries(top))]
    while open_ones:
        entry = next(open_ones[-1], None)
        if entry is None:
            open_ones.pop()
            continue
        yield entry, len(open_ones) - 1
        if len(open_ones) < depth and _is_directory(entry) and entry.name not in unopened:
            try:
                open_ones.append(iter(_sort_entries(entry.path)))
            except OSError:  # unreadable, or nested too deep: it stands there without its entries
                continue


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    return entry.is_dir(follow_symlinks=False)


def _describe_entry(entry: "os.DirEntry[str]") -> str:
    name = _printable(entry.name)
    if entry.is_symlink():
        return f"{name} -> {_printable(os.readlink(entry.path))}"
    if _is_directory(entry):
        return f"{name}/"
    facts = entry.stat(follow_symlinks=False)
    return f"{name}  {facts.st_size} bytes" if stat.S_ISREG(facts.st_mode) else f"{name}  (special)"


def _printable(name: str) -> str:
    """A name that cannot look like two lines, or like another name."""
    return name if name.isprintable() else ascii(name)


def search(request: FileRequest) -> str:
    """Lines that hold a text or match a regular expression, as `path:line: text`."""
    holds = _matcher(request)
    named = str(request.args.get("files", "*"))
    lines: list[str] = []
    unread = 0
    named_itself = not os.path.isdir(request.path)  # a log that is asked about may be large
    largest = MAX_SCAN if named_itself else request.guard.largest or MAX_FILE
    for path, shown in _candidates(request):
        if not fnmatchcase(shown, named) and not fnmatchcase(os.path.basename(shown), named):
            continue
        try:
            found = _hits(path, _printable(shown), holds, largest)
            lines += islice(found, MAX_FOUND + 1 - len(lines))
        except (OSError, FileRefused):
            unread += 1
        if len(lines) > MAX_FOUND:
            lines[MAX_FOUND:] = [f"(more than {MAX_FOUND} lines; ask for less)"]
            break
    if unread:
        lines.append(f"({unread} files could not be read: too large, or no regular files)")
    if request.guard.shut:
        lines.append("(hidden files and files that may hold secrets are left out)")
    return _cut(lines, request.limit) or "Nothing found."


def _matcher(request: FileRequest) -> Callable[[str], object]:
    text = str(request.args["text"])
    if not request.args.get("regex", False):
        return lambda line: text in line
    try:
        return re.compile(text).search
    except re.error as error:
        raise FileRefused(f"`text` is no regular expression: {error}.") from error


def _candidates(request: FileRequest) -> Iterator[tuple[str, str]]:
    """Files to look into, each with its path relative to where the search begins."""
    top = _locate_path(request)
    if not os.path.isdir(top):
        yield top, os.path.basename(top)
        return
    for entry, _ in islice(_walk(top, sys.maxsize, frozenset(_UNSEARCHED)), MAX_SEEN):
        plain = not _is_directory(entry) and not entry.is_symlink()
        if plain and not request.shuts(entry.path):
            yield entry.path, os.path.relpath(entry.path, top)


def _hits(path: str, shown: str, holds: Callable[[str], object], largest: int) -> Iterator[str]:
    with _open_regular(path, shown) as stream:
        if os.fstat(stream.fileno()).st_size > largest:
            raise FileRefused(f"{shown} is too large.")
        if not _is_text(stream):
            return
        for number, raw in enumerate(stream, 1):
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if holds(line):
                yield f"{shown}:{number}: {line[:MAX_SHOWN]}"


def _cut(lines: list[str], limit: int) -> str:
    """As many whole lines as fit."""
    kept, size = list[str](), 0
    for line in lines:
        size += len(line.encode("utf-8", "replace")) + 1
        if size > limit:
            kept.append("(cut here; ask for less)")
            break
        kept.append(line)
    return "\n".join(kept)


DOES: dict[str, Callable[[FileRequest], str]] = {
    "file_read": read,
    "file_write": write,
    "file_edit": edit,
    "file_list": entries,
    "file_search": search,
}


def main() -> int:
    """Answer the one request on standard input."""
    asked = json.load(sys.stdin.buffer)
    places = asked["roots"], asked["writable"]
    request = FileRequest(asked["args"], *places, asked["limit"], HiddenPaths(**asked["guard"]))
    try:
        answer, code = DOES[asked["tool"]](request), 0
    except FileRefused as refusal:
        answer, code = str(refusal), REFUSED
    except OSError as error:
        answer, code = f"{request.path}: {error.strerror}.", REFUSED
    sys.stdout.buffer.write(answer.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
