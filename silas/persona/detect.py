"""What a message is about and what it says about Silas: words in tables, no model (5.1.4)."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from silas.persona.models import AxisDelta, EventWeights, MoodDelta
from silas.persona.state import DEFAULT

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_SENTENCE_END = re.compile(r"[.!?,;:\n]+")

_LOOKED_AT = 2000
"""Letters of a message that are looked at; what somebody pastes below is not his tone."""

FEEDBACK: Mapping[str, EventWeights] = {
    "too_harsh": EventWeights(axes=AxisDelta(assertiveness=-0.05)),
    "too_soft": EventWeights(axes=AxisDelta(assertiveness=0.05)),
    "too_wordy": EventWeights(mood=MoodDelta(patience=-0.02), axes=AxisDelta(verbosity=-0.05)),
    "too_brief": EventWeights(mood=MoodDelta(patience=0.02), axes=AxisDelta(verbosity=0.05)),
    "too_formal": EventWeights(axes=AxisDelta(formality=-0.05)),
    "too_casual": EventWeights(axes=AxisDelta(formality=0.05)),
    "too_cold": EventWeights(axes=AxisDelta(warmth=0.05)),
    "too_playful": EventWeights(axes=AxisDelta(humor=-0.05)),
    "too_pushy": EventWeights(axes=AxisDelta(initiative=-0.05)),
    "too_passive": EventWeights(axes=AxisDelta(initiative=0.05)),
    "too_sure": EventWeights(axes=AxisDelta(certainty=-0.05)),
    "too_vague": EventWeights(axes=AxisDelta(certainty=0.05)),
}
"""What each kind of feedback does, unless `mood.event_weights` has `feedback_KIND`."""

_ADJECTIVES: Mapping[str, str] = {
    **dict.fromkeys(("harsh", "rude", "aggressive", "blunt", "strict"), "too_harsh"),
    **dict.fromkeys(("soft", "timid", "deferential"), "too_soft"),
    **dict.fromkeys(("wordy", "long", "verbose", "chatty", "lengthy"), "too_wordy"),
    **dict.fromkeys(("brief", "short", "terse", "curt"), "too_brief"),
    **dict.fromkeys(("formal", "stiff"), "too_formal"),
    **dict.fromkeys(("casual", "informal"), "too_casual"),
    **dict.fromkeys(("cold", "distant"), "too_cold"),
    **dict.fromkeys(("playful", "silly", "funny"), "too_playful"),
    **dict.fromkeys(("pushy", "eager"), "too_pushy"),
    **dict.fromkeys(("passive", "hesitant"), "too_passive"),
    **dict.fromkeys(("sure", "certain", "confident"), "too_sure"),
    **dict.fromkeys(("vague", "evasive"), "too_vague"),
}

_ABOUT_SILAS = frozenset(
    {
        *("", "you are", "you're", "you were", "that was", "you sound", "you sounded"),
        *("your answer is", "your answer was", "your answers are", "your reply was"),
        *("your tone is", "your tone was", "this answer is", "that answer was"),
    }
)
"""What stands before `too harsh` where Silas is meant; `this line is too long` is no feedback."""

_ADVERBS = frozenset({"a", "bit", "little", "much", "far", "way", "still", "again", "really"})

_WISHES: Mapping[str, str] = {
    **dict.fromkeys(("shorter please", "be brief", "be shorter", "keep it short"), "too_wordy"),
    **dict.fromkeys(("more detail please", "longer please", "be more detailed"), "too_brief"),
    **dict.fromkeys(("be nicer", "be kinder", "be gentler", "softer please"), "too_harsh"),
    **dict.fromkeys(("be more formal",), "too_casual"),
    **dict.fromkeys(("be less formal",), "too_formal"),
}

_COMPLIMENTS = tuple(
    f"{one} "
    for one in (
        *("thank you", "thanks", "well done", "good job", "great job", "nice work", "great work"),
        *("good work", "excellent work", "much appreciated", "you're great", "you are great"),
    )
)
"""What a sentence begins with that is one; each ends in a blank, so that whole words count."""


def context_of(
    text: str, words: Mapping[str, tuple[str, ...]], hint: str | None, known: Iterable[str]
) -> str:
    """The situation of a message: the hint if it is a known one, else whose words it has most of.

    Args:
        text: The message.
        words: Words and phrases of each situation, in the order that decides between equals.
        hint: What somebody else took it for.
        known: Names of the situations there are.
    """
    names = tuple(known)
    if hint in names:
        return str(hint)
    said = f" {' '.join(_words(text[:_LOOKED_AT]))} "
    found = {
        name: sum(map(said.__contains__, _spoken_phrases(phrases)))
        for name, phrases in words.items()
        if name in names
    }
    best = max(found, key=found.__getitem__, default=DEFAULT)
    return best if found.get(best) else DEFAULT


def feedback_in(text: str) -> str | None:
    """What a message says about how Silas spoke, as the name of an event; None where nothing."""
    for sentence in _SENTENCE_END.split(text[:_LOOKED_AT]):
        words = _words(sentence)
        kind = _too(words) or _WISHES.get(" ".join(words))
        if kind is not None:
            return f"feedback_{kind}"
        if _is_compliment(" ".join(words)):
            return "compliment"
    return None


def _too(words: list[str]) -> str | None:
    """`You are a bit too harsh`, and nothing after it."""
    if len(words) < 2 or words[-2] != "too":
        return None
    before = words[:-2]
    while before and before[-1] in _ADVERBS:
        before.pop()
    return _ADJECTIVES.get(words[-1]) if " ".join(before) in _ABOUT_SILAS else None


def _is_compliment(sentence: str) -> bool:
    if "nothing" in sentence.split():
        return False
    return f"{sentence} ".startswith(_COMPLIMENTS)


@lru_cache(maxsize=64)  # the configured ones, looked for in every message
def _spoken_phrases(phrases: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f" {' '.join(_words(phrase))} " for phrase in phrases)


def _words(text: str) -> list[str]:
    if text.isascii():
        return _WORD.findall(text.lower())
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
