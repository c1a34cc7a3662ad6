"""Personality as numbers and voice (spec 3.10), and the `personality:` section."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from silas.types import Frozen

Unit = Annotated[float, Field(ge=0.0, le=1.0)]
Delta = Annotated[float, Field(ge=-1.0, le=1.0)]


class AxisProfile(Frozen):
    """Where the personality stands on each axis, 0 to 1."""

    warmth: Unit = 0.50
    assertiveness: Unit = 0.75
    verbosity: Unit = 0.30
    formality: Unit = 0.30
    humor: Unit = 0.40
    initiative: Unit = 0.70
    certainty: Unit = 0.80


class AxisDelta(Frozen):
    """What a situation or an event adds to each axis, -1 to 1."""

    warmth: Delta = 0.0
    assertiveness: Delta = 0.0
    verbosity: Delta = 0.0
    formality: Delta = 0.0
    humor: Delta = 0.0
    initiative: Delta = 0.0
    certainty: Delta = 0.0


class AxisPreset(Frozen):
    """Axes that a preset sets; null keeps the baseline."""

    warmth: Unit | None = None
    assertiveness: Unit | None = None
    verbosity: Unit | None = None
    formality: Unit | None = None
    humor: Unit | None = None
    initiative: Unit | None = None
    certainty: Unit | None = None


class MoodState(Frozen):
    """How the session feels, 0 to 1; 0.5 is neutral."""

    energy: Unit = 0.50
    patience: Unit = 0.50
    curiosity: Unit = 0.50
    frustration: Unit = 0.50


class MoodDelta(Frozen):
    """What an event adds to the mood, -1 to 1."""

    energy: Delta = 0.0
    patience: Delta = 0.0
    curiosity: Delta = 0.0
    frustration: Delta = 0.0


class EventWeights(Frozen):
    """What one kind of event does."""

    mood: MoodDelta = MoodDelta()
    axes: AxisDelta = AxisDelta()


class MoodConfig(Frozen):
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


class VoiceConfig(Frozen):
    """Qualities that numbers cannot say."""

    tone: str = "direct, pragmatic, concise"
    quirks: tuple[str, ...] = ("names tradeoffs explicitly", "states assumptions")
    speech_patterns: tuple[str, ...] = ("short actionable bullets", "clear next-step phrasing")
    anti_patterns: tuple[str, ...] = (
        "sycophantic agreement",
        "vague hedging",
        "performative hype",
    )


class PersonalityConfig(Frozen):
    """The `personality:` section (spec 11).

    Attributes:
        enabled: Off means neutral.
        scope_mode: Whose mood it is.
        directive_tokens_min, directive_tokens_max: How long the directives are.
        decay_rate_per_hour: Share of the way back to neutral per hour.
        baseline: Where the axes stand.
        contexts: What a situation adds, by name.
        mood: Neutral mood and events.
        constitution: Sentences that nothing overrides.
        voice: Tone and habits.
        presets: Named settings of the axes.
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
    mood: MoodConfig = MoodConfig()
    constitution: tuple[str, ...] = (
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
