"""What to look at for each kind of question, and what is said of what was seen."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.agents.runbook.folder.files import FilesSeen, in_bytes, number_of, read_files
from silas.agents.runbook.folder.texts import ReadText, differences, extract, text_counts, text_of

LIST, READ, SEARCH, FILES, GIT = (
    f"workspace_{one}" for one in ("list", "read", "search", "files", "git")
)
_MOST: Final = 20  # files that an answer names where nobody says how many
_ENDINGS_TOLD: Final = 3
_ALL: Final = 200  # files that one look shows
_NOT_SEEN: Final = re.compile(
    r"There is no git|The \.git of|The repository keeps|\.git/|git c|Files with"
)  # how the sentences of `workspace_git` begin that say why nothing was seen


class LookCall(NamedTuple):
    """One look: the tool and its arguments."""

    tool: str
    args: dict[str, Any]


class Seen(NamedTuple):
    """What a look brought."""

    tool: str
    text: str


class LookAnswer(NamedTuple):
    """What is said, and whether the question is answered by it."""

    text: str
    understood: bool = True


class Moment(NamedTuple):
    """When it is asked, on the owner's calendar."""

    now: datetime
    zone: ZoneInfo


Asking = Generator[LookCall, str, LookAnswer | None]
"""Looks, each answered by what was seen; None in the end where a runbook has to do it."""

Given = Mapping[str, str]


def _list(given: Given, at: Moment) -> Asking:
    del given, at
    text = yield LookCall(LIST, {"depth": 1})
    return LookAnswer(_listed(text))


def _listed(text: str) -> str:
    kind, _, rest = text.partition("\n")
    if not kind.startswith("Kind: "):
        return text
    lines = [_told_sizes(line) for line in rest.split("\n") if line]
    known = "" if "no project" in kind else f"{kind.removeprefix('Kind: ')}. "
    return "\n".join([f"{known}In this folder:", *lines]) if lines else "This folder is empty."


def _told_sizes(line: str) -> str:
    return re.sub(r"  (\d+) bytes", lambda found: f"  {in_bytes(int(found[1]))}", line)


def _project(given: Given, at: Moment) -> Asking:
    del given, at
    text = yield LookCall(LIST, {"depth": 1})
    kind = text.split("\n", 1)[0].removeprefix("Kind: ")
    return LookAnswer(f"By the names of its files: {kind}.")


def _some(given: Given, order: str, count: int) -> LookCall:
    names = given.get("kind", "*").split()
    return LookCall(FILES, {"names": names, "order": order, "count": count})


def _count(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "name", _MOST)))
    if found is None:
        return None
    said = f"{number_of(found.total)}{_of(given)}, {in_bytes(found.size)} in all."
    lines = [one.told(at.zone) for one in found.shown if given.get("kind", "*") != "*"]
    return LookAnswer("\n".join([said, *lines, *found.notes]))


def _find(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "name", _ALL)))
    return None if found is None else _told(found, at, f"{number_of(found.total)}{_of(given)}:")


def _ordered(given: Given, at: Moment) -> Asking:
    order, count = given["order"], int(given.get("count", "5"))
    found = read_files((yield _some(given, order, count)))
    if found is None:
        return None
    of = f" of {number_of(found.total)}{_of(given)}"
    return _told(_rest_known(found), at, f"The {order}{of}:")


def _told(found: FilesSeen, at: Moment, heading: str) -> LookAnswer:
    if not found.total:
        return LookAnswer("\n".join(["There is no such file in this folder.", *found.notes]))
    return LookAnswer(
        "\n".join([heading, *(one.told(at.zone) for one in found.shown), *found.notes])
    )


def _changed_last(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "newest", 5)))
    if found is None:
        return None
    if not found.total:
        return _told(found, at, "")
    first, *rest = [one.told(at.zone) for one in found.shown]
    before = ["Before it:", *rest] if rest else []
    said = f"Changed last of {number_of(found.total)}{_of(given)} ({at.zone.key}):"
    return LookAnswer("\n".join([said, first, *before, *_rest_known(found).notes]))


def _changed(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "newest", _ALL)))
    if found is None:
        return None
    today = at.now.astimezone(at.zone).date()
    back = {"today": 0, "yesterday": 1, "week": today.weekday()}[given["day"]]
    first = today - timedelta(days=back)
    last = first if given["day"] == "yesterday" else today
    shown = [one for one in found.shown if first <= one.at.astimezone(at.zone).date() <= last]
    if len(shown) == len(found.shown) < found.total:
        return None  # there may be more than a look shows
    when = {"today": "today", "yesterday": "yesterday", "week": "this week"}[given["day"]]
    if not shown:
        return LookAnswer(f"No file of this folder was changed {when} ({at.zone.key}).")
    lines = [one.told(at.zone) for one in shown]
    return LookAnswer(
        "\n".join([f"{number_of(len(shown))} changed {when} ({at.zone.key}):", *lines])
    )


def _larger(given: Given, at: Moment) -> Asking:
    least = int(given["size"])
    found = read_files((yield _some(given, "biggest", _ALL)))
    if found is None:
        return None
    shown = [one for one in found.shown if one.size > least]
    if len(shown) == len(found.shown) < found.total:
        return None  # there may be more than a look shows
    if not shown:
        return LookAnswer(f"No file of this folder is larger than {in_bytes(least)}.")
    lines = [one.told(at.zone) for one in shown]
    return LookAnswer("\n".join([f"{number_of(len(shown))} above {in_bytes(least)}:", *lines]))


def _part(given: Given, at: Moment) -> Asking:
    del at
    file = yield from whole_text(given["file"])
    if file.why is not None:
        return file.why
    lines = file.text.removesuffix("\n").split("\n")
    if "last" not in given:
        return LookAnswer("\n".join([f"{file.path}:", "", *lines[: int(given.get("count", "10"))]]))
    if file.cut:
        return LookAnswer(f"{file.path} is too long to look at its end.", understood=False)
    return LookAnswer("\n".join([f"{file.path}:", "", *lines[-int(given["last"]) :]]))


def _named(given: Given, at: Moment) -> Asking:
    name = given.get("file") or given.get("word") or given["name"]
    pattern = name if "file" in given or re.search(r"[*?\[]", name) else f"*{name}*"
    found = read_files((yield LookCall(FILES, {"names": [pattern], "count": _ALL})))
    if found is not None and not found.total and "word" in given:
        return None
    return None if found is None else _told(found, at, f"{number_of(found.total)} found:")


def _facts(given: Given, at: Moment) -> Asking:
    found = read_files((yield LookCall(FILES, {"names": [given["file"]], "count": _MOST})))
    if found is None:
        return None
    return _told(found, at, f"Size, and when it was changed last ({at.zone.key}):")


def _size(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "biggest", 5)))
    if found is None:
        return None
    said = f"{in_bytes(found.size)} in {number_of(found.total)}; the biggest:"
    return _told(_rest_known(found), at, said)


def _rest_known(found: FilesSeen) -> FilesSeen:
    """Without the note that more are there, which the heading says already."""
    return found._replace(notes=[one for one in found.notes if "are not shown" not in one])


class WholeText(NamedTuple):
    """A file that was read whole, or why not."""

    path: str
    text: str
    why: LookAnswer | None
    cut: bool


def whole_text(name: str) -> Generator[LookCall, str, WholeText]:
    """Read a file; one that is not there is looked for below, by its name without its directory."""
    said = yield LookCall(READ, {"path": name})
    if (read := text_of(name, said)) is not None:
        return _read(name, read)
    if "No such file" not in said:
        return WholeText(name, "", LookAnswer(said, understood=False), cut=False)
    found = read_files(
        (yield LookCall(FILES, {"names": [name.rpartition("/")[2]], "count": _MOST}))
    )
    if found is None or len(found.shown) != 1:
        lines = [f"- {one.path}" for one in found.shown] if found else []
        why = (
            "Several files are called so:" if lines else f"There is no file {name} in this folder."
        )
        return WholeText(
            name, "", LookAnswer("\n".join([why, *lines]), understood=False), cut=False
        )
    return (yield from whole_text(found.shown[0].path))


def _read(path: str, read: ReadText) -> WholeText:
    """A text; what only begins like one, as a PDF does, is said to be none."""
    if not read.text.startswith("%PDF-"):
        return WholeText(path, read.text, None, read.cut)
    why = f"{path} is a PDF, and I read plain text alone; open it with a viewer of yours."
    return WholeText(path, "", LookAnswer(why, understood=False), cut=False)


def _inside(given: Given, at: Moment) -> Asking:
    found = yield from _fitting(given)
    if found is None or not found.total:
        names = {"names": given.get("files", "")}
        return (yield from _loose(_show)(names, at)) if names["names"] else None
    return _told(found, at, f"{number_of(found.total)}, {in_bytes(found.size)} in all:")


def _fitting(given: Given) -> Generator[LookCall, str, FilesSeen | None]:
    return read_files((yield LookCall(FILES, {"names": given["names"].split("\n"), "count": _ALL})))


def _loose(then: Callable[[Given, Moment], Asking] | None) -> Callable[[Given, Moment], Asking]:
    """Finds the one file that a name in words means; None, and another answer, for no file."""

    def asking(given: Given, at: Moment) -> Asking:
        found = yield from _fitting(given)
        if found is None or not found.total:
            return None
        if then is None:
            return _told(found, at, f"{number_of(found.total)} found:")
        if found.total == 1:
            return (yield from then({"file": found.shown[0].path}, at))
        several = _told(found, at, "Several files fit; name the one that you mean:")
        return several._replace(understood=False)

    return asking


def _known(given: Given) -> Generator[LookCall, str, str]:
    """The name of a file that is meant, such as README.md for `readme`."""
    if (name := given.get("well_known", "")) == "":
        return given["file"]
    found = read_files((yield LookCall(FILES, {"names": [name, f"{name}.*"], "count": 1})))
    return found.shown[0].path if found and found.shown else name


def _show(given: Given, at: Moment) -> Asking:
    del at
    file = yield from whole_text((yield from _known(given)))
    if file.why is not None:
        return file.why
    end = "\n(It goes on; this is the beginning.)" if file.cut else ""
    return LookAnswer(f"{file.path}:\n\n{file.text}{end}")


def _extract(given: Given, at: Moment) -> Asking:
    del at
    file = yield from whole_text((yield from _known(given)))
    if file.why is not None or file.cut:
        return file.why
    return LookAnswer(f"{file.path}. {extract(file.text)}")


def _words(given: Given, at: Moment) -> Asking:
    del at
    file = yield from whole_text(given["file"])
    if file.why is not None or file.cut:
        return file.why
    return LookAnswer(f"{file.path}: {text_counts(file.text)}.")


def _compare(given: Given, at: Moment) -> Asking:
    del at
    one = yield from whole_text(given["one"])
    if one.why is not None or one.cut:
        return one.why
    two = yield from whole_text(given["two"])
    if two.why is not None or two.cut:
        return two.why
    return LookAnswer(differences((one.path, one.text), (two.path, two.text)))


def _holds(given: Given, at: Moment) -> Asking:
    del at
    wanted = given.get("todo") or given["text"]
    args: dict[str, Any] = {"text": re.escape(wanted), "regex": True}
    if not any(one.isupper() for one in wanted):
        args["text"] = f"(?i:{args['text']})"
    if file := given.get("file"):
        args["path"] = file
    said = yield LookCall(SEARCH, args)
    notes = [line for line in said.split("\n") if line.startswith("(")]
    if said.startswith("Nothing found") or len(notes) == said.count("\n") + 1:
        return LookAnswer("\n".join([f"No text file here holds {wanted!r}.", *notes]))
    return LookAnswer(f"Lines with {wanted!r}:\n{said}")


def _git(show: str) -> Callable[[Given, Moment], Asking]:
    def asking(given: Given, at: Moment) -> Asking:
        del at
        args: dict[str, Any] = {"show": show}
        if show == "log":
            args["count"] = min(int(given.get("count", "10")), 100)
        said = (yield LookCall(GIT, args)).rstrip()
        if _NOT_SEEN.match(said) or (show == "status" and said[:3] != "## "):
            # nothing is known then, least of all that nothing has changed
            return LookAnswer(said, understood=False)
        if show == "status":
            branch, _, files = said.partition("\n")
            clean = "Nothing has changed since the last commit."
            listed = f"Changed since the last commit:\n{files}" if files.strip() else clean
            return LookAnswer(f"{branch.removeprefix('## ')}: {listed}")
        return LookAnswer(said)

    return asking


Kinds = Mapping[str, Callable[[Given, Moment], Asking]]
KINDS: Final[Kinds] = {
    "list": _list,
    "project": _project,
    "count": _count,
    "find": _find,
    "ordered": _ordered,
    "changed_last": _changed_last,
    "changed": _changed,
    "named": _named,
    "larger": _larger,
    "part": _part,
    "facts": _facts,
    "size": _size,
    "show": _show,
    "extract": _extract,
    "words": _words,
    "compare": _compare,
    "holds": _holds,
    **dict.fromkeys(("inside", "inside_or_show"), _inside),
    "show_loose": _loose(_show),
    "extract_loose": _loose(_extract),
    "words_loose": _loose(_words),
    "named_loose": _loose(None),
    "status": _git("status"),
    "diff": _git("diff"),
    "log": _git("log"),
}
"""The kinds of questions that are about files alone, and how each is answered."""


def files_seen(text: str) -> Sequence[str]:
    """The paths that `workspace_files` showed; none where it could not look."""
    found = read_files(text)
    return [] if found is None else [one.path for one in found.shown]


def _of(given: Given) -> str:
    endings = given.get("kind", "*").split()
    if endings == ["*"]:
        return ""
    more = len(endings) - _ENDINGS_TOLD
    rest = f" and {more} more endings" if more > 1 else ""
    return f" ({', '.join(endings[:_ENDINGS_TOLD])}{rest})"
