"""Whole sentences that a runbook is asked by: fixed words, and slots for its parameters.

`find|locate [all|the] files named {name}` is a sentence: `a|b` are words of which one is said,
`[a]` may be missing, `_` is a blank inside a choice, `{name}` is one word or a quoted text, and
`{text...}` is one or more words; `{stem}.csv`, `{kind}s`, `{kind}-files` and `*.{kind}` take a
word without its end or its beginning. A request is that sentence whole or not at all, so that no
word which nobody understood is passed over. What a slot took is data: nothing reads it as code.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

LONGEST: Final = 400
"""Characters of a request that are matched; a longer one is no sentence of a runbook."""

_TOKEN: Final = re.compile(
    r"(?P<before>[*.]*)\{(?P<slot>[a-z_]+)(?P<many>\.\.\.)?\}(?P<after>\.[a-z]+|s|-[a-z]+)?(?!\S)"
    r"|\[(?P<optional>[^\[\]{}]+)\]|(?P<word>[^\s\[\]{}]+)"
)
_POLITE: Final = re.compile(
    r"\A(?:(?:please|pls|plz|silas|hey|hi|hello|ok|okay|(?:can|could|would|will)\s+(?:you|u)|"
    r"bitte|kannst\s+du|könntest\s+du|hallo|"
    r"i(?:\s+want|\s+need|['’]d\s+like|\s+would\s+like)\s+(?:you\s+)?to)[,!:]?\s+)+",
    re.IGNORECASE,
)
_SHORT_IS: Final = re.compile(r"\A(what|where|which|who|how|when)['’]s(?=\s)", re.IGNORECASE)
_THANKS: Final = re.compile(
    r"(?:,?\s+(?:please|pls|plz|bitte|danke|for\s+me|thanks|thank\s+you|thx|now))*[\s.!?]*\Z",
    re.IGNORECASE,
)
_FOLDER: Final = r"(?:folder|directory|project|workspace|repository|repo)"
_PLACE: Final = re.compile(
    rf"\s+(?:in|of|under|inside|from|below)\s+(?:the\s+)?(?:{_FOLDER}\s+)?"
    r"(?P<place>'/[^'\n]+'|\"/[^\"\n]+\"|`/[^`\n]+`|/\S+)\Z",
    re.IGNORECASE,
)
_HERE: Final = re.compile(
    rf"\s+(?:(?:in\s+)?here|(?:in|of|under|inside|from)\s+(?:this|the|my)\s+(?:current\s+)?{_FOLDER}|"
    r"in\s+(?:diesem|dem|meinem)\s+ordner|im\s+ordner)\Z",
    re.IGNORECASE,
)


class RequestSentence(NamedTuple):
    """A request without its courtesies: the sentence, and the place that stood at its end."""

    said: str
    place: str


class SentenceError(ValueError):
    """A sentence cannot be read; the message says which part."""


def slots(sentence: str) -> frozenset[str]:
    """The parameters that a sentence has slots for."""
    return frozenset(one["slot"] for one in _TOKEN.finditer(sentence) if one["slot"])


def parse_request(text: str) -> RequestSentence:
    """A request as sentences are matched with."""
    said = without_courtesies(text)
    named = _PLACE.search(said)
    if named is not None:
        return RequestSentence(said[: named.start()], unquote(named["place"]))
    return RequestSentence(_HERE.sub("", said), "")


def without_courtesies(text: str) -> str:
    """A request as it is said, with the place at its end; empty where it is too long for one."""
    if len(text) > LONGEST or "\n" in text.strip():
        return ""
    return _SHORT_IS.sub(r"\1 is", _THANKS.sub("", _POLITE.sub("", text.strip())))


def matches(sentences: Sequence[str], said: str) -> Iterator[Mapping[str, str]]:
    """What the slots take, for each sentence that the words are."""
    for sentence in sentences:
        found = compile_sentence(sentence).fullmatch(f"{said} ")
        if found is not None:
            yield {
                one["slot"]: _bare(found[one["slot"]], one)
                for one in _TOKEN.finditer(sentence)
                if one["slot"]
            }


def unquote(value: str) -> str:
    """A slot's value without the quotes around it."""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"`" else value


def _bare(value: str, token: re.Match[str]) -> str:
    plain = unquote(value)
    return plain[len(token["before"]) : len(plain) - len(token["after"] or "")]


@lru_cache(maxsize=1024)  # more sentences than a library has
def compile_sentence(sentence: str) -> re.Pattern[str]:
    """The expression for a sentence; every part ends in a blank.

    Raises:
        SentenceError: Brackets do not close, or a slot stands there twice.
    """
    left = _TOKEN.sub("", sentence).strip()
    if left or not sentence.strip():
        raise SentenceError(f"the sentence {sentence!r} cannot be read at {left!r}")
    try:
        return re.compile("".join(map(_part, _TOKEN.finditer(sentence))), re.IGNORECASE)
    except re.error as error:
        raise SentenceError(f"the sentence {sentence!r} cannot be read: {error}") from error


def _part(token: re.Match[str]) -> str:
    if token["slot"]:
        before, after = re.escape(token["before"]), re.escape(token["after"] or "")
        quoted = [f"{q}{before}[^{q}\n]+{after}{q}" for q in "'\"`"]
        bare = r"\S[^\n]*?" if token["many"] else r"[^\s'\"`]\S*"
        return rf"(?P<{token['slot']}>{'|'.join(quoted)}|{before}{bare}{after})\s+"
    said = token["optional"] or token["word"]
    choices = "|".join(re.escape(one).replace("_", r"\s+") for one in said.split("|"))
    return rf"(?:(?:{choices})\s+)?" if token["optional"] else rf"(?:{choices})\s+"
