"""Some weeks of goals and reminders with kills at random points; the whole year is `make year`."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from benchmarks.year.__main__ import figures, play
from benchmarks.year.calendar import Rhythm, daily, moments
from benchmarks.year.planned import START
from benchmarks.year.run import Year
from benchmarks.year.verify import faults
from silas.goals.models import Outcome
from silas.plans.goals.schedule import next_moment, read_schedule

DAYS = 21

# A kill drops whatever was under way; what it was about to wait for is never waited for.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def lived() -> Year:
    return play(DAYS, goals=12, reminders=30, kills=60, trust=True)


def test_every_due_moment_was_exactly_once_or_is_told_as_missed(lived: Year) -> None:
    assert faults(lived) == []


def test_it_was_killed_missed_something_and_said_so(lived: Year) -> None:
    told = figures(lived, DAYS)
    assert lived.kills >= 5, told
    assert told["cycles of goals"] > 40, told
    assert told["reminders told"] > 20, told
    assert told["moments of goals told as missed"] > 0, told


def test_no_model_is_asked_where_every_check_is_healthy(lived: Year) -> None:
    assert lived.stray == 0
    assert lived.chain.valid
    outcomes = {one.outcome for of_goal in lived.cycles.values() for one in of_goal}
    assert {Outcome.healthy, Outcome.not_fixed, Outcome.done} <= outcomes


def test_what_silas_proposes_by_its_own_rule_is_accepted_and_widens_what_it_may() -> None:
    year = play(30, goals=12, reminders=0, kills=0, fails=95, trust=True, earned=True)
    assert faults(year) == []
    told = [line for card in year.world.accepted for line in card.details[0].lines]
    assert [line.partition(": ")[2] for line in told] == ["20 -> 40 (`standing.max_executions`)"]
    plain = play(30, goals=12, reminders=0, kills=0, fails=95, trust=True)
    assert plain.world.accepted == []


def test_a_moment_that_is_left_out_or_comes_twice_is_found(lived: Year) -> None:
    goal = next(one for one in lived.goals if one.due is not None and lived.cycles[one.id])
    cycles = lived.cycles[goal.id]
    without = lived._replace(cycles={**lived.cycles, goal.id: cycles[1:]})
    assert any("neither ran nor is told as missed" in one for one in faults(without))
    twice = lived._replace(cycles={**lived.cycles, goal.id: [cycles[0], *cycles]})
    assert any("ran 2 times" in one for one in faults(twice))


@pytest.mark.parametrize(
    ("zone", "day", "wall", "goal", "reminder"),
    [  # a wall time that is skipped: a goal comes at the gap's end, a reminder later by the gap
        ("Europe/Vienna", (2028, 3, 26), time(2, 30), "01:00", "01:30"),
        ("Africa/Cairo", (2028, 4, 28), time(0, 15), "22:00", "22:15"),
        ("Australia/Lord_Howe", (2028, 10, 1), time(2, 15), "15:30", "15:45"),
    ],
)
def test_the_reckoning_that_judges_knows_what_daylight_saving_skips(
    zone: str, day: tuple[int, int, int], wall: time, goal: str, reminder: str
) -> None:
    here, on = ZoneInfo(zone), date(*day)
    after = datetime.combine(on, time(0), tzinfo=UTC).replace(hour=0)
    for late, expected in ((False, goal), (True, reminder)):
        rhythm = Rhythm(daily, (wall,), here, late=late)
        begin = datetime.fromtimestamp(after.timestamp() - 86_400, UTC)
        end = datetime.fromtimestamp(after.timestamp() + 86_400, UTC)
        found = [f"{one:%H:%M}" for one in moments(rhythm, begin, end)]
        assert expected in found
        if not late:
            schedule = read_schedule(f"CRON_TZ={zone} {wall.minute} {wall.hour} * * *")
            coming = next_moment(schedule, here, begin)
            assert coming == moments(rhythm, begin, end)[0]


def test_the_year_has_a_leap_day_and_every_change_of_clocks() -> None:
    assert datetime(2028, 2, 29, tzinfo=UTC) > START
