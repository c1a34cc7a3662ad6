"""What is kept of a personality: where it stands, and what moved it (spec 3.10)."""

from typing import Literal

from pydantic import AwareDatetime, Field

from silas.persona.models import AxisDelta, AxisProfile, MoodDelta, MoodState, VoiceConfig
from silas.types import FrozenModel

DEFAULT = "default"
"""The context of a turn in which none is recognised, and the preset where none was chosen."""

Source = Literal["runtime", "owner_feedback", "channel"]


class PersonaState(FrozenModel):
    """The personality of one scope.

    Attributes:
        baseline_axes: Where the axes stand: the configured baseline and what moved it since.
        mood: As it was at `updated_at`; since then it decays.
        drift: What trusted feedback has moved the configured baseline by.
        tuning: What the owner moved for a while; it decays as the mood does.
    """

    scope_id: str = Field(min_length=1)
    baseline_axes: AxisProfile = AxisProfile()
    mood: MoodState = MoodState()
    active_preset: str = DEFAULT
    voice: VoiceConfig = VoiceConfig()
    last_context: str = DEFAULT
    updated_at: AwareDatetime
    drift: AxisDelta = AxisDelta()
    tuning: AxisDelta = AxisDelta()


class PersonaEvent(FrozenModel):
    """One thing that moved a personality; never changed and never deleted (spec 5.15).

    Attributes:
        trusted: Whether it may move the baseline.
        delta_axes, delta_mood: What it did move, after every bound.
    """

    event_id: str = Field(min_length=1)
    scope_id: str = Field(min_length=1)
    event_type: str = Field(min_length=1, max_length=64)
    trusted: bool
    delta_axes: AxisDelta = AxisDelta()
    delta_mood: MoodDelta = MoodDelta()
    source: Source
    created_at: AwareDatetime
