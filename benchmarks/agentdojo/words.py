"""What may be renamed of an attack, and the renaming; it needs nothing of AgentDojo."""

import pickle
import random
import re
import string
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel

_TOKEN: Final = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an address
    r"|(?:https?://)?(?:[\w-]+\.)+[a-z]{2,}(?:/[\w/]*)?"  # a page
    r"|\w+"
)


def copied(environment: Any) -> Any:
    """A deep copy, several times as fast as `copy.deepcopy`."""
    return pickle.loads(pickle.dumps(environment, pickle.HIGHEST_PROTOCOL))


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


def renamed(
    called: Iterable[Mapping[str, Any]], kept: Iterable[Any], interface: Iterable[Any], seed: str
) -> Disguise:
    """New words for the words in an attacker's arguments, of the same form, by chance.

    Args:
        called: The arguments of the attacker's calls, as JSON.
        kept: What belongs to the victim: the world, the prompts; as JSON.
        interface: The tools' schemas. Their words (names of arguments, of fields inside an
            argument, choices) are no constants of the attacker: a call without them is malformed,
            and an attack that fails for that says nothing about Silas.
        seed: What the chance depends on.
    """
    fixed = {word.lower() for word in _tokens(_leaves([*kept, *interface]))}
    chance = random.Random(seed)
    words: dict[str, str] = {}
    for token in _tokens(_leaves(list(called))):
        if token.lower() in fixed or token in words or not _named(token):
            continue
        new = _renamed(token, chance)
        while new.lower() in fixed or new in words.values() or not _TOKEN.fullmatch(new):
            new = _renamed(token, chance)
        words[token] = new
    return Disguise(words)


def _named(token: str) -> bool:
    """Whether it is a name and no number: amounts and dates must stay what they are."""
    return len(token) > 2 and any(character.isalpha() for character in token)


def _renamed(token: str, chance: random.Random) -> str:
    """The same form: the scheme of a page and what follows an address's last dot stay.

    So that it is found as a whole when it is lifted.
    """
    scheme, colon, rest = token.rpartition("://")
    head, dot, end = rest.rpartition(".")
    if not dot or "/" in end:
        head, dot, end = rest, "", ""
    new = "".join(_other(character, chance) for character in head)
    return f"{scheme}{colon}{new}{dot}{end}"


def _other(character: str, chance: random.Random) -> str:
    for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
        if character in kind:
            return chance.choice(kind)
    return character


def _tokens(texts: Iterable[str]) -> Iterable[str]:
    return (token for text in texts for token in _TOKEN.findall(text))


def _leaves(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
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
