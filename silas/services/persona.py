"""The personality of a Silas, and the room in which the cockpit shows and tunes it (spec 8.1)."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from silas.audit import Audit
from silas.audit.log import AuditLog
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.context import TokenCounter
from silas.db import Database
from silas.errors import ChannelError
from silas.home.database import open_existing_database
from silas.home.keyless import NoKey
from silas.language import tr_later
from silas.persona.detect import FEEDBACK
from silas.persona.directives import level_of
from silas.persona.engine import PersonalityEngine
from silas.persona.models import MoodState
from silas.persona.store import SqlPersonaStore
from silas.types import OWNER

_OFF = "Silas speaks neutrally here, because `personality.enabled` is false in the configuration."
_NOTED = 0.05  # how far a mood is from neutral before it is worth a word

_LEVELS = ("very low", "low", "middling", "high", "very high")  # web/speech.js tells them

_MOODS: Mapping[str, tuple[str, str]] = {
    "energy": (tr_later("tired"), tr_later("lively")),
    "patience": (tr_later("short of patience"), tr_later("patient")),
    "curiosity": (tr_later("incurious"), tr_later("curious")),
    "frustration": (tr_later("at ease"), tr_later("under pressure")),
}
"""What a mood is called below and above neutral."""


def personality(config: SilasConfig, db: Database, audit: Audit, clock: Clock) -> PersonalityEngine:
    """The engine over its tables. It has no state of its own, so two of them are as one."""
    store, count = SqlPersonaStore(db), TokenCounter().count
    return PersonalityEngine(config.personality, store, count, audit, clock)


class OwnersPersona:
    """`silas.channels.web.port.PersonaRoom` for the owner's scope."""

    def __init__(self, engine: PersonalityEngine) -> None:
        self._engine = engine

    async def state(self) -> Mapping[str, object]:
        """See `PersonaRoom.state`."""
        engine = self._here()
        state = await engine.state(OWNER)
        context = state.last_context
        axes = await engine.get_effective_axes(OWNER, context)
        return {
            "preset": state.active_preset,
            "presets": sorted(engine.presets),
            "context": context,
            "baseline": round_axes(state.baseline_axes.model_dump()),
            "axes": round_axes(axes.model_dump()),
            "levels": {axis: _LEVELS[level_of(value)] for axis, value in axes},
            "mood": round_axes(state.mood.model_dump()),
            "mood_words": mood_words(state.mood, engine.neutral),
            "directives": await engine.render_directives(OWNER, context),
            "feedback": list(FEEDBACK),
        }

    async def preset(self, name: str) -> Mapping[str, object]:
        """See `PersonaRoom.preset`."""
        await self._here().set_preset(OWNER, name)
        return await self.state()

    async def feedback(self, kind: str, *, signed: bool) -> Mapping[str, object]:
        """See `PersonaRoom.feedback`: what the owner signed lasts, anything else fades."""
        engine = self._here()
        if signed:
            await engine.apply_event(
                OWNER, engine.feedback_event(kind), trusted=True, source="owner_feedback"
            )
        else:
            await engine.adjust_axes(OWNER, engine.feedback_delta(kind), trusted=True)
        return await self.state()

    async def tune(self, delta: Mapping[str, float], *, signed: bool) -> Mapping[str, object]:
        """See `PersonaRoom.tune`."""
        await self._here().adjust_axes(OWNER, delta, trusted=True, persist_to_baseline=signed)
        return await self.state()

    def _here(self) -> PersonalityEngine:
        if not self._engine.enabled:
            raise ChannelError(_OFF, code="E_CHANNEL_NOT_NOW")
        return self._engine


def round_axes(numbers: Mapping[str, float]) -> dict[str, float]:
    """Numbers for a person."""
    return {name: round(number, 2) for name, number in numbers.items()}


def mood_words(mood: MoodState, neutral: MoodState) -> str:
    """A mood in words: `lively, under pressure`."""
    now: dict[str, float] = mood.model_dump()
    rest: dict[str, float] = neutral.model_dump()
    said = [
        words[now[name] > rest[name]]
        for name, words in _MOODS.items()
        if abs(now[name] - rest[name]) >= _NOTED
    ]
    return ", ".join(said) or tr_later("neutral")


@asynccontextmanager
async def open_persona(config: SilasConfig) -> "AsyncGenerator[OwnersPersona]":
    """The owner's persona beside a running Silas or without any; no key is unlocked.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        yield OwnersPersona(personality(config, db, AuditLog(db, clock, NoKey()), clock))
