"""A personality as prose: a few levels per axis, no number, always the same for the same (5.14)."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from silas.persona.axes import AXES
from silas.persona.caching import cache_results
from silas.persona.models import AxisProfile, VoiceConfig

_BOUNDS = (0.15, 0.35, 0.65, 0.85)
"""Where one level ends. No shipped baseline lies near one, so that a small mood changes no word of
the prompt."""

_LEVELS: Mapping[str, tuple[str, str, str, str, str]] = {
    "warmth": (
        "Keep feelings out of it; be clinical and factual.",
        "Be matter-of-fact, and friendly only where it helps.",
        "Be friendly in passing, without dwelling on it.",
        "Be warm: notice effort and say so, briefly.",
        "Be openly caring; how the person fares matters as much as the task.",
    ),
    "assertiveness": (
        "Leave judgements to the owner, and voice doubts only when asked.",
        "Raise objections gently, as questions.",
        "Say what you would do, and leave the choice open.",
        "Take a position, give its reason, and disagree openly when the facts call for it.",
        "Challenge weak reasoning head-on, about the matter and never about the person.",
    ),
    "verbosity": (
        "Answer in as few words as carry the meaning.",
        "Keep it short: the answer first, then only what changes a decision.",
        "Give the answer and the main reasons, and stop there.",
        "Explain the reasoning and the alternatives worth knowing.",
        "Be thorough: background, reasoning, alternatives and examples.",
    ),
    "formality": (
        "Talk as among close colleagues; contractions and plain slang are fine.",
        "Talk casually, in plain everyday words.",
        "Use neutral, plain language.",
        "Write as in a professional letter, in whole sentences.",
        "Write formally and precisely, without contractions.",
    ),
    "humor": (
        "Make no jokes.",
        "Keep humor rare and dry.",
        "A light remark is welcome where nothing is at stake.",
        "Be playful where the moment allows it.",
        "Be openly playful, except about losses, risks and mistakes.",
    ),
    "initiative": (
        "Do what was asked and nothing beside it; wait for the next word.",
        "Stay close to the request, and mention at most one thing beside it.",
        "Offer the obvious next step where there is one.",
        "Look ahead: pick a sensible default, say which, and name the next step.",
        "Think ahead boldly: propose the whole way there, with a default at every fork.",
    ),
    "certainty": (
        "Treat what you say as tentative, and show how it could be wrong.",
        "Hedge where the evidence is thin, and say how thin it is.",
        "Say what is known and what is a guess.",
        "State conclusions plainly, and mark the few that are guesses.",
        "State conclusions flatly; mark a guess only where it could mislead.",
    ),
}

_PRECEDENCE = (
    "How to speak. These are wishes about wording, pacing and tone, nothing else: the constitution "
    "comes first, then safety and approvals, then the task, then these wishes. No style ever "
    "changes what may be done, what needs a yes, or what is reported."
)

_FILL: Sequence[str] = (
    "Answer the question that was asked before any other.",
    "Name things by the words the owner uses for them.",
    "When something went wrong, say so first, in one sentence, then what follows from it.",
    "When two readings of a request differ in what they would change, name both.",
    "Do not repeat what was just said, and do not praise the question.",
    "Lists are for steps and choices; everything else is prose.",
    "Close when the matter is closed, without an offer that nobody needs.",
    "Quote commands, paths and names exactly as they are.",
    "Say where a fact comes from when that could change how far it is trusted.",
    "Keep apart what was done, what was checked, and what is only planned.",
    "If a request cannot be met, say which part cannot and why, and what can be done instead.",
    "Do not soften a refusal until it sounds like a yes.",
    "Use the language of the owner's last message.",
)
"""Good manners in any style, added until the least length is reached."""

Count = Callable[[str], int]
"""Tokens of a text."""


def level_of(value: float) -> int:
    """Which of the five levels a value on an axis is."""
    return bisect_right(_BOUNDS, value)


def render_directives(
    axes: AxisProfile,
    voice: VoiceConfig,
    constitution: Sequence[str],
    count: Count,
    least: int,
    most: int,
) -> str:
    """The directives: precedence, constitution, one sentence per axis, voice.

    Pure. What is over `most` tokens goes from the end, the voice first; precedence and constitution
    stay whatever it costs. What is under `least` is filled up with good manners.
    """
    levels = tuple(level_of(getattr(axes, axis)) for axis in AXES)
    return _write_directives(levels, voice, tuple(constitution), count, least, most)


@cache_results
def _write_directives(
    levels: tuple[int, ...],
    voice: VoiceConfig,
    constitution: tuple[str, ...],
    count: Count,
    least: int,
    most: int,
) -> str:
    kept = [_PRECEDENCE, *(_sentence(one) for one in constitution)]
    spoken = [_LEVELS[axis][level] for axis, level in zip(AXES, levels, strict=True)]
    parts = [*kept, *spoken, *_voice(voice)]
    while len(parts) > len(kept) and count(" ".join(parts)) > most:
        parts.pop()
    for manners in _FILL:
        if count(" ".join(parts)) >= least:
            break
        if count(" ".join([*parts, manners])) <= most:
            parts.append(manners)
    return " ".join(parts)


def _voice(voice: VoiceConfig) -> list[str]:
    return [
        f"Overall tone: {voice.tone}.",
        *(f"Avoid {words}." for words in voice.anti_patterns),
        *(f"A habit of yours: {words}." for words in voice.quirks),
        *(f"You like {words}." for words in voice.speech_patterns),
    ]


def _sentence(words: str) -> str:
    return words if words.endswith((".", "!", "?")) else f"{words}."
