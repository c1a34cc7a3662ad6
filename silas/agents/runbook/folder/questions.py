"""Which questions about the folder are understood: sentences in English and in German."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from silas.agents.runbook.folder.kinds import ALL_KINDS, KINDS, ORDERS, patterns_of_kind
from silas.agents.runbook.folder.periods import age_of, span_of
from silas.plans.runbooks.sentences import matches, parse_request


class LookRequest(NamedTuple):
    """What is wanted, and what stood in the slots of the sentence."""

    kind: str
    given: Mapping[str, str] = MappingProxyType({})


_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_FILE: Final = re.compile(r"[\w+(@~.-][\w .,+()@&#=~/-]{0,150}\.(?!(?:com|org|net)\Z)\w{1,8}", re.I)
_SHOW: Final = "show|list|find|give|print|display|zeig|zeige|liste|finde"
_WHICH: Final = "what|which|welche|welches|was"
_LAST: Final = "last|latest|most_recently|recently"
_CHANGED: Final = "changed|modified|edited|saved"
_CHANGE: Final = "change|modify|edit|save"
_HERE: Final = "[are|is|there|here] [there|here|in] [here|this_folder|there]"
_IN: Final = "[here|in_here|in_this_folder|in_the_folder|hier|in_diesem_ordner|im_ordner]"
_DE_THERE: Final = "[gibt_es|sind_da|sind_hier|liegen|sind|habe_ich] [hier|es|da]"

_SENTENCES: Final = (
    (
        "list",
        (
            f"{_SHOW} [me|mir] [all|alle] [the|my|die|meine] files|dateien",
            f"{_WHICH} files {_HERE}",
            f"{_WHICH} dateien {_DE_THERE}",
            "what_is|what's|whats [here|there]",
            "what_is|what's|whats in|inside here|this_folder|the_folder|my_folder|this_directory",
            "was ist|liegt|gibt_es hier|da [drin]",
            "was ist|liegt [hier] [in|im] diesem_ordner|dem_ordner|ordner",
            f"{_SHOW} [me|mir] [the|this|den] folder|directory|ordner",
            "ls|dir [-l|-a|-la|-al|-lah]",
            f"{_SHOW} [me] [all] [the|my] hidden files",
            "make|create|give|write [me] [a|the] list of [all] [the|my] files",
            "liste|zeige|zeig [mir] alle|die|meine|den|diesen dateien|ordner [auf|an]",
        ),
    ),
    (
        "count",
        (
            f"how many {{kind}} [files|documents] {_HERE}",
            "how many {kind} [files|documents] do i|we have [here]",
            "how many {kind} [files] does|has this|the|my folder|directory [have|contain]",
            "count [all] [the|my] {kind} [files]",
            f"wie viele|wieviele {{kind}} [dateien] {_DE_THERE}",
            "zähl|zähle [alle|die|meine] {kind} [dateien]",
        ),
    ),
    (
        "find",
        (
            f"{_SHOW} [me|mir] [only|just|nur] [all|alle] [the|my|die|meine] {{kind}} "
            "[files|dateien]",
            f"{_SHOW} [me|mir] [all|every] [the|my] {{kind}} [including|in|with|from] "
            "[all] [the] subfolders|subdirectories|sub-folders",
            f"{_WHICH} {{kind}} [files] {_HERE}",
            f"{_WHICH} {{kind}} [files] do i have [here]",
            f"{_WHICH} {{kind}} {_DE_THERE}",
            "are|is there [any|a] {kind} [files|file] [here]",
            "do i have [any] {kind} [files] [here]",
            "where are [all] [the|my] {kind} [files]",
            "gibt es [hier] {kind} [hier]",
        ),
    ),
    (
        "ordered",
        (
            f"{_WHICH} is|are|ist|sind [the|my|die|das|der] {{order}} {{kind}} [files]",
            f"{_WHICH} is|are|sind [the|my|die] {{count}} {{order}} {{kind}} [files|dateien]",
            f"{_WHICH} {{kind}} is|are|ist|sind [the|die|das|der] {{order}}",
            "what's [the|my] {order} {kind}",
            f"{_SHOW} [me|mir] [the|my|die] {{order}} {{kind}} [files|dateien]",
            f"{_SHOW} [me|mir] [the|my|die] {{count}} {{order}} {{kind}} [files|dateien]",
            "[the|my|die] {order} {kind} [files|dateien]",
        ),
    ),
    (
        "changed_last",
        (
            f"{_SHOW} [me|mir] [the|my] {_LAST} {_CHANGED} {{kind}} [files|file]",
            f"{_WHICH} is|are|was|were [the|my] {_LAST} {_CHANGED} {{kind}} [files|file]",
            f"{_WHICH} {{kind}} [files|file] [was|were|is|are|has_been|have_been] [the] "
            f"{_CHANGED} last|most_recently",
            f"{_WHICH} {{kind}} [files|file] did i {_CHANGE} last|most_recently",
            f"what did i {_CHANGE} last",
            "zeig|zeige [mir] [die] zuletzt geänderte|geänderten|bearbeitete {kind}",
            "was|welche {kind} wurde|wurden|habe_ich zuletzt geändert",
            "was wurde|habe_ich zuletzt geändert",
        ),
    ),
    (
        "changed",
        (
            *(
                f"{asked} {_IN} {{day...}}"
                for asked in (
                    "what|which [files] [have|has|was|were|is|are] changed|modified|edited",
                    "which {kind} [files] [have|has|was|were|is|are] changed|modified|edited",
                    "what|which [files] did i change|edit|modify",
                    "which {kind} [files] did i change|edit|modify",
                    "what_has|what_is|what's changed",
                    "what|which {kind} [files] are|were {new}",
                    "{new} {kind}",
                )
            ),
            *(
                f"{asked} geändert|verändert|bearbeitet"
                for asked in (
                    f"was wurde|habe_ich|hat_sich {_IN} {{day...}}",
                    f"welche dateien wurden|habe_ich|haben_sich {_IN} {{day...}}",
                    f"welche {{kind}} wurden|habe_ich|haben_sich {_IN} {{day...}}",
                )
            ),
            f"welche {{kind}} sind|waren {_IN} {{day...}} {{new}}",
        ),
    ),
    (
        "aged",
        (
            f"{_SHOW} [me] [all] [the|my] {{kind}} [files] [that_are|which_are] {{side}} than "
            "{age...}",
            f"{_WHICH} {{kind}} [files] are {{side}} than {{age...}}",
            f"{_SHOW} [mir] [alle] [die|meine] {{kind}} [die] {{side}} als {{age...}} [sind|auf]",
            f"{_WHICH} {{kind}} sind {{side}} als {{age...}}",
        ),
    ),
    (
        "named",
        (
            "where is [the|my] [file] {file}",
            "wo_ist|wo_liegt|finde|suche [die|meine] [datei] {file}",
            "is there [a] [file] [called|named] {file}",
            "gibt es [die|eine] [datei] {file}",
            "find|locate [my|the] {word} [file|files|document]",
            "where is the {word} [file|document]",
            "finde|such|suche [mir] [die|den|das|meine|meinen|mein] {word} [datei]",
        ),
    ),
    (
        "larger",
        (
            *(
                f"{asked} {size}"
                for size in ("{size}", "{number} {unit}")
                for asked in (
                    f"{_WHICH} files are|is larger|bigger than",
                    f"{_WHICH} files are|is over|above",
                    f"{_SHOW} [me] [all] [the] files larger|bigger than",
                    f"{_SHOW} [me] [all] [the] files over|above",
                    f"{_WHICH} dateien sind größer als",
                )
            ),
        ),
    ),
    (
        "part",
        (
            "show|print|give|read [me] [the] first {count} lines of|from|in [the] [file] {file}",
            "show|print|give|read [me] [the] last {last} lines of|from|in [the] [file] {file}",
            "zeig|zeige|lies [mir] [die] ersten {count} zeilen von|aus|der [datei] {file} [vor]",
            "zeig|zeige|lies [mir] [die] letzten {last} zeilen von|aus|der [datei] {file} [vor]",
            "show|print|give|read [me] the {first} line of|from|in [the] [file] {file}",
            "zeig|zeige|lies [mir] die {first} zeile von|aus|der [datei] {file} [vor]",
            "head [of] {file}",
        ),
    ),
    (
        "facts",
        (
            "how big|large|old is [the|my] [file] {file}",
            "what is the size of [the|my] [file] {file}",
            "when was [the|my] [file] {file} [last] changed|modified|edited|saved",
            "when did i [last] change|edit|modify|save [the|my] [file] {file}",
            "wie groß|alt ist [die|meine] [datei] {file}",
            "wann wurde|habe_ich [die] [datei] {file} [zuletzt] geändert|bearbeitet",
        ),
    ),
    (
        "show",
        (
            "zeig|zeige|öffne|lies [mir] [bitte] [die] [datei] {file} [an|vor]",
            "was steht in [der] [datei] {file}",
            "show|open|read|print|cat [me] [the|my] {well_known} [file]",
            "what does [the|my] {well_known} say",
        ),
    ),
    (
        "extract",
        ("fass|fasse [die] [datei] {file} zusammen", "summarise|summarize the {well_known}"),
    ),
    ("compare", ("vergleiche [die_dateien] {one} und|mit {two}",)),
    (
        "holds",
        (
            "does [the|my] [file] {file} mention|contain|hold [the_word|the_text] {text...}",
            "kommt|steht [das_wort] {text...} in [der] [datei] {file} [vor]",
            "enthält [die] [datei] {file} [das_wort|den_text] {text...}",
            "which|what file|files mention|mentions|contain|contains|has|have [the|a] "
            "[word|text] {text...}",
            "in which|what file|files is [the_word|the_text] {text...}",
            "grep [for] {text...}",
            "search|look [in_my_files|the_files|files] for {quoted}",
            "find|show|list [me] [all] [the|my] {todo}",
            "wo steht|kommt {text...} [vor]",
            "suche|such [nach] [dem_wort|dem_text|das_wort|den_text] {text...}",
            "finde das_wort|den_text|den_satz {text...}",
        ),
    ),
    (
        "status",
        (
            "git status",
            "show|what_is|what's [me] [the] git status",
            "what|which [files] [has|have] changed in git|the_repository|the_repo",
            "what|which [files] [has|have] changed since the last commit",
            "what did i change since the last commit",
            "are there [any] uncommitted changes",
            "is everything committed",
            "was hat sich in git geändert",
        ),
    ),
    (
        "diff",
        ("git diff", "show [me] [the] [git] diff|uncommitted_changes", "what are my changes"),
    ),
    (
        "log",
        (
            "git log",
            "show|list [me] [the] [git] log|history",
            "show|list [me] [the] [last|latest|recent] commits",
            "show|list [me] [the] [last|latest|recent] {count} commits",
            "what|which [was|were|is|are] [the] last commit|commits",
        ),
    ),
    (
        "project",
        (
            "what kind|type|sort of project is this|it",
            "what_is|what's this project",
            "is this a git repository|repo",
            "was für ein projekt ist das",
        ),
    ),
)
_WELL_KNOWN: Final = frozenset({"readme", "license", "licence", "changelog", "makefile"})
_TODO: Final = frozenset({"todo", "todos", "fixme", "fixmes"})
_NO_NAME_LIST: Final = """
answer bug bugs difference doppelte dublette dubletten duplicate duplicates duplikat duplikate
error errors fehler problem problems text unterschied way weg word wort
"""
_NO_NAMES: Final = frozenset(_NO_NAME_LIST.split())
"""What is looked for in another way than by the name of a file."""

_SIZE: Final = re.compile(r"(?P<number>\d{1,9}(?:[.,]\d{1,3})?)(?P<unit>[kmgt]?b)", re.IGNORECASE)
_UNITS: Final = {"b": 1, "byte": 1, "bytes": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIDES: Final = {"older": "before", "älter": "before", "newer": "after", "neuer": "after"}
_NEW: Final = frozenset({"new", "neu", "neue", "dazugekommen", "hinzugekommen"})


def _count(said: str) -> str | None:
    if said.isdigit() and 0 < int(said) <= 200:
        return said
    return str(_NUMBERS.index(said.lower()) + 2) if said.lower() in _NUMBERS else None


def _one_line(said: str) -> str | None:
    """Which end of a file its first or its last line is at."""
    word = said.lower()
    return "count" if word in ("first", "erste") else "last" if word in ("last", "letzte") else None


def _todo(said: str) -> str | None:
    return said.upper().removesuffix("S") if said.lower() in _TODO else None


def _word(said: str) -> str | None:
    named = len(said) > 2 and said.lower() not in (_NO_NAMES | ALL_KINDS | _TODO | KINDS.keys())
    return said if named and re.fullmatch(r"[\w -]+", said) else None


def _size(said: str) -> str | None:
    found = _SIZE.fullmatch(said)
    if found is None:
        return None
    return _in_bytes(found["number"], found["unit"])


def _in_bytes(number: str, unit: str) -> str:
    return str(int(float(number.replace(",", ".")) * _UNITS[unit.lower()]))


_READS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "kind": patterns_of_kind,
    "count": _count,
    "order": lambda said: ORDERS.get(said.lower()),
    "day": span_of,
    "age": age_of,
    "side": lambda said: _SIDES.get(said.lower()),
    "new": lambda said: said.lower() if said.lower() in _NEW else None,
    "file": lambda said: said if _FILE.fullmatch(said) else None,
    "one": lambda said: said if _FILE.fullmatch(said) else None,
    "two": lambda said: said if _FILE.fullmatch(said) else None,
    "well_known": lambda said: said.lower() if said.lower() in _WELL_KNOWN else None,
    "todo": _todo,
    "text": lambda said: said,
    "quoted": lambda said: said,
    "word": _word,
    "last": _count,
    "first": _one_line,
    "size": _size,
    "number": lambda said: said if re.fullmatch(r"\d{1,9}(?:[.,]\d{1,3})?", said) else None,
    "unit": lambda said: said.lower() if said.lower() in _UNITS else None,
}
"""What may stand in a slot, and what it means; None where it fits not."""


def look_request(text: str) -> LookRequest | None:
    """What a message asks to be looked at in this folder; None where it is no such question."""
    said, place = parse_request(text)
    if not said or place:
        return None
    return next(_looks(said), None)


def _looks(said: str) -> Iterator[LookRequest]:
    for kind, sentences in _SENTENCES:
        for slots in matches(sentences, said):
            read = {name: _READS[name](value) for name, value in slots.items() if value}
            given = {name: value for name, value in read.items() if value is not None}
            if len(given) == len(read):
                yield LookRequest(kind, _plain(given))


def _plain(given: Mapping[str, str]) -> Mapping[str, str]:
    """Two ways to say a size, a text or how many lines, as one."""
    if "first" in given:
        return {"file": given["file"], given["first"]: "1"}
    if "unit" in given:
        return {"size": _in_bytes(given["number"], given["unit"])}
    return {"text": given["quoted"]} if "quoted" in given else given
