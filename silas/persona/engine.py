"""The personality of each scope: what shapes it and what it says (spec 4.17, 5.14).

Nothing in here is asked whether something may be done. `Persona` is what a turn sees of it, and
fails open to neutral; every other method raises like the rest of Silas.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache

from silas.audit import Audit
from silas.clock import Clock
from silas.errors import ConfigError
from silas.persona.axes import (
    AXES,
    MOST_DRIFT,
    MOST_MOOD_STEP,
    MOST_TUNING,
    MOST_UNTRUSTED_STEP,
    add_delta,
    add_drift,
    calm_mood,
    clamp,
    compose,
    fade_delta,
    hours_between,
    limit_weights,
    mood_delta,
    preset_delta,
    shift_mood,
)
from silas.persona.detect import FEEDBACK, context_of, feedback_in
from silas.persona.directives import Count, render_directives
from silas.persona.models import (
    AxisDelta,
    AxisPreset,
    AxisProfile,
    EventWeights,
    MoodState,
    PersonalityConfig,
    VoiceConfig,
)
from silas.persona.port import NEUTRAL, SpeakingStyle, TurnSummary
from silas.persona.state import DEFAULT, PersonaEvent, PersonaState, Source
from silas.persona.store import PersonaStore
from silas.types import TaintLevel, new_id

MOST_UNTRUSTED_PER_HOUR = 6
"""Events an hour and scope that may come from somebody nobody vouches for; more are dropped."""

_OUTCOMES: Mapping[str, str] = {"blocked": "blocked", "failed": "blocked"}
"""What a turn's end is to the mood; other ends leave it as it is."""

_NOTHING = EventWeights()


class PersonalityEngine:
    """Composes, renders, learns within bounds; each scope's state is in the store, none in here.

    What is kept in here is the manner that follows from a stored state which no time changes, for
    as long as the store has this very state; and while a turn is under way, which situation the
    store had when it began, so that one which stays the same is looked up once.
    """

    def __init__(
        self,
        config: PersonalityConfig,
        store: PersonaStore,
        count: Count,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._config = config
        self._store = store
        self._count = count
        self._audit = audit
        self._clock = clock
        # a turn asks twice about its message, before its answer and after it
        self._situation = lru_cache(maxsize=16)(self._situation_of)
        self._begun = lru_cache(maxsize=64)(self._initial_state)
        self._settled: dict[tuple[str, str], tuple[PersonaState, SpeakingStyle]] = {}
        self._begun_in: dict[str, str] = {}  # the last situation, as a turn under way found it
        words = self._render_directives(config.baseline, config.voice) if config.enabled else ""
        self._neutral = SpeakingStyle(
            DEFAULT, words, config.baseline.initiative if config.enabled else NEUTRAL
        )

    # -- what a turn asks, none of which fails

    async def manner(self, scope_id: str, text: str) -> SpeakingStyle:
        """See `Persona.manner`: the default context and the baseline where anything goes wrong."""
        if not self._config.enabled:
            return self._neutral
        try:
            context_key = await self.detect_context(text)
            stored = await self._load_state(scope_id)
            self._begun_in[scope_id] = stored.last_context
            return self._manner(stored, context_key)
        except Exception as error:  # noqa: BLE001, RUF100 - no turn ends because of its tone
            await self._record_failure(scope_id, error)
            return self._neutral

    async def after_turn(self, scope_id: str, happened: TurnSummary) -> None:
        """See `Persona.after_turn`: what was said about Silas, and how the turn ended."""
        if not self._config.enabled:
            return
        trusted = happened.taint is TaintLevel.owner
        try:
            said = feedback_in(happened.text)
            if said is not None:
                source: Source = "owner_feedback" if trusted else "channel"
                await self.apply_event(scope_id, said, trusted=trusted, source=source)
            ended = _OUTCOMES.get(happened.outcome)
            if ended is not None:
                await self.apply_event(scope_id, ended, trusted=False, source="runtime")
            await self._record_situation(scope_id, happened.text)
        except Exception as error:  # noqa: BLE001, RUF100 - as above
            await self._record_failure(scope_id, error)

    async def after_work(self, scope_id: str, event_type: str) -> None:
        """Take note of how work ended, such as `task_completed`; never fails either."""
        if not self._config.enabled:
            return
        try:
            await self.apply_event(scope_id, event_type, trusted=False, source="runtime")
        except Exception as error:  # noqa: BLE001, RUF100 - as above
            await self._record_failure(scope_id, error)

    # -- spec 4.17

    async def detect_context(self, text: str, route_hint: str | None = None) -> str:
        """The situation of a message, from the configured registry; `default` where none fits."""
        return self._situation(text, route_hint)

    async def get_effective_axes(self, scope_id: str, context_key: str) -> AxisProfile:
        """Baseline, context, mood and overrides, added and clamped once."""
        return self._effective_axes(await self.state(scope_id), context_key)

    async def render_directives(self, scope_id: str, context_key: str) -> str:
        """How to speak, as prose without a number in it."""
        state = await self.state(scope_id)
        return self._render_directives(self._effective_axes(state, context_key), self._voice(state))

    async def apply_event(
        self,
        scope_id: str,
        event_type: str,
        trusted: bool,
        source: Source,
        metadata: Mapping[str, object] | None = None,
    ) -> PersonaState:
        """Move the mood, and for a trusted source the baseline; recorded together with the event.

        An event that is not configured moves nothing and is not kept.

        Args:
            metadata: Not kept: an event holds nobody's words.
        """
        del metadata
        most = MOST_UNTRUSTED_STEP if source == "channel" else MOST_MOOD_STEP
        weights = limit_weights(self._weights(event_type), trusted, most)
        state = await self.state(scope_id)
        if weights == _NOTHING or (source == "channel" and await self._too_many(scope_id)):
            return state
        return await self._apply_event(state, event_type, weights, trusted, source)

    async def decay(self, scope_id: str, now: datetime) -> PersonaState:
        """Let mood and passing wishes fade as far as the time that went by says; kept."""
        state = self._state_at(await self._load_state(scope_id), now)
        await self._store.save_state(state)
        return state

    async def set_preset(self, scope_id: str, preset_name: str) -> PersonaState:
        """Take a named preset.

        Raises:
            ConfigError: There is no preset of this name.
        """
        if preset_name not in self.presets:
            names = ", ".join(self.presets)
            raise ConfigError(
                f"There is no preset {preset_name!r}; choose one of {names}.",
                code="E_CFG_PERSONA_PRESET",
            )
        state = (await self.state(scope_id)).model_copy(update={"active_preset": preset_name})
        state = state.model_copy(update={"voice": self._voice(state)})
        await self._store.save_state(state)
        await self._audit.log("persona_preset", scope_id=scope_id, preset=preset_name)
        return state

    async def adjust_axes(
        self,
        scope_id: str,
        delta: Mapping[str, float],
        trusted: bool,
        persist_to_baseline: bool = False,
    ) -> PersonaState:
        """Move axes as somebody wishes: for a while, or the baseline itself, never past its bounds.

        A wish that is not trusted moves nothing.

        Raises:
            ConfigError: There is no such axis.
        """
        wanted = _delta(delta)
        state = await self.state(scope_id)
        if not trusted:
            return state
        if persist_to_baseline:
            weights = limit_weights(EventWeights(axes=wanted), True, 0.0)
            return await self._apply_event(
                state, "tuned_baseline", weights, trusted, "owner_feedback"
            )
        state = state.model_copy(update={"tuning": add_delta(state.tuning, wanted, MOST_TUNING)})
        await self._store.save_event(
            self._event(scope_id, "tuned", EventWeights(axes=wanted), True, "owner_feedback"), state
        )
        return state

    # -- what rooms and commands show

    @property
    def enabled(self) -> bool:
        """Whether there is a personality at all."""
        return self._config.enabled

    @property
    def presets(self) -> dict[str, AxisPreset]:
        """Every preset by its name; `default` is always there."""
        return {DEFAULT: AxisPreset(), **self._config.presets}

    @property
    def neutral(self) -> MoodState:
        """The mood that every mood goes back to."""
        return self._config.mood.neutral

    def feedback_event(self, kind: str) -> str:
        """The event that a kind of feedback is.

        Raises:
            ConfigError: There is no such kind.
        """
        event = f"feedback_{kind}"
        if kind not in FEEDBACK and event not in self._config.mood.event_weights:
            raise ConfigError(
                f"There is no feedback {kind!r}; choose one of {', '.join(FEEDBACK)}.",
                code="E_CFG_PERSONA_FEEDBACK",
            )
        return event

    def feedback_delta(self, kind: str) -> dict[str, float]:
        """What a kind of feedback does to the axes. Raises as `feedback_event`."""
        return limit_weights(self._weights(self.feedback_event(kind)), True, 0.0).axes.model_dump()

    async def state(self, scope_id: str) -> PersonaState:
        """The personality of a scope as it is now; loaded when it is asked for."""
        return self._state_at(await self._load_state(scope_id), self._clock.now())

    async def events(self, scope_id: str, limit: int = 100) -> list[PersonaEvent]:
        """What moved it, the newest first."""
        return await self._store.list_events(scope_id, limit)

    # -- inside

    def _situation_of(self, text: str, route_hint: str | None) -> str:
        config = self._config
        return context_of(text, config.context_words, route_hint, config.contexts)

    async def _load_state(self, scope_id: str) -> PersonaState:
        known = await self._store.get_state(scope_id)
        return self._begun(scope_id) if known is None else known

    def _initial_state(self, scope_id: str) -> PersonaState:
        """The personality of a scope in which nothing has moved it yet; time changes nothing."""
        mood, now = self._config.mood.neutral, self._clock.now()
        return PersonaState(scope_id=scope_id, mood=mood, voice=self._config.voice, updated_at=now)

    def _manner(self, stored: PersonaState, context_key: str) -> SpeakingStyle:
        settled = self._settled.get((stored.scope_id, context_key))
        if settled is not None and settled[0] is stored:
            return settled[1]
        state = self._state_at(stored, self._clock.now())
        axes = self._effective_axes(state, context_key)
        manner = SpeakingStyle(
            context_key, self._render_directives(axes, self._voice(state)), axes.initiative
        )
        if stored.mood == self._config.mood.neutral and stored.tuning == AxisDelta():
            self._settled[stored.scope_id, context_key] = (stored, manner)
        return manner

    def _state_at(self, state: PersonaState, now: datetime) -> PersonaState:
        rate, hours = self._config.decay_rate_per_hour, hours_between(state.updated_at, now)
        return state.model_copy(
            update={
                "baseline_axes": add_drift(self._config.baseline, state.drift),
                "mood": calm_mood(state.mood, self._config.mood.neutral, rate, hours),
                "tuning": fade_delta(state.tuning, rate, hours),
                "updated_at": max(now, state.updated_at),
            }
        )

    def _effective_axes(self, state: PersonaState, context_key: str) -> AxisProfile:
        config = self._config
        preset = self.presets.get(state.active_preset, AxisPreset())
        return compose(
            state.baseline_axes,
            config.contexts.get(context_key, AxisDelta()),
            mood_delta(state.mood, config.mood.neutral),
            preset_delta(preset, config.baseline),
            state.tuning,
        )

    def _voice(self, state: PersonaState) -> VoiceConfig:
        preset = self.presets.get(state.active_preset)
        return self._config.voice if preset is None or preset.voice is None else preset.voice

    def _render_directives(self, axes: AxisProfile, voice: VoiceConfig) -> str:
        config = self._config
        return render_directives(
            axes,
            voice,
            config.constitution,
            self._count,
            config.directive_tokens_min,
            config.directive_tokens_max,
        )

    def _weights(self, event_type: str) -> EventWeights:
        known = self._config.mood.event_weights.get(event_type)
        return known or FEEDBACK.get(event_type.removeprefix("feedback_"), _NOTHING)

    async def _too_many(self, scope_id: str) -> bool:
        hour_ago = self._clock.now() - timedelta(hours=1)
        return await self._store.count_untrusted(scope_id, hour_ago) >= MOST_UNTRUSTED_PER_HOUR

    async def _apply_event(
        self,
        state: PersonaState,
        event_type: str,
        weights: EventWeights,
        trusted: bool,
        source: Source,
    ) -> PersonaState:
        drift = add_delta(state.drift, weights.axes, MOST_DRIFT) if trusted else state.drift
        moved_state = state.model_copy(
            update={
                "drift": drift,
                "baseline_axes": add_drift(self._config.baseline, drift),
                "mood": shift_mood(state.mood, weights.mood),
            }
        )
        event = self._event(state.scope_id, event_type, weights, trusted, source)
        await self._store.save_event(event, moved_state)
        return moved_state

    def _event(
        self, scope_id: str, event_type: str, weights: EventWeights, trusted: bool, source: Source
    ) -> PersonaEvent:
        return PersonaEvent(
            event_id=new_id("persona"),
            scope_id=scope_id,
            event_type=event_type,
            trusted=trusted,
            delta_axes=weights.axes,
            delta_mood=weights.mood,
            source=source,
            created_at=self._clock.now(),
        )

    async def _record_situation(self, scope_id: str, text: str) -> None:
        """Keep the situation; one that is as before costs no write."""
        context_key = await self.detect_context(text)
        if self._begun_in.pop(scope_id, None) == context_key:
            return
        state = await self._load_state(scope_id)
        if state.last_context != context_key:
            now = self._state_at(state, self._clock.now())
            await self._store.save_state(now.model_copy(update={"last_context": context_key}))

    async def _record_failure(self, scope_id: str, error: Exception) -> None:
        with suppress(Exception):  # what broke the personality may break the record, too
            await self._audit.log("persona_failed", scope_id=scope_id, kind=type(error).__name__)


def _delta(delta: Mapping[str, float]) -> AxisDelta:
    unknown = sorted(delta.keys() - set(AXES))
    if unknown:
        raise ConfigError(
            f"There is no axis {unknown[0]!r}; there are {', '.join(AXES)}.",
            code="E_CFG_PERSONA_AXIS",
        )
    return AxisDelta(**{axis: clamp(value, -1.0, 1.0) for axis, value in delta.items()})
