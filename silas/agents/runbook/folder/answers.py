"""What to look at for each kind of question, and what is said of what was seen."""

import re
from collections.abc import Callable, Generator, Sequence
from typing import Any, Final

from silas.agents.runbook.folder.files import FilesSeen, in_bytes, note_words, number_of, read_files
from silas.agents.runbook.folder.looks import (
    FILES,
    GIT,
    LIST,
    MOST,
    SEARCH,
    Asking,
    Given,
    Kinds,
    LookAnswer,
    LookCall,
    Moment,
    whole_text,
)
from silas.agents.runbook.folder.texts import differences, extract, text_counts
from silas.language import tr, tr_later

_ENDINGS_TOLD: Final = 3
_ALL: Final = 200  # files that one look shows
_ORDERS: Final = {
    "name": tr_later("The first by name"),
    "biggest": tr_later("The biggest"),
    "smallest": tr_later("The smallest"),
    "newest": tr_later("The newest"),
    "oldest": tr_later("The oldest"),
}
_NOT_SEEN: Final = re.compile(
    r"There is no git|The \.git of|The repository keeps|\.git/|git c|Files with"
)  # how the sentences of `workspace_git` begin that say why nothing was seen


def _list(given: Given, at: Moment) -> Asking:
    del given, at
    text = yield LookCall(LIST, {"depth": 1})
    return LookAnswer(_listing_words(text))


def _listing_words(text: str) -> str:
    kind, _, rest = text.partition("\n")
    if not kind.startswith("Kind: "):
        return text
    lines = [_told_sizes(line) for line in rest.split("\n") if line]
    known = "" if "no project" in kind else f"{kind.removeprefix('Kind: ')}. "
    return (
        "\n".join([tr("{known}In this folder:", known=known), *lines])
        if lines
        else tr("This folder is empty.")
    )


def _told_sizes(line: str) -> str:
    return re.sub(r"  (\d+) bytes", lambda found: f"  {in_bytes(int(found[1]))}", line)


def _project(given: Given, at: Moment) -> Asking:
    del given, at
    text = yield LookCall(LIST, {"depth": 1})
    kind = text.split("\n", 1)[0].removeprefix("Kind: ")
    return LookAnswer(tr("By the names of its files: {kind}.", kind=kind))


def _some(given: Given, order: str, count: int) -> LookCall:
    names = given.get("kind", "*").split()
    return LookCall(FILES, {"names": names, "order": order, "count": count})


def _count(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "name", MOST)))
    if found is None:
        return None
    said = tr(
        "{number_of}{of}, {in_bytes} in all.",
        number_of=number_of(found.total),
        of=_of(given),
        in_bytes=in_bytes(found.size),
    )
    lines = [one.line_in(at.zone) for one in found.shown if given.get("kind", "*") != "*"]
    return LookAnswer("\n".join([said, *lines, *found.notes]))


def _find(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "name", _ALL)))
    return None if found is None else _answer(found, at, f"{number_of(found.total)}{_of(given)}:")


def _answer_in_order(given: Given, at: Moment) -> Asking:
    order, count = given["order"], int(given.get("count", "5"))
    found = read_files((yield _some(given, order, count)))
    if found is None:
        return None
    of = tr(" of {number_of}{of}", number_of=number_of(found.total), of=_of(given))
    return _answer(_rest_known(found), at, f"{tr(_ORDERS[order])}{of}:")


def _answer_in_order_inside(given: Given, at: Moment) -> Asking:
    args = {"names": given["names"].split("\n"), "order": given["order"], "count": 5}
    found = read_files((yield LookCall(FILES, args)))
    if found is None or not found.total:
        return None
    of = tr(" of {number_of}{of}", number_of=number_of(found.total), of="")
    return _answer(_rest_known(found), at, f"{tr(_ORDERS[given['order']])}{of}:")


def _answer(found: FilesSeen, at: Moment, heading: str) -> LookAnswer:
    if not found.total:
        return LookAnswer("\n".join([tr("There is no such file in this folder."), *found.notes]))
    return LookAnswer(
        "\n".join([heading, *(one.line_in(at.zone) for one in found.shown), *found.notes])
    )


def _changed_last(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "newest", 5)))
    if found is None:
        return None
    if not found.total:
        return _answer(found, at, "")
    first, *rest = [one.line_in(at.zone) for one in found.shown]
    before = [tr("Before it:"), *rest] if rest else []
    said = tr(
        "Changed last of {number_of}{of} ({key}):",
        number_of=number_of(found.total),
        of=_of(given),
        key=at.zone.key,
    )
    return LookAnswer("\n".join([said, first, *before, *_rest_known(found).notes]))


def _larger(given: Given, at: Moment) -> Asking:
    least = int(given["size"])
    found = read_files((yield _some(given, "biggest", _ALL)))
    if found is None:
        return None
    shown = [one for one in found.shown if one.size > least]
    if len(shown) == len(found.shown) < found.total:
        return None  # there may be more than a look shows
    if not shown:
        return LookAnswer(
            tr("No file of this folder is larger than {in_bytes}.", in_bytes=in_bytes(least))
        )
    lines = [one.line_in(at.zone) for one in shown]
    return LookAnswer(
        "\n".join(
            [tr("{files} above {size}:", files=number_of(len(shown)), size=in_bytes(least)), *lines]
        )
    )


def _part(given: Given, at: Moment) -> Asking:
    del at
    file = yield from whole_text(given["file"])
    if file.why is not None:
        return file.why
    lines = file.text.removesuffix("\n").split("\n")
    if "last" not in given:
        return LookAnswer("\n".join([f"{file.path}:", "", *lines[: int(given.get("count", "10"))]]))
    if file.cut:
        return LookAnswer(
            tr("{file} is too long to look at its end.", file=file.path), understood=False
        )
    return LookAnswer("\n".join([f"{file.path}:", "", *lines[-int(given["last"]) :]]))


def _answer_by_name(given: Given, at: Moment) -> Asking:
    name = given.get("file") or given.get("word") or given["name"]
    pattern = name if "file" in given or re.search(r"[*?\[]", name) else f"*{name}*"
    found = read_files((yield LookCall(FILES, {"names": [pattern], "count": _ALL})))
    if found is not None and not found.total and "word" in given:
        return None
    return (
        None
        if found is None
        else _answer(found, at, tr("{files} found:", files=number_of(found.total)))
    )


def _facts(given: Given, at: Moment) -> Asking:
    found = read_files((yield LookCall(FILES, {"names": [given["file"]], "count": MOST})))
    if found is None:
        return None
    return _answer(found, at, tr("Size, and when it was changed last ({key}):", key=at.zone.key))


def _size(given: Given, at: Moment) -> Asking:
    found = read_files((yield _some(given, "biggest", 5)))
    if found is None:
        return None
    return _answer_size(found, at)


def _size_inside(given: Given, at: Moment) -> Asking:
    args = {"names": given["names"].split("\n"), "order": "biggest", "count": 5}
    found = read_files((yield LookCall(FILES, args)))
    if found is None or not found.total:
        return None
    return _answer_size(found, at)


def _answer_size(found: FilesSeen, at: Moment) -> LookAnswer:
    said = tr(
        "{in_bytes} in {number_of}; the biggest:",
        in_bytes=in_bytes(found.size),
        number_of=number_of(found.total),
    )
    return _answer(_rest_known(found), at, said)


def _rest_known(found: FilesSeen) -> FilesSeen:
    """Without the note that more are there, which the heading says already."""
    more = [note_words(f"({found.total - len(found.shown)} more are not shown)")]
    return found._replace(notes=[one for one in found.notes if one not in more])


def _inside(given: Given, at: Moment) -> Asking:
    found = yield from _fitting(given)
    if found is None or not found.total:
        names = {"names": given.get("files", "")}
        return (yield from _loose(_show)(names, at)) if names["names"] else None
    return _answer(
        found,
        at,
        tr(
            "{number_of}, {in_bytes} in all:",
            number_of=number_of(found.total),
            in_bytes=in_bytes(found.size),
        ),
    )


def _fitting(given: Given) -> Generator[LookCall, str, FilesSeen | None]:
    return read_files((yield LookCall(FILES, {"names": given["names"].split("\n"), "count": _ALL})))


def _loose(then: Callable[[Given, Moment], Asking] | None) -> Callable[[Given, Moment], Asking]:
    """Finds the one file that a name in words means; None, and another answer, for no file."""

    def asking(given: Given, at: Moment) -> Asking:
        found = yield from _fitting(given)
        if found is None or not found.total:
            return None
        if then is None:
            return _answer(found, at, tr("{files} found:", files=number_of(found.total)))
        if found.total == 1:
            return (yield from then({**given, "file": found.shown[0].path}, at))
        several = _answer(found, at, tr("Several files fit; name the one that you mean:"))
        return several._replace(understood=False)

    return asking


def _find_well_known(given: Given) -> Generator[LookCall, str, str]:
    """The name of a file that is meant, such as README.md for `readme`."""
    if (name := given.get("well_known", "")) == "":
        return given["file"]
    found = read_files((yield LookCall(FILES, {"names": [name, f"{name}.*"], "count": 1})))
    return found.shown[0].path if found and found.shown else name


def _show(given: Given, at: Moment) -> Asking:
    del at
    file = yield from whole_text((yield from _find_well_known(given)))
    if file.why is not None:
        return file.why
    end = tr("\n(It goes on; this is the beginning.)") if file.cut else ""
    return LookAnswer(f"{file.path}:\n\n{file.text}{end}")


def _extract(given: Given, at: Moment) -> Asking:
    del at
    file = yield from whole_text((yield from _find_well_known(given)))
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
    notes = [note_words(line) for line in said.split("\n") if line.startswith("(")]
    if said.startswith("Nothing found") or len(notes) == said.count("\n") + 1:
        if file:  # it was looked into this one alone
            return LookAnswer(tr("{file} does not hold {wanted!r}.", file=file, wanted=wanted))
        return LookAnswer(
            "\n".join([tr("No text file here holds {wanted!r}.", wanted=wanted), *notes])
        )
    lines = "\n".join(note_words(one) if one[:1] == "(" else one for one in said.split("\n"))
    return LookAnswer(tr("Lines with {wanted!r}:\n{said}", wanted=wanted, said=lines))


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
            clean = tr("Nothing has changed since the last commit.")
            listed = (
                tr("Changed since the last commit:\n{files}", files=files)
                if files.strip()
                else clean
            )
            return LookAnswer(f"{branch.removeprefix('## ')}: {listed}")
        return LookAnswer(said)

    return asking


KINDS: Final[Kinds] = {
    "list": _list,
    "project": _project,
    "count": _count,
    "find": _find,
    "ordered": _answer_in_order,
    "changed_last": _changed_last,
    "named": _answer_by_name,
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
    "facts_loose": _loose(_facts),
    "holds_loose": _loose(_holds),
    "ordered_inside": _answer_in_order_inside,
    "size_inside": _size_inside,
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
    rest = tr(" and {more} more endings", more=more) if more > 1 else ""
    return f" ({', '.join(endings[:_ENDINGS_TOLD])}{rest})"
