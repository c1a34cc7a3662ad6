"""Directives are prose of a bounded length without a number, always the same for the same."""

from typing import Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from silas.context import TokenCounter
from silas.persona.axes import AXES, MOODS, compose, mood_delta, preset_delta
from silas.persona.directives import level_of, render_directives
from silas.persona.models import (
    AxisDelta,
    AxisPreset,
    AxisProfile,
    MoodState,
    PersonalityConfig,
    VoiceConfig,
)

CONFIG = PersonalityConfig()
count_tokens = TokenCounter().count
UNIT = st.floats(0.0, 1.0)
PROFILES = st.builds(AxisProfile, **dict.fromkeys(AXES, UNIT))
MOODS_ = st.builds(MoodState, **dict.fromkeys(MOODS, UNIT))
DELTAS = st.builds(AxisDelta, **dict.fromkeys(AXES, st.floats(-1.0, 1.0)))
WORDS = (
    st.text(st.characters(codec="utf-8", categories=("L", "Zs", "P")), min_size=1, max_size=120)
    .map(str.strip)
    .filter(lambda words: words != "" and words.isprintable())
)
LISTS = st.lists(WORDS, max_size=8).map(tuple)
VOICES = st.builds(
    VoiceConfig, tone=WORDS, quirks=LISTS, speech_patterns=LISTS, anti_patterns=LISTS
)
PRESETS = st.builds(AxisPreset, **dict.fromkeys(AXES, st.none() | UNIT))


def rendered(axes: AxisProfile, voice: VoiceConfig) -> str:
    return render_directives(axes, voice, CONFIG.constitution, count_tokens, 200, 400)


@pytest.mark.proves("S4.17-DIRECTIVE-SIZE", "S3.10-NO-RAW-AXES")
@given(PROFILES, VOICES, PRESETS, MOODS_, DELTAS, st.sampled_from(sorted(CONFIG.contexts)))
def test_directives_are_two_to_four_hundred_tokens_of_prose_without_a_digit(
    baseline: AxisProfile,
    voice: VoiceConfig,
    preset: AxisPreset,
    mood: MoodState,
    tuning: AxisDelta,
    context: str,
) -> None:
    deltas = (
        CONFIG.contexts[context],
        mood_delta(mood, MoodState()),
        preset_delta(preset, baseline),
        tuning,
    )
    axes = compose(baseline, *deltas)
    text = rendered(axes, voice)
    assert 200 <= count_tokens(text) <= 400
    assert not any(category(letter)[0] == "N" for letter in text)
    assert "\n" not in text
    assert text == rendered(compose(baseline, *deltas), voice)


@pytest.mark.proves("S3.10-COMPOSITION")
@given(PROFILES, DELTAS, DELTAS, DELTAS)
def test_effective_axes_are_the_clamped_sum(
    baseline: AxisProfile, context: AxisDelta, mood: AxisDelta, override: AxisDelta
) -> None:
    found = compose(baseline, context, mood, override)
    for axis in AXES:
        whole = sum(getattr(part, axis) for part in (baseline, context, mood, override))
        assert getattr(found, axis) == pytest.approx(min(max(whole, 0.0), 1.0), abs=1e-9)


@pytest.mark.proves("S3.10-CONSTITUTION-IMMUTABLE", "S5.1.4-PRECEDENCE")
@given(PROFILES, VOICES, st.integers(1, 400))
def test_the_constitution_and_what_comes_before_style_stand_first_whatever_the_style(
    axes: AxisProfile, voice: VoiceConfig, most: int
) -> None:
    text = render_directives(axes, voice, CONFIG.constitution, count_tokens, 0, most)
    places = [
        text.index(words) for words in ("constitution", "safety", "the task", "these wishes.")
    ]
    assert places == sorted(places)
    places = [text.index(f"{sentence}.") for sentence in CONFIG.constitution]
    assert places == sorted(places)
    assert "No style ever changes what may be done" in text


def test_a_level_holds_though_the_mood_moves_a_little() -> None:
    neutral = rendered(CONFIG.baseline, CONFIG.voice)
    for mood in MOODS:
        for step in (-0.1, 0.1):
            moved = MoodState(**{mood: 0.5 + step})
            axes = compose(CONFIG.baseline, mood_delta(moved, MoodState()))
            assert rendered(axes, CONFIG.voice) == neutral


def test_each_level_of_each_axis_says_something_else() -> None:
    values = (0.0, 0.2, 0.5, 0.7, 1.0)
    assert [level_of(value) for value in values] == [0, 1, 2, 3, 4]
    for axis in AXES:
        said = {
            rendered(CONFIG.baseline.model_copy(update={axis: value}), CONFIG.voice)
            for value in values
        }
        assert len(said) == len(values)


def test_a_neutral_mood_moves_no_axis_and_pressure_makes_nothing_harsher() -> None:
    assert mood_delta(MoodState(), MoodState()) == AxisDelta()
    pressed = mood_delta(MoodState(frustration=1.0, patience=0.5), MoodState())
    assert pressed.assertiveness == 0
    assert pressed.humor < 0
    assert pressed.verbosity < 0


def test_a_preset_adds_to_what_was_learned_instead_of_hiding_it() -> None:
    delta = preset_delta(AxisPreset(assertiveness=0.8), CONFIG.baseline)
    learned = CONFIG.baseline.model_copy(update={"assertiveness": 0.70})
    assert compose(learned, delta).assertiveness == pytest.approx(0.75)
    assert compose(CONFIG.baseline, delta).assertiveness == pytest.approx(0.8)


@pytest.mark.parametrize(
    "wrong",
    [
        {"voice": {"tone": "like 2 robots"}},
        {"voice": {"quirks": ["says \u0664 things"]}},
        {"voice": {"tone": "one\ntwo"}},
        {"voice": {"tone": ""}},
        {"presets": {"jarvis": {"voice": {"tone": "x" * 121}}}},
        {"constitution": ["Never lie"] * 50},
        {"context_words": {"nowhere": ["here"]}},
    ],
)
def test_words_that_could_not_stand_in_directives_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PersonalityConfig.model_validate(wrong)
