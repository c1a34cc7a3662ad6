"""Personality as numbers and voice (spec 3.10), and the `personality:` section."""

from typing import Annotated, Literal
from unicodedata import category

from pydantic import AfterValidator, Field, model_validator

from silas.types import FrozenModel

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Delta = Annotated[float, Field(ge=-1.0, le=1.0)]


def _plain(words: str) -> str:
    """One line of words: directives hold no number, and nobody is to type one into them."""
    if not words.isprintable() or any(category(letter)[0] == "N" for letter in words):
        raise ValueError("is one line of words without digits; write numbers as words")
    return words.strip()


PersonaWords = Annotated[str, Field(min_length=1, max_length=120), AfterValidator(_plain)]


class AxisProfile(FrozenModel):
    """Where the personality stands on each axis, 0 to 1."""

    warmth: Unit = 0.50
    assertiveness: Unit = 0.75
    verbosity: Unit = 0.30
    formality: Unit = 0.30
    humor: Unit = 0.40
    initiative: Unit = 0.70
    certainty: Unit = 0.80


class AxisDelta(FrozenModel):
    """What a situation or an event adds to each axis, -1 to 1."""

    warmth: Delta = 0.0
    assertiveness: Delta = 0.0
    verbosity: Delta = 0.0
    formality: Delta = 0.0
    humor: Delta = 0.0
    initiative: Delta = 0.0
    certainty: Delta = 0.0


class VoiceConfig(FrozenModel):
    """Qualities that numbers cannot say: short words each, without digits."""

    tone: PersonaWords = "direct, pragmatic, concise"
    quirks: tuple[PersonaWords, ...] = ("names tradeoffs explicitly", "states assumptions")
    speech_patterns: tuple[PersonaWords, ...] = (
        "short actionable bullets",
        "clear next-step phrasing",
    )
    anti_patterns: tuple[PersonaWords, ...] = (
        "sycophantic agreement",
        "vague hedging",
        "performative hype",
    )


class AxisPreset(FrozenModel):
    """Axes that a preset sets, null for the baseline's; and a voice, null for the usual one."""

    warmth: Unit | None = None
    assertiveness: Unit | None = None
    verbosity: Unit | None = None
    formality: Unit | None = None
    humor: Unit | None = None
    initiative: Unit | None = None
    certainty: Unit | None = None
    voice: VoiceConfig | None = None


class MoodState(FrozenModel):
    """How the session feels, 0 to 1; 0.5 is neutral."""

    energy: Unit = 0.50
    patience: Unit = 0.50
    curiosity: Unit = 0.50
    frustration: Unit = 0.50


class MoodDelta(FrozenModel):
    """What an event adds to the mood, -1 to 1."""

    energy: Delta = 0.0
    patience: Delta = 0.0
    curiosity: Delta = 0.0
    frustration: Delta = 0.0


class EventWeights(FrozenModel):
    """What one kind of event does."""

    mood: MoodDelta = MoodDelta()
    axes: AxisDelta = AxisDelta()


class MoodConfig(FrozenModel):
    """Neutral mood and what moves it."""

    neutral: MoodState = MoodState()
    event_weights: dict[str, EventWeights] = Field(
        default_factory=lambda: {
            "task_completed": EventWeights(mood=MoodDelta(energy=0.05, frustration=-0.10)),
            "ci_failure": EventWeights(mood=MoodDelta(frustration=0.10, patience=-0.05)),
            "blocked": EventWeights(mood=MoodDelta(frustration=0.08, patience=-0.04)),
            "compliment": EventWeights(mood=MoodDelta(energy=0.10), axes=AxisDelta(warmth=0.05)),
            "feedback_too_harsh": EventWeights(axes=AxisDelta(assertiveness=-0.05)),
        }
    )


class PersonalityConfig(FrozenModel):
    """The `personality:` section (spec 11).

    Attributes:
        enabled: Off means neutral.
        scope_mode: Whose mood it is.
        directive_tokens_min, directive_tokens_max: How long the directives are.
        decay_rate_per_hour: Share of the way back to neutral per hour.
        baseline: Where the axes stand.
        contexts: What a situation adds, by name.
        context_words: Words and phrases by which a situation is recognised, by its name.
        mood: Neutral mood and events.
        constitution: Sentences that nothing overrides.
        voice: Tone and habits.
        presets: Named settings of the axes, some with a voice of their own.
    """

    enabled: bool = True
    scope_mode: Literal["per_connection"] = "per_connection"
    directive_tokens_min: int = Field(default=200, ge=0)
    directive_tokens_max: int = Field(default=400, ge=1)
    decay_rate_per_hour: float = Field(default=0.10, ge=0.0, le=1.0)
    baseline: AxisProfile = AxisProfile()
    contexts: dict[str, AxisDelta] = Field(
        default_factory=lambda: {
            "code_review": AxisDelta(assertiveness=0.2, certainty=0.1, humor=-0.2, verbosity=0.1),
            "casual_chat": AxisDelta(warmth=0.2, humor=0.3, formality=-0.3, verbosity=-0.1),
            "crisis": AxisDelta(verbosity=-0.3, assertiveness=0.2, initiative=0.3, humor=-0.5),
            "group_chat": AxisDelta(assertiveness=-0.1, verbosity=-0.2, initiative=-0.2),
            "deep_research": AxisDelta(verbosity=0.3, certainty=-0.2, humor=-0.3, formality=0.1),
        }
    )
    context_words: dict[str, tuple[PersonaWords, ...]] = Field(
        default_factory=lambda: {
            "code_review": ("code review", "review", "pull request", "merge request", "diff"),
            "casual_chat": ("hi", "hello", "hey", "how are you", "good morning", "good evening"),
            "crisis": ("urgent", "emergency", "outage", "is down", "production", "asap", "broken"),
            "group_chat": ("everyone", "everybody", "all of you", "team"),
            "deep_research": ("research", "in depth", "compare", "sources", "literature", "survey"),
        }
    )
    mood: MoodConfig = MoodConfig()
    constitution: tuple[PersonaWords, ...] = (
        "Never fabricate information",
        "Defend reasoning under pressure",
        "Private data stays private",
        "Own mistakes immediately",
    )
    voice: VoiceConfig = VoiceConfig()
    presets: dict[str, AxisPreset] = Field(
        default_factory=lambda: {
            "default": AxisPreset(),
            "work": AxisPreset(formality=0.70, humor=0.10, assertiveness=0.80),
            "chill": AxisPreset(warmth=0.75, humor=0.70, formality=0.10, assertiveness=0.55),
            "review": AxisPreset(humor=0.0, verbosity=0.55, assertiveness=0.90, certainty=0.85),
        }
    )

    @model_validator(mode="after")
    def _least_before_most(self) -> "PersonalityConfig":
        if self.directive_tokens_min > self.directive_tokens_max:
            raise ValueError("directive_tokens_min is greater than directive_tokens_max")
        return self

    @model_validator(mode="after")
    def _words_of_known_contexts(self) -> "PersonalityConfig":
        own = "context_words" in self.model_fields_set  # the usual words of a context may stay
        unknown = self.context_words.keys() - self.contexts.keys()
        if own and unknown:
            raise ValueError(f"context_words names {', '.join(sorted(unknown))}, not in contexts")
        return self

    @model_validator(mode="after")
    def _constitution_fits(self) -> "PersonalityConfig":
        if sum(map(len, self.constitution)) > _MOST_CONSTITUTION:
            raise ValueError(
                f"constitution has more than {_MOST_CONSTITUTION} letters; say it in fewer words"
            )
        return self


_MOST_CONSTITUTION = 400
"""Letters; every sentence of it stands in every prompt, and the style needs room beside it."""
