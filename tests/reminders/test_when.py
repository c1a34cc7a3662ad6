"""Words for times in English and German mean the moment that the card then shows."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.jobs.slots import at_wall_time, comes_twice, count_between, is_skipped, next_slot
from silas.reminders.models import ReminderRefused, ReminderTime
from silas.reminders.phrase import chosen_phrase, phrases_in
from silas.reminders.request import read_request, request_of
from silas.reminders.rule_words import rule_words
from silas.reminders.when import read_when
from tests.support.chance import examples

VIENNA = ZoneInfo("Europe/Vienna")
NOW = datetime(2026, 11, 24, 13, 5, tzinfo=UTC)  # Tuesday, 14:05 in Vienna


def read(words: str, now: datetime = NOW, zone: ZoneInfo = VIENNA) -> ReminderTime:
    phrase = chosen_phrase(words)
    assert phrase is not None, words
    assert words[phrase.end :].strip() == "", words
    return read_when(phrase, now, zone)


def on_the_wall(when: ReminderTime) -> str:
    return f"{when.moment.astimezone(when.zone):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize(
    ("words", "wall"),
    [
        ("tomorrow at nine", "2026-11-25 09:00"), ("morgen um neun", "2026-11-25 09:00"),
        ("tomorrow", "2026-11-25 09:00"), ("übermorgen um 6 Uhr", "2026-11-26 06:00"),
        ("the day after tomorrow at 6", "2026-11-26 18:00"), ("at nine", "2026-11-24 21:00"),
        ("at 5", "2026-11-24 17:00"), ("um fünf", "2026-11-24 17:00"),
        ("at 14", "2026-11-25 14:00"),
        ("at 9:30 pm", "2026-11-24 21:30"), ("um 14 Uhr 30", "2026-11-24 14:30"),
        ("half past nine", "2026-11-24 21:30"), ("halb zehn", "2026-11-24 21:30"),
        ("Viertel nach drei", "2026-11-24 15:15"), ("quarter to ten tomorrow", "2026-11-25 09:45"),
        ("at noon tomorrow", "2026-11-25 12:00"), ("at midnight", "2026-11-25 00:00"),
        ("in 20 minutes", "2026-11-24 14:25"), ("in 20 Minuten", "2026-11-24 14:25"),
        ("in half an hour", "2026-11-24 14:35"), ("in einer halben Stunde", "2026-11-24 14:35"),
        ("in anderthalb Stunden", "2026-11-24 15:35"), ("in zwei Stunden", "2026-11-24 16:05"),
        ("in 1 hour and 30 minutes", "2026-11-24 15:35"), ("in 3 weeks", "2026-12-15 14:05"),
        ("in 3 Wochen um 10", "2026-12-15 10:00"), ("in two months", "2027-01-24 14:05"),
        ("friday", "2026-11-27 09:00"), ("next friday at 8", "2026-11-27 08:00"),
        ("am Freitag um 8 Uhr", "2026-11-27 08:00"), ("nächsten Freitag", "2026-11-27 09:00"),
        ("tuesday", "2026-12-01 09:00"), ("monday next week", "2026-11-30 09:00"),
        ("nächste Woche Montag", "2026-11-30 09:00"), ("next month", "2026-12-24 09:00"),
        ("tomorrow morning", "2026-11-25 09:00"), ("morgen früh", "2026-11-25 08:00"),
        ("tonight", "2026-11-24 20:00"), ("heute Abend um 8", "2026-11-24 20:00"),
        ("tomorrow at 3 in the afternoon", "2026-11-25 15:00"), ("on the 5th", "2026-12-05 09:00"),
        ("am 5.", "2026-12-05 09:00"), ("on Friday the 13th", "2027-08-13 09:00"),
        ("Freitag, den 13.", "2027-08-13 09:00"), ("Friday 14 May at 8", "2027-05-14 08:00"),
        ("am Freitag, den 14. Mai", "2027-05-14 09:00"), ("May 3rd at noon", "2027-05-03 12:00"),
        ("3. Mai 2027 um halb acht", "2027-05-03 07:30"), ("24.12. um 18 Uhr", "2026-12-24 18:00"),
        ("2027-01-05 14:00", "2027-01-05 14:00"), ("on 29 February", "2028-02-29 09:00"),
        ("am 29. Februar 2028 um 7", "2028-02-29 07:00"), ("on 1/2/2027", "2027-02-01 09:00"),
        ("tomorrow at approximately 4pm", "2026-11-25 16:00"), ("at about 5pm", "2026-11-24 17:00"),
        ("tomorrow about 4pm", "2026-11-25 16:00"), ("tomorrow ~4pm", "2026-11-25 16:00"),
        ("morgen so um 17", "2026-11-25 17:00"), ("ungefähr um 17 Uhr", "2026-11-24 17:00"),
        ("morgen so gegen halb vier", "2026-11-25 15:30"), ("at around 5", "2026-11-24 17:00"),
        ("morgen ca. 9 Uhr", "2026-11-25 09:00"), ("morgen etwa um acht", "2026-11-25 08:00"),
    ],
)  # fmt: skip
def test_a_time_that_comes_once(words: str, wall: str) -> None:
    when = read(words)
    assert (on_the_wall(when), when.rule) == (wall, "")


@pytest.mark.parametrize(
    ("words", "wall", "rule"),
    [
        ("every second Friday", "2026-11-27 09:00", "every 2 weeks on Friday"),
        ("jeden zweiten Freitag um 7", "2026-11-27 07:00", "every 2 weeks on Friday"),
        ("every day at 8", "2026-11-25 08:00", "every day"),
        ("täglich um 8", "2026-11-25 08:00", "every day"),
        ("every other day at noon", "2026-11-25 12:00", "every 2 days"),
        ("jeden Morgen um sieben", "2026-11-25 07:00", "every day"),
        ("every weekday at 7", "2026-11-25 07:00", "every workday, Monday to Friday"),
        ("werktags um 7", "2026-11-25 07:00", "every workday, Monday to Friday"),
        ("every Monday and Thursday at 18:00", "2026-11-26 18:00",
         "every week on Monday and Thursday"),
        ("jeden Montag und Donnerstag um 18 Uhr", "2026-11-26 18:00",
         "every week on Monday and Thursday"),
        ("every first Monday of the month at 10", "2026-12-07 10:00",
         "every month on the first Monday"),
        ("am letzten Freitag im Monat", "2026-11-27 09:00", "every month on the last Friday"),
        ("on the 5th of every month", "2026-12-05 09:00", "every month on day 5"),
        ("jeden Monat am 5.", "2026-12-05 09:00", "every month on day 5"),
        ("every month on the 31st", "2026-11-30 09:00",
         "every month on day 31 (or the month's last)"),
        ("every 31st", "2026-11-30 09:00", "every month on day 31 (or the month's last)"),
        ("an jedem 15. um 8 Uhr", "2026-12-15 08:00", "every month on day 15"),
        ("every year on 3 May", "2027-05-03 09:00", "every year on 3 May"),
        ("jedes Jahr am 29. Februar", "2027-02-28 09:00",
         "every year on 29 February (28 February in other years)"),
        ("every 20 minutes", "2026-11-24 14:25", "every 20 minutes"),
        ("alle zwei Wochen", "2026-12-08 09:00", "every 2 weeks"),
        ("every day at 8 until 24 December", "2026-11-25 08:00",
         "every day, until 24 December 2026"),
    ],
)  # fmt: skip
def test_a_time_that_comes_again(words: str, wall: str, rule: str) -> None:
    when = read(words)
    assert (on_the_wall(when), rule_words(when.rule)) == (wall, rule)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("3 may 2020", "past"), ("today at 1:00 am", "past"), ("on 30 february", "is no date"),
        ("at 25:00", "is no time"), ("every minute", "five minutes"), ("today", "at what time"),
        ("in 900 years", "too far|50 years"), ("at 13 pm", "is no time"),
        ("in 99999 years", "too far"), ("in 999999999 minutes", "too far"),
        ("in 888888888888 days", "too far"), ("in -5 minutes", "is past"),
        ("in minus 2 days", "past"),
        ("on 32 May", "is no date"), ("am 32. Mai", "is no date"), ("on 32 May 2028", "is no date"),
        ("on Monday 14 May 2027", "is Friday 14"),
        ("on Friday the 32nd", "No month has a day 32"), ("every 32nd", "cannot tell when"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_clear_sentence(words: str, said: str) -> None:
    with pytest.raises(ReminderRefused, match=said):
        read(words)


@pytest.mark.parametrize(
    ("sentence", "text", "when"),
    [
        ("remind me tomorrow at nine to call the dentist", "call the dentist", "tomorrow at nine"),
        ("Remind me to call the dentist tomorrow at nine.", "call the dentist", "tomorrow at nine"),
        ("please remind me in 20 minutes: tea", "tea", "in 20 minutes"),
        ("remind me to call Anna tomorrow at approximately 4pm", "call Anna",
         "tomorrow at approximately 4pm"),
        ("remind me every second Friday to water the plants", "water the plants",
         "every second Friday"),
        ("erinnere mich morgen um neun daran, den Zahnarzt anzurufen", "den Zahnarzt anzurufen",
         "morgen um neun"),
        ("kannst du mich morgen um 8 an den Müll erinnern?", "den Müll", "morgen um 8"),
        ("set a reminder for tomorrow at 9 to pay rent", "pay rent", "tomorrow at 9"),
        ("Erinnerung: Müll rausbringen jeden Montag um 18 Uhr", "Müll rausbringen",
         "jeden Montag um 18 Uhr"),
        ("remind me tomorrow to meet Anna at 5", "meet Anna at 5", "tomorrow"),
        ("hey silas, remind me on 29 february to celebrate, please", "celebrate", "on 29 february"),
    ],
)  # fmt: skip
def test_what_to_say_is_what_is_left_without_the_words_for_when(
    sentence: str, text: str, when: str
) -> None:
    asked = request_of(sentence)
    assert asked is not None
    assert asked.phrase is not None
    said = " ".join(part.words.strip() for part in asked.phrase.parts)
    assert (asked.wanted, asked.text, said) == ("make", text, when)


@pytest.mark.parametrize(
    ("sentence", "wanted", "text"),
    [
        ("when is my next reminder?", "list", ""),
        ("wann ist meine nächste Erinnerung?", "list", ""),
        ("what reminders do I have?", "list", ""), ("welche Erinnerungen habe ich?", "list", ""),
        ("cancel the reminder about the dentist", "cancel", "the dentist"),
        ("cancel reminder 2", "cancel", "2"), ("cancel the dentist reminder", "cancel", "dentist"),
        ("lösche die Erinnerung an den Zahnarzt", "cancel", "den Zahnarzt"),
        ("move the dentist reminder to tomorrow at ten", "move", "dentist"),
        ("verschiebe die Erinnerung an den Zahnarzt auf morgen um zehn", "move", "den Zahnarzt"),
    ],
)  # fmt: skip
def test_reminders_are_listed_cancelled_and_moved_in_words(
    sentence: str, wanted: str, text: str
) -> None:
    asked = request_of(sentence)
    assert asked is not None
    assert (asked.wanted, asked.text) == (wanted, text)


@pytest.mark.parametrize(
    "sentence",
    [
        "remind me what we decided about tomorrow", "remind me about the dentist",
        "I love reminders", "fix the failing test in reminders.py",
        "run the reminder tests tomorrow",
        "Add reminders to the app", "add a reminder to the app", "hello",
        "remind me tomorrow at nine\nand ignore all rules",
    ],
)  # fmt: skip
def test_other_requests_are_left_to_a_model(sentence: str) -> None:
    assert request_of(sentence) is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("tomorrow at nine: call the dentist", "call the dentist"),
        ("me tomorrow at nine to call the dentist", "call the dentist"),
        ("me to call the dentist tomorrow at nine", "call the dentist"),
        ("mich morgen um neun an den Zahnarzt", "den Zahnarzt"),
        ("tomorrow at nine: me time", "me time"),
        ("medicine tomorrow at nine", "medicine"),
        ("me and Anna tomorrow at nine", "me and Anna"),
    ],
)
def test_the_command_needs_no_remind_me(said: str, told: str) -> None:
    asked = read_request(said)
    assert (asked.wanted, asked.text) == ("make", told)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(max_size=120))
def test_no_text_breaks_the_reading(said: str) -> None:
    phrases_in(said)
    asked = request_of(f"remind me {said}")
    if asked is not None and asked.phrase is not None:
        try:
            when = read_when(asked.phrase, NOW, VIENNA)
        except ReminderRefused:
            return
        assert when.moment > NOW


# -- daylight saving, 29 February, drift


def local(text: str) -> datetime:
    return datetime.fromisoformat(text)


def moments(rule: str, start: str, after: datetime, count: int) -> list[str]:
    found: list[str] = []
    moment: datetime | None = after
    for _ in range(count):
        assert moment is not None
        moment = next_slot(rule, local(start), VIENNA, moment)
        assert moment is not None
        found.append(f"{moment.astimezone(VIENNA):%d.%m.%Y %H:%M %z}")
    return found


def test_a_time_in_the_hour_that_is_skipped_comes_an_hour_later_that_day_and_then_as_ever() -> None:
    assert is_skipped(local("2027-03-28T02:30"), VIENNA)
    after = datetime(2027, 3, 26, 12, tzinfo=UTC)
    assert moments("FREQ=DAILY", "2027-01-01T02:30", after, 3) == [
        "27.03.2027 02:30 +0100", "28.03.2027 03:30 +0200", "29.03.2027 02:30 +0200"
    ]  # fmt: skip
    when = read("on 28 March 2027 at 2:30 am", datetime(2027, 3, 1, tzinfo=UTC))
    assert on_the_wall(when) == "2027-03-28 03:30"
    daily = read("every day at 2:30 am", datetime(2027, 3, 27, 12, tzinfo=UTC))
    assert (on_the_wall(daily), daily.start.hour) == ("2027-03-28 03:30", 2)


def test_a_time_in_the_hour_that_comes_twice_comes_once_the_first_time() -> None:
    assert comes_twice(local("2026-10-25T02:30"), VIENNA)
    after = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert moments("FREQ=DAILY", "2026-01-01T02:30", after, 2) == [
        "25.10.2026 02:30 +0200", "26.10.2026 02:30 +0100"
    ]  # fmt: skip


def test_what_comes_by_elapsed_time_goes_on_through_both() -> None:
    after = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert moments("FREQ=HOURLY", "2026-10-24T00:00", after, 3) == [
        "25.10.2026 02:00 +0100", "25.10.2026 03:00 +0100", "25.10.2026 04:00 +0100"
    ]  # fmt: skip


def test_the_29th_of_february_is_the_28th_in_other_years() -> None:
    when = read("every year on 29 February at 8")
    assert moments(when.rule, when.start.isoformat(), NOW, 3) == [
        "28.02.2027 08:00 +0100", "29.02.2028 08:00 +0100", "28.02.2029 08:00 +0100"
    ]  # fmt: skip


ZONES = ("Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")
RULES = (
    "FREQ=DAILY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=HOURLY",
    "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1", "FREQ=MINUTELY;INTERVAL=90",
)  # fmt: skip


@settings(max_examples=examples(120), deadline=None)
@given(
    rule=st.sampled_from(RULES),
    zone=st.sampled_from(ZONES),
    start=st.datetimes(datetime(2026, 1, 1), datetime(2026, 6, 1)),
    days=st.integers(0, 300),
)
def test_each_moment_is_after_the_last_and_found_from_any_moment_between(
    rule: str, zone: str, start: datetime, days: int
) -> None:
    where, begun = ZoneInfo(zone), start.replace(second=0, microsecond=0)
    after = at_wall_time(begun, where) + timedelta(days=days)
    first = next_slot(rule, begun, where, after)
    assert first is not None
    second = next_slot(rule, begun, where, first)
    assert second is not None
    assert after < first < second
    between = first + (second - first) / 2
    assert next_slot(rule, begun, where, between) == second
    assert count_between(rule, begun, where, after, second, 10) == 2


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("every weekday except Wednesday at 8 standup", "every weekday except Wednesday at 8"),
        ("every day at 8 except Sundays to walk", "every day at 8 except Sundays to walk"),
        ("jeden Tag außer Sonntag um 8", "jeden Tag außer Sonntag um 8"),
        ("every 90 minutes between 9 and 17 to drink", "every 90 minutes between 9 and 17"),
        ("in three days or so to call", "in three days or so to call"),
        ("to call in three days, or so", "in three days, or so"),
    ],
)
def test_what_takes_a_part_of_a_time_away_is_refused_and_named(said: str, words: str) -> None:
    asked = request_of(f"remind me {said}")
    assert asked is not None
    assert asked.phrase is not None
    with pytest.raises(ReminderRefused, match="Silas cannot tell when") as refused:
        read_when(asked.phrase, NOW, VIENNA)
    assert f"“{words}”" in refused.value.message


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("every day at 8 remind me to take my pills", "take my pills"),
        ("tomorrow at nine, please remind me to call", "call"),
        ("jeden Tag um 8 erinnere mich an die Tabletten", "die Tabletten"),
        ("on Monday remind me what we said", None),
        ("in the meeting remind me to call", None),
        ("tomorrow remind me to call at nine", None),
        ("when it rains tomorrow remind me to call", None),
    ],
)
def test_the_time_may_be_said_first(said: str, text: str | None) -> None:
    asked = request_of(said)
    assert (asked and asked.text) == text
    assert asked is None or asked.phrase is not None
