"""Looks at files that are attached to the conversation: each of some, and what their texts say.

What is looked up is looked up in them first, and in the folder where none of them says it.
"""

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from silas.agents.runbook.folder import answers, lookups
from silas.agents.runbook.folder.looks import Asking, Given, Kinds, LookAnswer, Moment
from silas.agents.runbook.folder.questions import LookRequest
from silas.context.attachments import PLACE
from silas.language import tr

_NAME: Final = rf"{PLACE}/[\w.+()-]+"
_EACH: Final = re.compile(
    rf"(?P<verb>show|summarise|count the words in) (?P<files>{_NAME}(?: and {_NAME})*)"
)
_DO: Final = {"show": "show", "summarise": "extract", "count the words in": "words"}
_MOST: Final = 5  # files of one answer
_MOST_INSIDE: Final = 3  # files with the subject that are looked into


def attached_request(text: str) -> LookRequest | None:
    """What a message that names attached files wants done with each; None for other messages."""
    found = _EACH.fullmatch(text)
    if found is None:
        return None
    files = "\n".join(found["files"].split(" and "))
    return LookRequest("each", MappingProxyType({"do": _DO[found["verb"]], "files": files}))


def with_attached(look: LookRequest, names: Sequence[str]) -> LookRequest:
    """A look-up that goes to attached files first."""
    if look.kind != "lookup" or not names:
        return look
    given = {**look.given, "files": "\n".join(names)}
    return LookRequest("lookup_attached", MappingProxyType(given))


def _each(given: Given, at: Moment) -> Asking:
    names = given["files"].split("\n")
    said = list[LookAnswer]()
    for name in names[:_MOST]:
        answer = yield from answers.KINDS[given["do"]]({"file": name}, at)
        if answer is None:
            return None
        said.append(answer)
    more = len(names) - _MOST
    left = [tr("({files} more are not shown)", files=more)] if more > 0 else []
    told = "\n\n".join([*(one.text.rstrip("\n") for one in said), *left])
    return LookAnswer(told, understood=any(one.understood for one in said))


def _lookup(given: Given, at: Moment) -> Asking:
    about, does = given["about"].split("\n"), lookups.lines_of(given["does"])
    words = [*about, *does]
    lines = _with_place((yield lookups.search_for(words, PLACE)))
    if lines:
        said = tr("Lines with {about}:", about=lookups.quote_words(words))
        return LookAnswer("\n".join([said, *lines]))
    told = (yield from _inside(given["files"].split("\n"), about, does)) if does else []
    if told:
        return LookAnswer("\n".join(told))
    answer = yield from lookups.KINDS["lookup"](given, at)
    if answer is not None and answer.understood:
        return answer
    why = tr("No line of what is attached has {about}.", about=lookups.quote_words(words))
    rest = [] if answer is None else [answer.text]
    return LookAnswer("\n".join([why, *rest]), understood=False)


def _inside(names: Sequence[str], about: Sequence[str], does: Sequence[str]) -> lookups.Lines:
    """What files of the subject say, by their names or by another line of theirs."""
    seen = _with_place((yield lookups.search_for(about, PLACE)))
    of_lines = (one.partition(":")[0] for one in seen)
    of_names = (one for one in names if lookups.has_all(one.removeprefix(PLACE), about))
    told = list[str]()
    for name in list(dict.fromkeys([*of_names, *of_lines]))[:_MOST_INSIDE]:
        found = lookups.found_lines((yield lookups.search_for(does, name)))
        lines = [line.partition(":")[2] for line in found]
        if lines:
            quoted = {"about": lookups.quote_words(about), "does": lookups.quote_words(does)}
            told.append(tr("{one} is about {about}; its lines with {does}:", one=name, **quoted))
            told += [f"{name}:{line}" for line in lines]
    return told


def _with_place(said: str) -> list[str]:
    return [
        f"{PLACE}/{line}" if re.match(r".+?:\d+: ", line) else line
        for line in lookups.found_lines(said)
    ]


KINDS: Final[Kinds] = {"each": _each, "lookup_attached": _lookup}
"""Questions about attached files, and how each is answered."""
