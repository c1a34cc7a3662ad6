"""How axes and moods add up: pure arithmetic, bounded at every step (spec 3.10, 5.14)."""

from collections.abc import Callable, Mapping
from datetime import datetime

from silas.persona.caching import cache_results
from silas.persona.models import (
    AxisDelta,
    AxisPreset,
    AxisProfile,
    EventWeights,
    MoodDelta,
    MoodState,
)

AXES: tuple[str, ...] = tuple(AxisProfile.model_fields)
MOODS: tuple[str, ...] = tuple(MoodState.model_fields)

MOST_DRIFT = 0.30
"""How far the baseline ever goes from the configured one, on each axis."""

MOST_TUNING = 0.50
"""How far passing wishes move an axis."""

MOST_AXIS_STEP, MOST_MOOD_STEP = 0.10, 0.20
"""What one event does at most."""

MOST_UNTRUSTED_STEP = 0.05
"""What somebody nobody vouches for does to the mood at most, each time."""

_FROM_MOOD: Mapping[str, Mapping[str, float]] = {
    "energy": {"warmth": 0.10, "humor": 0.20, "initiative": 0.20},
    "patience": {"warmth": 0.20, "assertiveness": -0.10, "verbosity": 0.10},
    "curiosity": {"verbosity": 0.10, "initiative": 0.10, "certainty": -0.10},
    "frustration": {"warmth": -0.10, "verbosity": -0.20, "humor": -0.30},
}
"""What a mood adds to an axis for each step from neutral: less play under pressure, never less care
about being right, and nothing that is harsher."""


_NO_WISH = AxisDelta()


def clamp(value: float, least: float = 0.0, most: float = 1.0) -> float:
    """The value, or the bound it passed."""
    return min(max(value, least), most)


@cache_results
def add_drift(baseline: AxisProfile, drift: AxisDelta) -> AxisProfile:
    """Where the axes stand after what was learned."""
    return _profile(lambda axis: _of(baseline, axis) + _of(drift, axis))


@cache_results
def preset_delta(preset: AxisPreset, baseline: AxisProfile) -> AxisDelta:
    """A preset as what it adds to the configured baseline, so that what is learned counts, too."""

    def delta_of(axis: str) -> float:
        wanted: float | None = getattr(preset, axis)
        return 0.0 if wanted is None else wanted - _of(baseline, axis)

    return AxisDelta(**{axis: delta_of(axis) for axis in AXES})


@cache_results
def mood_delta(mood: MoodState, neutral: MoodState) -> AxisDelta:
    """What a mood does to the axes; nothing where it is neutral."""
    away = {name: _of(mood, name) - _of(neutral, name) for name in MOODS}
    return AxisDelta(
        **{
            axis: clamp(sum(away[m] * _FROM_MOOD[m].get(axis, 0.0) for m in MOODS), -1.0, 1.0)
            for axis in AXES
        }
    )


@cache_results
def compose(baseline: AxisProfile, *deltas: AxisDelta) -> AxisProfile:
    """`clamp(baseline + context + mood + override, 0, 1)`, once, after everything was added."""
    return _profile(lambda axis: _of(baseline, axis) + sum(_of(delta, axis) for delta in deltas))


def add_delta(delta: AxisDelta, by: AxisDelta, most: float) -> AxisDelta:
    """A standing delta after another was added to it, within its bound."""
    return AxisDelta(
        **{axis: clamp(_of(delta, axis) + _of(by, axis), -most, most) for axis in AXES}
    )


def shift_mood(mood: MoodState, by: MoodDelta) -> MoodState:
    """A mood after an event."""
    return MoodState(**{name: clamp(_of(mood, name) + _of(by, name)) for name in MOODS})


def limit_weights(weights: EventWeights, trusted: bool, most_mood: float) -> EventWeights:
    """What an event may do: the mood by a step at most, and the axes only where it is trusted."""
    mood = {n: clamp(_of(weights.mood, n), -most_mood, most_mood) for n in MOODS}
    if not trusted:
        return EventWeights(mood=MoodDelta(**mood))
    axes = {a: clamp(_of(weights.axes, a), -MOST_AXIS_STEP, MOST_AXIS_STEP) for a in AXES}
    return EventWeights(mood=MoodDelta(**mood), axes=AxisDelta(**axes))


def hours_between(earlier: datetime, later: datetime) -> float:
    """Hours; none where a clock was set back."""
    return max((later - earlier).total_seconds(), 0.0) / 3600.0


def calm_mood(mood: MoodState, neutral: MoodState, rate: float, hours: float) -> MoodState:
    """A mood some hours later: every hour takes this share of the way back to neutral."""
    if mood == neutral:
        return neutral
    left = (1.0 - rate) ** hours
    return MoodState(
        **{n: clamp(_of(neutral, n) + (_of(mood, n) - _of(neutral, n)) * left) for n in MOODS}
    )


def fade_delta(delta: AxisDelta, rate: float, hours: float) -> AxisDelta:
    """A passing wish some hours later."""
    if delta == _NO_WISH:
        return delta
    left = (1.0 - rate) ** hours
    return AxisDelta(**{axis: _of(delta, axis) * left for axis in AXES})


def _profile(value: Callable[[str], float]) -> AxisProfile:
    return AxisProfile(**{axis: clamp(value(axis)) for axis in AXES})


def _of(model: object, name: str) -> float:
    value: float = getattr(model, name)
    return value
