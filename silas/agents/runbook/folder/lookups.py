"""What the texts of the folder say: `where is my lease`, `when does the lease end`.

Every word of the question that says something has to stand in one line, or in the name of a file
and in a line of that file. Where they do not, that is what is said: nothing is guessed.
"""

import re
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from silas.agents.runbook.everyday.owners_facts import words_asked_for
from silas.agents.runbook.folder.answers import KINDS as NAMES
from silas.agents.runbook.folder.files import FileSeen, note_words, read_files
from silas.agents.runbook.folder.looks import (
    FILES,
    SEARCH,
    Asking,
    Given,
    Kinds,
    LookAnswer,
    LookCall,
    Moment,
)
from silas.agents.runbook.folder.questions import LookRequest
from silas.language import tr, tr_many
from silas.plans.runbooks.sentences import matches, parse_request

_THE: Final = "the|my|our|der|die|das|mein|meine|meinen|unser|unsere|unseren"
_SENTENCES: Final = (
    "where_is|where's|wheres|where_are my|our {about...}",
    "wo_ist|wo_sind|wo_liegt|wo_liegen mein|meine|unser|unsere {about...}",
    "find|locate|search [me] [for] my|our {about...}",
    f"when|where|how|how_long|how_often|how_much does|do|did|will {_THE} {{about...}} {{does}}",
    f"when_is|when_are|when_was|when's|wann_ist|wann_war {_THE} {{about...}} {{does}}",
    f"when_is|when_are|when_was|when's|wann_ist|wann_war {_THE} {{about...}}",
    f"how_much|how_high|wie_hoch is|are|was|ist|sind|war {_THE} {{about...}}",
    "what|who is|are|was|were my|our {about...}",
    "was|wer ist|sind|war mein|meine|meinen|unser|unsere|unseren {about...}",
    f"wann {{does}} {_THE} {{about...}} ab|aus|an|auf",
    f"wann {{does}} {_THE} {{about...}}",
)
_FILLER_LIST: Final = """
a an the my our your his her their its this that these those of for in on at to by from with about
again still now today is are was were be been do does did will file document letter
der die das den dem des ein eine einen mein meine meinen unser unsere unseren von für im in am an
zu mit noch mal
"""
_FILLER: Final = frozenset(_FILLER_LIST.split())
_TWO: Final = frozenset(("and", "or", "but", "then", "und", "oder", "aber", "dann"))
"""Words of two requests in one, which are not looked up as one."""

Lines = Generator[LookCall, str, list[str]]
"""Looks, and the lines that they found."""

_MOST_WORDS: Final = 5
_LONG: Final = 6  # letters of a word that is looked for inside others, as German joins words
_MOST_LINES: Final = 20
_MOST_FILES: Final = 5  # files called so that are told, or looked into


def lookup_request(text: str) -> LookRequest | None:
    """What a message wants to know that a text of the folder may say; None for other messages."""
    said, place = parse_request(text)
    if not said or place or words_asked_for(text):
        return None  # who the owner is, is remembered and not read off a file
    for slots in matches(_SENTENCES, said):
        about, does = _words(slots["about"]), _words(slots.get("does", ""))
        if about and len(about) + len(does) <= _MOST_WORDS and not _two(said):
            given = {"about": "\n".join(about), "does": "\n".join(does)}
            return LookRequest("lookup", MappingProxyType(given))
    return None


def lookup_words(look: LookRequest) -> list[str]:
    """The words that all have to be there."""
    return [*look.given["about"].split("\n"), *lines_of(look.given["does"])]


def has_all(text: str, words: Sequence[str]) -> bool:
    """Whether a text has every word, in one or in many, at the beginning of a word of its."""
    return all(re.search(_pattern(one), text, re.IGNORECASE) for one in words)


def _two(said: str) -> bool:
    return not _TWO.isdisjoint(re.findall(r"\w+", said.lower()))


def _words(said: str) -> list[str]:
    found = (one.removesuffix("'s").removesuffix("’s") for one in re.findall(r"[\w'’-]+", said))
    words = dict.fromkeys(one.lower() for one in found)
    return [one for one in words if len(one) > 1 and one not in _FILLER]


def _pattern(word: str) -> str:
    """A word, in one or in many; a short one at the beginning of a word alone."""
    stem = _stem(word)
    return ("" if len(stem) >= _LONG else r"(?<![^\W_])") + re.escape(stem)


def _stem(word: str) -> str:
    return word if word.endswith("ss") else re.sub(r"(?<=\w{3})(?:ies|s)\Z", "", word)


def search_for(words: Sequence[str], path: str = ".") -> LookCall:
    """The search for lines that have every word, below a path or in a file."""
    every = "".join(f"(?=.*{_pattern(one)})" for one in words)
    args: dict[str, Any] = {"text": f"(?i)^{every}", "regex": True}
    return LookCall(SEARCH, args if path == "." else {**args, "path": path})


def found_lines(said: str) -> list[str]:
    """The lines that a search found; none where it broke off or found none."""
    lines = [one for one in said.split("\n") if re.match(r".+?:\d+: ", one)]
    more = len(lines) - _MOST_LINES
    return lines[:_MOST_LINES] + (
        [tr("({more} more lines are not shown)", more=more)] if more > 0 else []
    )


def _unsaid(said: str) -> str:
    """What a search did not look into, or why it found nothing out; empty where it saw all."""
    other = (one for one in said.split("\n") if not re.match(r".+?:\d+: ", one))
    return " ".join(note_words(one) for one in other if one and one != "Nothing found.")


def lines_of(said: str) -> list[str]:
    """The words of a slot; none where nothing stood in it."""
    return [one for one in said.split("\n") if one]


def quote_words(words: Sequence[str]) -> str:
    """The words in a sentence, each in quotes."""
    return tr(" and ").join(repr(one) for one in words)


def _lookup(given: Given, at: Moment) -> Asking:
    about, does = given["about"].split("\n"), lines_of(given["does"])
    named = read_files((yield LookCall(FILES, {"names": [f"*{_stem(about[0])}*"], "count": 200})))
    if named is None:
        return None
    files = [one for one in named.shown if has_all(one.path.rpartition("/")[2], about)]
    told = [] if does else _lines_of_files(files, at)
    seen = yield search_for([*about, *does])
    lines, unsaid = found_lines(seen), _unsaid(seen)
    if lines:
        return LookAnswer(
            "\n".join(
                [*told, tr("Lines with {about}:", about=quote_words([*about, *does])), *lines]
            )
        )
    if unsaid and not unsaid.startswith("("):  # it broke off: nothing is known
        return LookAnswer("\n".join([*told, unsaid]), understood=False)
    if told:
        return LookAnswer(
            "\n".join(
                [
                    *told,
                    tr(
                        "No line of a text here has {about}. {unsaid}",
                        about=quote_words(about),
                        unsaid=unsaid,
                    ),
                ]
            )
        )
    for one in islice(files, _MOST_FILES):
        lines = found_lines((yield search_for(does, one.path)))
        if lines:
            inside = [line.partition(":")[2] for line in lines]
            said = tr(
                "{one} has {about} in its name; its lines with {does}:",
                one=one.path,
                about=quote_words(about),
                does=quote_words(does),
            )
            return LookAnswer("\n".join([said, *(f"{one.path}:{line}" for line in inside)]))
    nothing = tr("No line of a text in this folder has {about}", about=quote_words([*about, *does]))
    near = found_lines((yield search_for(about))) if does else []
    if near or files:
        said = "\n".join([f"{nothing}. {unsaid}", *_near(about, near, files, at)])
        return LookAnswer(said, understood=False)
    why = tr(
        "{nothing}, and no name of a file has {about}. {unsaid}",
        nothing=nothing,
        about=quote_words(about),
        unsaid=unsaid,
    ).rstrip()
    return LookAnswer(why, understood=False)


def _with_lines(first: Callable[[Given, Moment], Asking]) -> Callable[[Given, Moment], Asking]:
    """Files by their name, and the lines of texts that have the same words."""

    def asking(given: Given, at: Moment) -> Asking:
        answer = yield from first(given, at)
        if not given.keys() & {"word", "names"}:
            return answer
        said = given.get("word") or given["names"].split("\n")[0].replace("*", " ")
        words = _words(said)[:_MOST_WORDS] or [said.strip()]
        seen = yield search_for(words)
        lines, unsaid = found_lines(seen), _unsaid(seen)
        told = [] if answer is None else [answer.text]
        if lines:
            return LookAnswer(
                "\n".join([*told, tr("Lines with {words}:", words=quote_words(words)), *lines])
            )
        if unsaid and not unsaid.startswith("("):  # it broke off: nothing is known
            return answer or LookAnswer(unsaid, understood=False)
        if answer is None and "word" in given:
            why = tr(
                "No file of this folder has {said!r} in its name, and no line of a text has it.",
                said=said,
            )
            return LookAnswer(f"{why} {unsaid}".rstrip())
        return answer

    return asking


def _near(
    about: Sequence[str], lines: Sequence[str], files: Sequence[FileSeen], at: Moment
) -> list[str]:
    heading = [tr("Lines with {about}:", about=quote_words(about))] if lines else []
    return [*heading, *lines, *_lines_of_files(files, at)]


def _lines_of_files(files: Sequence[FileSeen], at: Moment) -> list[str]:
    if not files:
        return []
    more = tr("({files} more are not shown)", files=len(files) - _MOST_FILES)
    shown = [one.line_in(at.zone) for one in files[:_MOST_FILES]]
    return [
        tr_many(len(files), "{count} file is called so:", "{count} files are called so:"),
        *shown,
        *([more] if len(files) > _MOST_FILES else []),
    ]


KINDS: Final[Kinds] = {
    "lookup": _lookup,
    **{kind: _with_lines(NAMES[kind]) for kind in ("named", "named_loose")},
}
"""Questions that a text of the folder may answer, and how."""
