"""How often a goal ran and when it runs next, told by code and in view of a model (spec 5.2.3)."""

import re
from pathlib import Path

from silas.context import TokenCounter
from silas.goals.models import Outcome
from silas.language import speak
from silas.testing import Harness, ScriptedChannel, ScriptedModel
from silas.testing.clock import MockClock
from tests.goals.kit import (
    HALF_AN_HOUR,
    NAME,
    START,
    WATCHED,
    Watched,
    after,
    goal_text,
    house,
    until,
    yes,
)
from tests.stream.kit import direct, proposing, soon, to_planner

ASKED = (
    f"how often has {WATCHED} run?",
    f"How many times has the goal {WATCHED} run so far?",
    f"when does {WATCHED} run next?",
    f"wie oft ist das Ziel {WATCHED} gelaufen?",
    f"wie oft lief {WATCHED} bisher?",
    f"wann läuft {WATCHED} das nächste Mal?",
    "how often has it run?",
    "when does it run next?",
    "wie oft lief es?",
    "wann läuft es wieder?",
)
BLOCK = "--- goals | live ---"


async def _says(h: Harness, said: str) -> str:
    return (await soon(h.silas.ask(said))).text


async def test_how_often_a_goal_ran_is_answered_from_what_it_did() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        without = await _says(h, "how often has it run?")
        assert without.startswith("Nothing runs by itself: there is no goal. Say when, ")
        await h.silas.run(goal_text())
        assert (await _says(h, ASKED[0])).startswith(f"{NAME} did not run yet. It runs next on ")
        await after(watched, clock, HALF_AN_HOUR, 1)
        told = await _says(h, ASKED[0])
        assert told.startswith(f"{NAME} ran once, on Tuesday 24 November 2026, ")
        watched.good = False
        fixed, _ = await after(watched, clock, HALF_AN_HOUR, 2)
        assert fixed.outcome is Outcome.fixed
        for said in ASKED:
            told = await _says(h, said)
            assert told.startswith(f"{NAME} ran 2 times since Tuesday 24 November 2026, "), said
            assert ": 1 × all is well, 1 × fixed. The last time was " in told
            assert "It runs next on Tuesday 24 November 2026, " in told
            assert "Your yes: used 1 of 20, until " in told
        assert (await _says(h, "how often has goal nope run?")).startswith("There is no goal")
        speak("de")
        assert (await _says(h, "wie oft lief es?")).startswith("„Watch the state“ lief 2-mal seit ")


async def test_one_of_several_goals_is_not_guessed() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        await h.silas.run(goal_text(id="goal-other", title="Another"))
        assert (await _says(h, "how often has it run?")).startswith("There are several goals: ")
        assert (await _says(h, "how often has goal-other run?")).startswith("“Another” did not")


def _goals(model: ScriptedModel) -> str:
    return model.requests[-1].text.partition(BLOCK)[2].partition("--- end")[0].strip()


async def test_a_model_sees_how_often_each_goal_ran(tmp_path: Path) -> None:
    proxy = ScriptedModel([direct("Often.") for _ in range(6)])
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    home = tmp_path / "home"
    home.mkdir()
    async with Harness(
        channel,
        clock=clock,
        sandbox=watched.sandbox,
        home=home,
        models={"proxy": proxy},
        beside=watched.beside,
    ) as h:
        question = "Tell me how it goes with what you look after."
        await _says(h, question)
        assert BLOCK not in proxy.requests[-1].text
        await h.silas.run(goal_text())
        await after(watched, clock, HALF_AN_HOUR, 1)
        watched.good = False
        await after(watched, clock, HALF_AN_HOUR, 2)
        await _says(h, question)
        told = _goals(proxy)
        assert told.startswith(f'{WATCHED} "Watch the state": repaired; next 2026-11-24 ')
        assert "; ran 2 times since 2026-11-24 " in told
        assert " (1 healthy, 1 fixed), last 2026-11-24 " in told
        assert "; may start work 20 times by itself until 2026-12-24 " in told
        assert ", 1 of them used" in told
        assert TokenCounter().count(told) < 120
        h.silas.pause(WATCHED)
        await _says(h, question)
        assert f'{WATCHED} "Watch the state": paused; ran 2 times' in _goals(proxy)
        for number in range(5):
            await h.silas.run(goal_text(id=f"goal-{number}", title="Another"))
        await _says(h, question)
        *lines, last = _goals(proxy).splitlines()
        assert [line.partition(" ")[0] for line in lines] == [f"goal-{n}" for n in (4, 3, 2, 1)]
        assert last == "and more; `silas goals list` shows them"


async def test_a_moment_that_is_past_leaves_the_view() -> None:
    proxy = ScriptedModel([direct("Once."), direct("Over.")])
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with Harness(
        channel,
        clock=clock,
        sandbox=watched.sandbox,
        models={"proxy": proxy},
        beside=watched.beside,
    ) as h:
        await h.silas.run(goal_text(schedule="2026-11-24T10:00+01:00"))
        await _says(h, "What is to come, all in all?")
        assert _goals(proxy).startswith(f'{WATCHED} "Watch the state": active; next 2026-11-24 10:')
        await after(watched, clock, 2 * 3600, 1)
        await _says(h, "And what is to come now?")
        assert BLOCK not in proxy.requests[-1].text


async def test_a_goal_that_a_model_writes_without_an_id_is_named_as_a_goal() -> None:
    """So that `how often has goal-... run?` and "pause goal-..." are understood."""
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    written = re.sub(r"(?m)^id: .*\n", "", goal_text())
    proxy, planner = (
        ScriptedModel([to_planner(), direct("Well.")]),
        ScriptedModel([proposing(written)]),
    )
    async with Harness(
        channel,
        clock=clock,
        sandbox=watched.sandbox,
        models={"proxy": proxy, "planner": planner},
        beside=watched.beside,
    ) as h:
        await _says(h, "Watch the state every half hour.")
        await until(lambda: bool(watched.goals.store.all()))
        (goal,) = watched.goals.store.all()
        assert goal.id.startswith("goal-watch-the-state-")
        told = await _says(h, f"how often has {goal.id} run?")
        assert told.startswith(f"{NAME} did not run yet.")
        await _says(h, "Tell me how it goes with what you look after.")
        seen = proxy.requests[-1].text
        block = seen.partition(f"work item {goal.id}: ")[2].partition("--- end")[0]
        assert "\nstatus: healthy\n" in block
        assert "pending" not in block
