"""How far one yes to a goal goes: as Silas is set, or as the plan says with `standing` (spec 5.9).

standing: { uses: 30, until: "2026-12-04T23:59+01:00" }

The plan's own words are hashed with it, so that a yes binds them. They may be less or more than
what Silas would take by itself, and never more than its owner's caps.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from silas.language import tr, tr_many
from silas.language.calendar import day_words
from silas.types import FrozenModel

STANDING_USES: Final = 20
"""How often one approval of a goal starts work without asking."""

STANDING_DAYS: Final = 30
"""How long one approval of a goal starts work without asking."""

MOST_STANDING_USES: Final = 100
"""The most uses of one approval, where its owner set no other (`max_standing_executions`)."""

MOST_STANDING_DAYS: Final = 90
"""The longest that an approval of a goal can last, whatever its owner approved (spec 5.9)."""

CAP_OF_USES: Final = "autonomy.max_standing_executions"
CAP_OF_DAYS: Final = "autonomy.max_standing_days"
"""The settings that cap a yes, as a person finds them."""


def read_moment(text: str) -> datetime | None:
    """A moment that is written with its offset, in UTC; None for every other text."""
    try:
        found = datetime.fromisoformat(text)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _moment(text: str | None) -> str | None:
    if text is not None and read_moment(text) is None:
        raise ValueError("must be a moment with its offset, like 2026-12-04T23:59+01:00")
    return text


class StandingAsk(FrozenModel):
    """How far a yes to this goal is to go, as its plan says it.

    Attributes:
        uses: How often it starts work without asking; None leaves it to Silas.
        until: When that ends, as a moment with its offset; None leaves it to Silas.
    """

    uses: int | None = Field(default=None, ge=1)
    until: Annotated[str | None, AfterValidator(_moment)] = None


class StandingCaps(NamedTuple):
    """The most that one yes can be, as configured."""

    uses: int = MOST_STANDING_USES
    days: int = MOST_STANDING_DAYS


class StandingLimit(NamedTuple):
    """How far one approval of a goal goes: so many uses within so many days at most.

    Attributes:
        uses: How often it starts work without asking.
        days: For how many days; of no account where `until` is given.
        until: The moment that the plan names as its end; empty where it names none.
    """

    uses: int = STANDING_USES
    days: int = STANDING_DAYS
    until: str = ""

    @property
    def end(self) -> datetime | None:
        """When it ends, in UTC; None where it is so many days after the yes."""
        return read_moment(self.until) if self.until else None

    @property
    def span_words(self) -> str:
        """`within 30 days`, or `until Friday 4 December 2026, 23:59 (UTC+01:00)`."""
        if not self.until:
            return tr_many(self.days, "within {count} day", "within {count} days")
        return tr("until {end}", end=self._end_words)

    @property
    def age_words(self) -> str:
        """The same of a goal that runs once: `at most 30 days old`, or `in force until ...`."""
        if not self.until:
            return tr_many(self.days, "at most {count} day old", "at most {count} days old")
        return tr("in force until {end}", end=self._end_words)

    @property
    def _end_words(self) -> str:
        """By the clock that the plan gives."""
        _, time, offset = clock_words(self.until)
        return f"{day_words(datetime.fromisoformat(self.until))}, {time} ({offset})"


AS_SHIPPED: Final = StandingLimit()


def clock_words(text: str) -> tuple[str, str, str]:
    """Day, time and offset of a written moment, by the clock that it gives."""
    day, time, offset = datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M %z").split()
    return day, time, f"UTC{offset[:3]}:{offset[3:5]}"


def limit_asked(limit: StandingLimit, ask: StandingAsk | None) -> StandingLimit:
    """How far a yes goes that would be given now, by what the plan says and Silas would take."""
    if ask is None:
        return limit
    return limit._replace(uses=ask.uses or limit.uses, until=ask.until or "")


def limit_signed(
    uses: int, begin: datetime, end: datetime, ask: StandingAsk | None
) -> StandingLimit:
    """How far an approval goes that was signed at one moment and ends at another."""
    days = -((begin - end) // timedelta(days=1))
    until = "" if ask is None or ask.until is None else ask.until
    return StandingLimit(uses, days, until if until and read_moment(until) == end else "")


def exceeds(ask: StandingAsk | None, uses: int, end: datetime) -> bool:
    """Whether an approval goes further than the plan says that it approves."""
    if ask is None:
        return False
    ends = None if ask.until is None else read_moment(ask.until)
    return (ask.uses is not None and uses > ask.uses) or (ends is not None and end > ends)


def why_not_standing(
    ask: StandingAsk | None, caps: StandingCaps, now: datetime, zone: ZoneInfo
) -> str:
    """Why no yes can go as far as a plan says, in one sentence; nothing where one can.

    Args:
        ask: What the plan says.
        caps: The most that one yes can be.
        now: The moment of the question.
        zone: The owner's.
    """
    if ask is None:
        return ""
    end = None if ask.until is None else read_moment(ask.until)
    most = now + timedelta(days=caps.days)
    if ask.uses is not None and ask.uses > caps.uses:
        return (
            f"One yes to a goal counts {caps.uses} uses at most (`{CAP_OF_USES}`), and the plan "
            f"asks for {ask.uses}; write `uses: {caps.uses}` or fewer under `standing`."
        )
    if end is not None and end <= now:
        wall = end.astimezone(zone)
        return (
            f"The end of the yes that the plan asks for, {wall:%A %-d %B %Y, %H:%M} ({zone.key}), "
            "is past; write a later `until` under `standing`."
        )
    if end is not None and end > most:
        wall = most.astimezone(zone)
        return (
            f"The plan asks for a yes that lasts longer than {caps.days} days (`{CAP_OF_DAYS}`); "
            f"write an `until` of {wall:%A %-d %B %Y, %H:%M} ({zone.key}) or before under "
            "`standing`."
        )
    return ""
