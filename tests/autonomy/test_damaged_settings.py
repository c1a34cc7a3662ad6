"""What is kept of how much Silas asks, and is damaged or was changed outside: it widens nothing."""

import re

import pytest

from silas.autonomy.calibrate import TunableSetting
from silas.cards import PlanCard
from silas.damage import damaged_rows
from silas.db import Database
from silas.home.row_forms import check_forms
from silas.plans import WorkItemStatus
from silas.services.batches.service import thresholds_in_force
from silas.testing import Harness, MockClock, ScriptedChannel
from tests.goals.kit import START, Watched, goal_text, house, yes

DAMAGED = ("abc", "nan", "inf", "-inf", "")
KEYS = (
    "standing.max_executions",
    "standing.expires_at",
    "batch_review.default_size",
    "batch_review.confidence.high_min",
)


def keep(db: Database, value: str) -> None:
    """Write a value past every card."""
    with db.write() as tx:
        for key in KEYS:
            tx.run(
                "INSERT INTO autonomy_thresholds (key, scope_id, value, token_id, at)"
                " VALUES (:key, 'owner', :value, 'none', :at)",
                key=key,
                value=value,
                at=START.isoformat(),
            )


async def told_limit(h: Harness, channel: ScriptedChannel) -> tuple[str, ...]:
    """How often and for how many days the card of a goal says that it may run."""
    result = await h.silas.run(goal_text())
    assert result.status is WorkItemStatus.healthy
    (card,) = channel.cards
    assert isinstance(card, PlanCard)
    told = next(d for d in card.details if d.heading.startswith("When it runs"))
    found = re.search(r"without asking (\w+) (?:\w+ )?within (\d+)", told.lines[0])
    assert found is not None, told
    return found.groups()


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        *[(value, ("1", "1")) for value in (*DAMAGED, "-3", "0")],
        ("1e9", ("100", "90")),
    ],
)
async def test_a_kept_limit_that_is_damaged_is_the_narrowest_and_none_passes_its_cap(
    value: str, limit: tuple[str, str]
) -> None:
    channel, watched = ScriptedChannel(yes), Watched()
    async with house(channel, MockClock(START), watched) as h:
        keep(h.db, value)
        assert await told_limit(h, channel) == limit
        batches = thresholds_in_force(h.config, h.db)
        assert 1 <= batches.size <= h.config.autonomy.max_batch_review_size
        assert h.config.autonomy.min_high_confidence <= batches.high <= 1


async def test_a_damaged_setting_is_named() -> None:
    async with house(ScriptedChannel(yes), MockClock(START), Watched()) as h:
        keep(h.db, "abc")
        check_forms(h.db)
        assert {row.key for row in damaged_rows(h.db)} == set(KEYS)


def test_what_was_approved_counts_within_its_cap() -> None:
    setting = TunableSetting(20, 100, 1, 2, 0.5)
    assert [setting.in_force(kept) for kept in (None, "40", "5", "101")] == [20, 40, 5, 100]


async def test_a_configured_most_below_what_is_shipped_counts() -> None:
    channel = ScriptedChannel(yes)
    narrow = {"max_standing_executions": 5, "max_standing_days": 7}
    async with house(channel, MockClock(START), Watched(), autonomy=narrow) as h:
        assert await told_limit(h, channel) == ("5", "7")
