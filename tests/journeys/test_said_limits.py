"""“…, 30 times until Friday”: how far one yes goes is said, shown, signed and counted."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from silas.cards import PlanCard
from silas.goals.models import Outcome
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.cockpit.house import a_house
from tests.goals.kit import START, yes
from tests.journeys.test_moved_by_words import MAY, SAID, left_of
from tests.journeys.test_moved_every_morning import a_morning

GERMAN = "jeden Morgen um sieben verschiebe alle pdf Dateien von Downloads nach Papers"
MOVED = "move pdf files from Downloads to Papers every morning"
FRIDAY = "Friday 27 November 2026, 23:59 (UTC+01:00)"
NOON = "Friday 27 November 2026, 12:00 (UTC+01:00)"


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


async def asked(
    said: str, place: Path, start: datetime = START, **settings: Any
) -> tuple[str, list[PlanCard], tuple[int, datetime] | None]:
    """What is answered, the cards that were shown, and what was signed."""
    (place / "Downloads").mkdir()
    channel = ScriptedChannel(yes)
    async with a_house(channel, clock=MockClock(start), settings=settings) as cockpit:
        reply = await cockpit.harness.silas.ask(said, workspace=place)
        found = None if reply.plan is None else await cockpit.harness.store.get(reply.plan.id)
    token = None if found is None else found.approval_token
    cards = [card for card in channel.cards if isinstance(card, PlanCard)]
    signed = None if token is None else (token.max_executions, token.expires_at)
    return reply.text, cards, signed


def told_on(card: PlanCard) -> str:
    return next(one for one in card.details if one.heading.startswith("When it runs")).lines[0]


@pytest.mark.parametrize(
    ("said", "uses", "end", "shown"),
    [
        (
            f"{MOVED}, 30 times until Friday",
            30,
            "2026-11-27T23:59+01:00",
            f"30 times until {FRIDAY}",
        ),
        (f"{MOVED}, at most 10 times", 10, None, "10 times within 30 days"),
        (f"{MOVED} 10 times", 10, None, "10 times within 30 days"),
        (
            f"{MOVED} for two weeks",
            20,
            "2026-12-08T09:10+01:00",
            "20 times until Tuesday 8 December 2026, 09:10",
        ),
        (
            f"{MOVED} until 3 December",
            20,
            "2026-12-03T23:59+01:00",
            "20 times until Thursday 3 December 2026",
        ),
        (f"{GERMAN}, höchstens 10 mal", 10, None, "10 times within 30 days"),
        (
            f"{GERMAN} bis Ende Dezember",
            20,
            "2026-12-31T23:59+01:00",
            "20 times until Thursday 31 December 2026",
        ),
        (
            f"{GERMAN}, dreißigmal bis 3.12.",
            30,
            "2026-12-03T23:59+01:00",
            "30 times until Thursday 3 December 2026",
        ),
        (
            "every morning until Friday, move pdf files from Downloads to Papers",
            20,
            "2026-11-27T23:59+01:00",
            f"20 times until {FRIDAY}",
        ),
    ],
)
async def test_the_card_shows_and_the_yes_signs_what_was_said(
    said: str, uses: int, end: str | None, shown: str, tmp_path: Path
) -> None:
    text, cards, signed = await asked(said, tmp_path)
    assert len(cards) == 1, text
    assert shown in told_on(cards[0])
    assert signed == (uses, START + timedelta(days=30) if end is None else moment(end))


@pytest.mark.parametrize(
    ("limit", "uses", "end", "why"),
    [
        (
            ", 500 times",
            100,
            None,
            "“500 times” is more than one yes can give, so the card takes 100 times "
            "(`autonomy.max_standing_executions`).",
        ),
        (
            " until the end of May",
            20,
            "2027-02-22T09:10+01:00",
            "so the card takes until Monday 22 February 2027, 09:10",
        ),
    ],
)
async def test_more_than_the_owners_caps_is_told_before_the_card(
    limit: str, uses: int, end: str | None, why: str, tmp_path: Path
) -> None:
    text, cards, signed = await asked(MOVED + limit, tmp_path)
    assert len(cards) == 1, text
    assert why in cards[0].rationale
    assert "`autonomy.max_standing_" in cards[0].rationale
    assert f"{uses} times" in told_on(cards[0])
    assert signed == (uses, START + timedelta(days=30) if end is None else moment(end))


@pytest.mark.parametrize("limit", [" for 90 days", " until the end of January"])
async def test_an_end_beyond_the_change_of_the_clocks_lasts_no_longer_than_the_cap(
    limit: str, tmp_path: Path
) -> None:
    in_summer = datetime(2026, 10, 1, 7, 10, tzinfo=UTC)
    text, cards, signed = await asked(MOVED + limit, tmp_path, in_summer)
    assert len(cards) == 1, text
    assert "until Wednesday 30 December 2026, 08:10 (UTC+01:00)" in told_on(cards[0])
    told = "so the card takes until Wednesday 30 December 2026, 08:10" in cards[0].rationale
    assert told == ("January" in limit)
    assert signed == (20, in_summer + timedelta(days=90))


@pytest.mark.parametrize(
    ("start", "end", "shown", "told"),
    [
        (
            datetime(2027, 3, 24, 8, 10, tzinfo=UTC),
            "2027-03-28T03:30+02:00",
            "Sunday 28 March 2027, 03:30 (UTC+02:00)",
            "The clocks are put forward then and skip 02:30.",
        ),
        (
            datetime(2026, 10, 22, 7, 10, tzinfo=UTC),
            "2026-10-25T02:30+02:00",
            "Sunday 25 October 2026, 02:30 (UTC+02:00)",
            "The clocks are put back then; it is the first 02:30.",
        ),
    ],
)
async def test_an_hour_that_the_clocks_skip_or_show_twice_is_told(
    start: datetime, end: str, shown: str, told: str, tmp_path: Path
) -> None:
    text, cards, signed = await asked(f"{MOVED} until Sunday at 02:30", tmp_path, start)
    assert len(cards) == 1, text
    assert f"20 times until {shown}" in told_on(cards[0])
    assert told in cards[0].rationale
    assert signed == (20, moment(end))


async def test_more_than_the_owners_caps_is_an_answer_before_the_card_is_shown(
    tmp_path: Path,
) -> None:
    (tmp_path / "Downloads").mkdir()
    before: list[list[str]] = []

    def looks(card: Any) -> Any:
        before.append([*channel.texts])
        return yes(card)

    channel = ScriptedChannel(looks)
    async with a_house(channel, clock=MockClock(START)) as cockpit:
        await cockpit.harness.silas.ask(f"{MOVED}, 500 times", workspace=tmp_path)
    assert any("so the card takes 100 times" in text for text in before[-1])
    assert sum("so the card takes 100 times" in text for text in channel.texts) == 1


async def test_caps_that_its_owner_set_lower_are_those_that_count(tmp_path: Path) -> None:
    few = {"max_standing_executions": 5, "max_standing_days": 2}
    text, cards, signed = await asked(f"{MOVED}, 30 times until Friday", tmp_path, autonomy=few)
    assert len(cards) == 1, text
    assert "so the card takes 5 times (`autonomy.max_standing_executions`)" in cards[0].rationale
    assert "(2 days, `autonomy.max_standing_days`)" in cards[0].rationale
    assert signed == (5, moment("2026-11-26T09:10+01:00"))


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        (", 0 times", "“0 times” leaves nothing to be done"),
        (", -3 times", "“-3 times” leaves nothing to be done"),
        (", 2.5 times", "“2.5 times” is no number of times"),
        (" until yesterday", "“until yesterday” is past"),
        (" until 31 February", "“until 31 February” names no day that comes"),
        (" until the cows come home", "“until the cows come home” names no day that comes"),
        (" until Friday at 25", "“until Friday at 25” has no time of day that comes"),
        (" until Friday for two weeks", "says two limits of one kind"),
    ],
)
async def test_a_limit_that_means_nothing_is_told_and_nobody_is_asked(
    limit: str, why: str, tmp_path: Path
) -> None:
    text, cards, _ = await asked(MOVED + limit, tmp_path)
    assert why in text
    assert cards == []


async def test_an_hour_of_today_that_is_past_is_told_and_nobody_is_asked(tmp_path: Path) -> None:
    text, cards, _ = await asked(f"{MOVED}, until today at 8 am", tmp_path)
    assert "“until today at 8 am” is past; say a time to come" in text
    assert cards == []


async def test_a_limit_without_a_time_that_comes_again_is_told(tmp_path: Path) -> None:
    said = "move pdf files from Downloads to X, 30 times until Friday"
    text, cards, _ = await asked(said, tmp_path)
    assert "“30 times until Friday” does not say when" in text
    assert cards == []


async def test_what_was_said_is_counted_down_and_over_where_it_ends(tmp_path: Path) -> None:
    (source := tmp_path / "Downloads").mkdir()
    answers: list[str] = []
    channel = ScriptedChannel(lambda card: card.safe if answers else yes(card))
    clock = MockClock(START)
    async with a_house(channel, clock=clock) as cockpit:
        silas = cockpit.harness.silas
        reply = await silas.ask(f"{SAID}, 2 times until Friday", workspace=tmp_path)
        assert reply.plan is not None, reply.text
        for number in (1, 2):
            (source / f"{number}.pdf").write_bytes(b"%PDF-1.4")
            if number == 2:
                said = "used 1 of 2, until Friday 27 November 2026, 23:59"
                assert await left_of(cockpit) == said
            assert (await a_morning(cockpit, clock, reply.plan.id)).outcome is Outcome.fixed
        answers.append("no")
        (source / "3.pdf").write_bytes(b"%PDF-1.4")
        assert (await a_morning(cockpit, clock, reply.plan.id)).outcome is Outcome.declined
        assert "Nothing." in (await silas.ask(MAY)).text
        assert (source / "3.pdf").exists()
    assert len(channel.cards) == 2
