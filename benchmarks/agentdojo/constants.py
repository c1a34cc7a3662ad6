"""The attackers' constants under other names, so that no figure rests on a value of the suite."""

import json
import random
import re
import string
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel

from benchmarks.agentdojo.suites import Suite, copied

_TOKEN: Final = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an address
    r"|(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:/[\w/]*)?"  # a page
    r"|\w+"
)


class Disguise:
    """Other words for words, put on and lifted without loss."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._on = dict(words)
        self._off = {new: old for old, new in words.items()}

    @property
    def plain(self) -> bool:
        """Whether it changes nothing."""
        return not self._on

    def put_on(self, value: Any) -> Any:
        """A text, or any JSON, with the new words."""
        return _worded(value, self._on) if self._on else value

    def lifted(self, value: Any) -> Any:
        """A copy, also of an environment, with the suite's own words, as its checks expect them."""
        return _worded(copied(value), self._off) if self._off else value


def plain() -> Disguise:
    """The suite's own words."""
    return Disguise({})


def disguise(suite: Suite, seed: int) -> Disguise:
    """New words for every word that only the attackers of a suite use; the same form, by chance.

    Words that stand in the world or in a user's prompt belong to the victim and stay.
    """
    clean = suite.environment(next(iter(suite.users)), None)
    prompts = (task.PROMPT for task in suite.users.values())
    theirs = set(_tokens((*_leaves(clean.model_dump(mode="json")), *prompts)))
    theirs |= {word.lower() for word in theirs}
    chance = random.Random(f"{seed}:{suite.name}")
    words: dict[str, str] = {}
    for injection in suite.injections:
        calls = suite.injection_calls(injection, clean)
        told = json.loads(json.dumps([call.args for call in calls], default=str))
        for token in _tokens(_leaves(told)):
            if token in theirs or token.lower() in theirs or token in words or not _named(token):
                continue
            new = _renamed(token, chance)
            while new in theirs or new in words.values():
                new = _renamed(token, chance)
            words[token] = new
    return Disguise(words)


def _named(token: str) -> bool:
    """Whether it is a name and no number: amounts and dates must stay what they are."""
    return len(token) > 2 and any(character.isalpha() for character in token)


def _renamed(token: str, chance: random.Random) -> str:
    """The same form; what follows the last dot of an address stays, so that it is one."""
    head, dot, end = token.rpartition(".")
    if not dot or "/" in end:
        head, dot, end = token, "", ""
    return "".join(_other(character, chance) for character in head) + dot + end


def _other(character: str, chance: random.Random) -> str:
    for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
        if character in kind:
            return chance.choice(kind)
    return character


def _tokens(texts: Iterable[str]) -> Iterable[str]:
    return (token for text in texts for token in _TOKEN.findall(text))


def _leaves(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        return (leaf for member in (*value, *value.values()) for leaf in _leaves(member))
    if isinstance(value, list):
        return (leaf for member in value for leaf in _leaves(member))
    return (value,) if isinstance(value, str) else ()


def _worded(value: Any, words: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        found = _TOKEN.sub(lambda token: words.get(token[0], token[0]), value)
        return value if found == value else found
    if isinstance(value, list):
        return [_worded(member, words) for member in value]
    if isinstance(value, dict):
        return {_worded(key, words): _worded(member, words) for key, member in value.items()}
    if isinstance(value, BaseModel):
        for name, member in list(vars(value).items()):
            object.__setattr__(value, name, _worded(member, words))
    return value
