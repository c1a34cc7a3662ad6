"""What a message says about the files attached to it, as a sentence that names them.

The page names them in lines at the end: `summarise this` and `Attached: @attached/notes.txt` are
`summarise @attached/notes.txt`. Words that mean none of them stay as they are, without the lines.
A message after that one means the same files by a whole sentence about them, such as `read it`.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from silas.context import FramedSection
from silas.context.attachments import ATTACHED, PLACE
from silas.plans.runbooks.sentences import matches, without_courtesies

_MOST: Final = 20  # files of one message
_NOUN: Final = r"(?:file|files|document|documents|text|texts|attachment|attachments|datei|dateien)"
_MEANT: Final = re.compile(
    rf"(?<![\w@/.])(?:(?:this|that|these|those|the|my|die|diese|den|das|attached)\s+)+{_NOUN}(?![\w/.])"
    r"|(?<![\w@/.])(?:this|that|it|these|those|them|das|dies|diese|es)(?![\w/.])",
    re.IGNORECASE,
)
_NAMES_A_FILE: Final = re.compile(r"\w\.[a-z]\w{0,7}\b", re.IGNORECASE)


def _with_nouns(articles: str, nouns: str) -> str:
    return "|".join(f"{one}_{noun}" for one in articles.split() for noun in nouns.split())


_EN_NOUNS: Final = "file files document documents text attachment attachments"
_EN: Final = "it|them|this|that|these|those|" + _with_nouns(
    "the this that these my the_attached", _EN_NOUNS
)
_DE: Final = (
    "sie|es|ihn|das|dies|diese|"
    + _with_nouns("die diese meine", "datei dateien dokumente anhänge")
    + "|"
    + _with_nouns("das dieses mein", "dokument")
    + "|"
    + _with_nouns("den diesen der dieser", "text anhang")
)
_DE_IN: Final = (
    "darin|drin|drinnen|da_drin|da_drinnen|hier_drin|"
    + _with_nouns("in_der in_dieser", "datei")
    + "|"
    + _with_nouns("in_dem im in_diesem", "dokument text anhang")
    + "|"
    + _with_nouns("in_den in_diesen", "dateien dokumenten")
)
_ASKS: Final = {
    "show": (
        f"read|show|open|print|display|view [me] {_EN} [aloud|out] [to_me]",
        f"what does|do {_EN} say",
        f"what is|are in|inside {_EN}",
        "what is in_there|inside|in_here",
        f"lies|zeig|zeige|öffne [mir] {_DE} [mir] [vor|an]",
        "lies|lese [mir] vor",
        f"was steht|ist {_DE_IN}",
        "was steht da|dort|hier",
    ),
    "summarise": (
        f"what is|are {_EN} about",
        f"what is|are in|inside {_EN} about",
        "what is here|there about",
        f"summarise|summarize|sum_up {_EN}",
        f"sum {_EN} up",
        "worum geht_es|geht's [hier|da|dabei]",
        f"worum geht_es|geht's {_DE_IN}",
        f"worum|wovon handelt|geht {_DE}",
        f"fass|fasse [mir] {_DE} [mir] zusammen",
    ),
    "count the words in": (
        f"how many words are [there] in {_EN}",
        f"how many words does|do {_EN} have",
        f"how long is|are {_EN}",
        f"count [the] words of|in {_EN}",
        f"wie_viele|wieviele wörter hat|haben {_DE}",
        f"wie_viele|wieviele wörter stehen|sind {_DE_IN}",
        f"wie lang ist|sind {_DE}",
    ),
}
"""Whole sentences about attached files, and what is done with each of these."""


class MessageParts(NamedTuple):
    """What a message says, and the files that it attaches."""

    said: str
    names: Sequence[str]


def split_message(text: str) -> MessageParts:
    """A message without the lines at its end that name files, and these."""
    lines = text.rstrip().split("\n")
    names = list[str]()
    while lines and len(names) < _MOST and lines[-1].startswith(ATTACHED):
        names.insert(0, PLACE + "/" + lines.pop().removeprefix(ATTACHED).strip())
    return MessageParts("\n".join(lines).strip(), names) if names else MessageParts(text, ())


def names_before(shown: Sequence[FramedSection]) -> Sequence[str]:
    """The files of the newest message of the owner in view that attached some; none once he spoke
    of another file by its name.

    Args:
        shown: What stands in view, the oldest first.
    """
    for one in reversed(_owners_messages(shown)):
        said, names = split_message(one)
        if names or _NAMES_A_FILE.search(said):
            return names
    return ()


def names_in_view(shown: Sequence[FramedSection]) -> Sequence[str]:
    """All files that the owner's messages in view attached, this turn's with them."""
    present = [one.text for one in shown if one.kind == "message"]
    messages = (*present, *reversed(_owners_messages(shown)))
    return list(dict.fromkeys(name for one in messages for name in split_message(one).names))


def _owners_messages(shown: Sequence[FramedSection]) -> Sequence[str]:
    """What he said in the turns before this one; a label tells what is somebody else's."""
    turns = (one for one in shown if one.kind.startswith("turn ") and "user" in one.labels)
    return [one.text for one in turns if not one.label("taint")]


def as_named(text: str, before: Sequence[str] = ()) -> str:
    """A message with the names of attached files in place of the words that mean them.

    A message without words asks for what is in its files. One that attaches nothing is as it was,
    unless it is a whole sentence about files of a message before it.

    Args:
        text: The message.
        before: The files that a message before it attached.
    """
    said, names = split_message(text)
    asked = _verb_of(said)
    if asked and (names or before):
        return f"{asked} {' and '.join(names or before)}"
    if not names:
        return text
    return _name_attached(said, names) if said else f"summarise {' and '.join(names)}"


def _verb_of(said: str) -> str:
    """What a whole sentence about attached files wants done with them; empty for other words."""
    plain = without_courtesies(said)
    fits = (verb for verb, sentences in _ASKS.items() for _ in matches(sentences, plain))
    return next(fits, "")


def _name_attached(said: str, names: Sequence[str]) -> str:
    bare = next((name for name in names if _says(said, name)), "")
    if bare:
        short = bare.removeprefix(f"{PLACE}/")
        return re.sub(rf"(?<![\w@/.-]){re.escape(short)}(?![\w/-])", bare, said)
    return _MEANT.sub(" and ".join(names), said, count=1)


def _says(said: str, name: str) -> bool:
    short = re.escape(name.removeprefix(f"{PLACE}/"))
    return re.search(rf"(?<![\w@/.-]){short}(?![\w/-])", said) is not None
