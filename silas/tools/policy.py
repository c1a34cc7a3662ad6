"""Whether a call may run, asks first, is only shown, or never: tables and pure functions.

Decision table C. Nothing here reads a clock, a store or a configuration file.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, time
from typing import Annotated, Final, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, PlainSerializer, field_validator

from silas.gates.models import GateAction
from silas.tools.interpreter import starts_a_shell
from silas.tools.models import (
    AutonomyLevel,
    CallFacts,
    Decision,
    RiskLevel,
    RunApprovalMode,
    Stance,
)
from silas.types import FrozenModel

_ALLOW, _CONFIRM = Decision.ALLOW, Decision.CONFIRM
_PREVIEW, _BLOCK = Decision.PREVIEW, Decision.HARD_BLOCK

LADDER: Final = (RiskLevel.low, RiskLevel.medium, RiskLevel.high, RiskLevel.critical)
"""Risk, rising by one step."""

STRICTNESS: Final[Mapping[Decision, int]] = {_ALLOW: 0, _CONFIRM: 1, _PREVIEW: 2, _BLOCK: 3}
"""From lenient to strict. From PREVIEW on, nothing runs, approved or not."""

_ROWS: Final[Mapping[AutonomyLevel, tuple[Decision, Decision, Decision, Decision]]] = {
    AutonomyLevel.A0: (_PREVIEW, _PREVIEW, _PREVIEW, _PREVIEW),
    AutonomyLevel.A1: (_CONFIRM, _CONFIRM, _CONFIRM, _BLOCK),
    AutonomyLevel.A2: (_ALLOW, _CONFIRM, _CONFIRM, _BLOCK),
    AutonomyLevel.A3: (_ALLOW, _ALLOW, _CONFIRM, _BLOCK),
    AutonomyLevel.A4: (_ALLOW, _ALLOW, _ALLOW, _CONFIRM),
}

MATRIX: Final[Mapping[tuple[int, str], Decision]] = {
    (autonomy, risk): decision
    for autonomy, row in _ROWS.items()
    for risk, decision in zip(LADDER, row, strict=True)
}
"""All twenty cells; a pair that is not here is HARD_BLOCK."""


def _hour(given: object) -> object:
    # pydantic reads a bare number as seconds after midnight: 22 would be 22 seconds past
    if isinstance(given, time) or (isinstance(given, str) and _HOUR.fullmatch(given)):
        return given
    raise ValueError('must be a time of day such as "22:00"')


_HOUR: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d")
HourOfDay = Annotated[
    time, BeforeValidator(_hour), PlainSerializer(lambda at: at.strftime("%H:%M"))
]
"""A time of day that is written as it is read."""


class QuietHoursConfig(FrozenModel):
    """The `quiet_hours:` section: from medium risk on, what no plan grants asks at any autonomy.

    Attributes:
        start: From when, inclusive, as `HH:MM` in the zone of `scheduler.timezone`.
        end: Until when, exclusive; the same as `start` means no quiet hours. May pass midnight.
    """

    start: HourOfDay = time(0)
    end: HourOfDay = time(0)


class ToolPolicyConfig(FrozenModel):
    """The numbers of the tool door's policy.

    Attributes:
        quiet_from, quiet_until: The quiet hours by the owner's wall clock; equal means none. They
            may pass midnight.
        timezone: IANA name of that wall clock.
        blast_limit: A call that touches more things than this is one risk step higher.
        cooldown_seconds: The same tool, action and target again within this is blocked; 0 is never.
        outbound_per_hour: Notifications to the outside per hour; 0 allows none.
    """

    quiet_from: time = time(0)
    quiet_until: time = time(0)
    timezone: str = "UTC"
    blast_limit: int = Field(default=10, ge=0)
    cooldown_seconds: float = Field(default=60.0, ge=0)
    outbound_per_hour: int = Field(default=10, ge=0)

    @field_validator("timezone")
    @classmethod
    def _check_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(
                f"{name!r} is not a time zone; use a name such as Europe/Berlin"
            ) from error
        return name


def in_quiet_hours(config: ToolPolicyConfig, now: datetime) -> bool:
    """Whether a moment lies in the quiet hours: from inclusive, until exclusive."""
    at = now.astimezone(ZoneInfo(config.timezone)).time()
    return within_hours(config.quiet_from, config.quiet_until, at)


def within_hours(start: time, end: time, at: time) -> bool:
    """Whether a time of day lies between two; from inclusive, until exclusive, past midnight too.

    Hours that end when they start are none.
    """
    if start <= end:
        return start <= at < end
    return at >= start or at < end


class HasBaseRisk(Protocol):
    """Whatever carries a tool's base risk: `RegisteredTool` and `ToolConfig` do."""

    @property
    def risk_default(self) -> RiskLevel:
        """The risk of an action that the map does not name."""
        ...

    @property
    def risk_map(self) -> dict[str, RiskLevel]:
        """Base risk per action."""
        ...


ADJUSTERS: Final[tuple[tuple[str, Callable[[CallFacts], bool]], ...]] = (
    ("broadcast", lambda facts: facts.broadcast),
    ("destructive", lambda facts: facts.destructive),
    ("blast_radius", lambda facts: facts.blast_radius > facts.blast_limit),
    ("quiet_hours", lambda facts: facts.quiet_hours),
    ("shell_interpreter", lambda facts: starts_a_shell(facts.argv)),
)
"""Each that holds adds one step; none takes one away."""


def assess_risk(tool: HasBaseRisk, action: str, facts: CallFacts) -> RiskLevel:
    """The base risk of the action, one step up per adjuster that holds, at most `critical`."""
    base = tool.risk_map.get(action, tool.risk_default)
    steps = sum(1 for _, holds in ADJUSTERS if holds(facts))
    return LADDER[min(LADDER.index(base) + steps, len(LADDER) - 1)]


def decide(
    autonomy: AutonomyLevel,
    risk: RiskLevel,
    *,
    secrets: bool = False,
    quiet_hours: bool = False,
    antiflap: bool = False,
    storm: bool = False,
) -> Decision:
    """The cell of the matrix, made stricter by each override that holds, never more lenient.

    A0 is a ceiling (decision B12): its PREVIEW is stricter than CONFIRM, so no override can turn
    it into something that runs.

    Args:
        autonomy: How far Silas goes without asking.
        risk: The assessed risk of this call.
        secrets: The tool holds a scope on secrets, or the work was granted one.
        quiet_hours: It is quiet; from medium risk on, that asks.
        antiflap: The same tool, action and target ran within the cooldown.
        storm: The hourly limit of outbound notifications is used up.

    Returns:
        HARD_BLOCK for a pair that the matrix does not have.
    """
    floors = (
        MATRIX.get((autonomy, risk), _BLOCK),
        _CONFIRM if secrets else _ALLOW,
        _CONFIRM if quiet_hours and risk != RiskLevel.low else _ALLOW,
        _BLOCK if antiflap or storm else _ALLOW,
    )
    return max(floors, key=STRICTNESS.__getitem__)


def holds_secrets(scopes: tuple[str, ...]) -> bool:
    """Whether a scope is on secrets: `secrets`, `secrets.read`, `secrets:mail`."""
    return any(scope.replace(":", ".").split(".")[0] == "secrets" for scope in scopes)


TAINT: Final = "taint"
"""The source of a ruling that asks for what the arguments rest on."""


class CallRuling(NamedTuple):
    """What happens with a call, and who said so."""

    decision: Decision
    source: str


LOOKED_AT: Final = frozenset({"gate", TAINT, "worker policy"})
"""Who asks for a person to look at the very call: a plan approved before is no look."""


def strictest(
    matrix: Decision,
    *,
    toolset: Stance = Stance.silent,
    gate: GateAction = "continue",
    worker: Stance = Stance.silent,
    run: RunApprovalMode = RunApprovalMode.prompt,
    pre_approved: bool = False,
    tainted: bool = False,
) -> CallRuling:
    """Join the matrix with everybody else's opinion; the strictest wins (table C).

    Order of power: blocked by the toolset > blocked by a gate > worker policy > run policy >
    pre-approval; the most powerful no is the one that is named. What the last three may lift is
    the toolset's own question and nothing else: a mode or a setting cannot sign, so what the
    matrix, a gate, a worker or the taint rule (B9) asks stays asked. `reject_all` lets nobody lift
    anything.
    """
    blocks = (
        (toolset is Stance.blocked, "toolset"),
        (gate == "block", "gate"),
        (matrix is _BLOCK, "matrix"),
        (worker is Stance.blocked, "worker policy"),
    )
    for blocked, source in blocks:
        if blocked:
            return CallRuling(_BLOCK, source)
    if matrix is _PREVIEW:
        return CallRuling(_PREVIEW, "matrix")
    reject = run is RunApprovalMode.reject_all
    lifted = not reject and (
        worker is Stance.pre_approved or run is RunApprovalMode.approve_all or pre_approved
    )
    questions = (
        (gate != "continue", "gate"),
        (tainted, TAINT),
        (worker is Stance.ask, "worker policy"),  # before what a plan's approval answers
        (matrix is not _ALLOW, "matrix"),
        (toolset is Stance.ask and not lifted, "toolset"),
    )
    asked = next((source for asks, source in questions if asks), None)
    if asked is None:
        return CallRuling(_ALLOW, "matrix")
    if reject:
        return CallRuling(_BLOCK, "run policy")
    return CallRuling(_CONFIRM, asked)
