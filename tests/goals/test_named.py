"""A goal is named by words of its title, in a message and in a command (5.2.3)."""

from collections.abc import Set
from pathlib import Path

import pytest

from silas.goals.goal_names import GoalName, goals_named
from silas.goals.models import GoalRefused, GoalState
from silas.language import speak
from silas.services.mcp_server import Services
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import START, WATCHED, Watched, goal_text, house, yes
from tests.stream.kit import soon
from tests.support.command import environment, run, silas

TITLE = "Move pdf files from Downloads to Papers"
OTHER = GoalName("goal-other", "Tell me what changed in Downloads")
THERE = (GoalName(WATCHED, TITLE), OTHER)

PAUSES = (
    "pause the pdf goal",
    "Pause the goal “Move pdf files”.",
    "stop the goal about PDFs",
    "delete the goal called move pdf files from Downloads to Papers",
    "cancel my pdf goal",
    "stop moving pdf files",
    "stop moving the pdfs from my downloads any more",
    "don't move the pdfs any more",
    "do not move pdf files to Papers again!",
    "hör auf, pdf move papers",
    "pausiere das Ziel „Move pdf files“",
    "lösche das Ziel pdf",
    "halte mein Ziel pdf an",
)
TELLS_RUNS = (
    "when does the pdf goal run next?",
    "when do you move the pdfs next?",
    "how often did you move the pdfs so far?",
    "wann läuft das Ziel pdf wieder?",
)

ASKS_HOW = (
    "how does the pdf goal stand?",
    "How does the goal “move pdf files” stand?",
    "wie steht es um das Ziel pdf?",
)


async def _says(h: Harness, said: str) -> str:
    return (await soon(h.silas.ask(said))).text


@pytest.mark.parametrize(
    ("which", "found"),
    [
        (WATCHED, {WATCHED}),
        ("GOAL-WATCHED", {WATCHED}),
        ("moving the pdfs", {WATCHED}),
        ("pdf", {WATCHED}),
        ("downloads", {WATCHED, "goal-other"}),
        ("telling me what changed", {"goal-other"}),
        ("the goal of my", frozenset[str]()),
        ("", frozenset[str]()),
        ("pdf files from home", frozenset[str]()),
        ("paper moon", frozenset[str]()),
    ],
)
def test_which_goal_is_meant(which: str, found: "Set[str]") -> None:
    assert {one.id for one in goals_named(which, THERE)} == found


async def test_the_owner_pauses_and_asks_about_a_goal_by_words_of_its_title() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(title=TITLE))
        for said in PAUSES:
            told = await _says(h, said)
            assert told.startswith(f"“{TITLE}” is paused: nothing of it begins until you "), said
            assert watched.goals.get(WATCHED).state is GoalState.paused
            watched.goals.resume(WATCHED)
        for said in TELLS_RUNS:
            assert (await _says(h, said)).startswith(f"“{TITLE}” did not run yet. It runs "), said
        assert (await _says(h, "how is the pdf goal doing?")).startswith(f"“{TITLE}” ")
        watched.goals.pause(WATCHED)
        told = await _says(h, "resume the pdf goal")
        assert told.startswith(f"Words only ever make it less, so “{TITLE}” stays as it is; ")
        assert watched.goals.get(WATCHED).state is GoalState.paused
        assert len(channel.cards) == 1
        speak("de")
        watched.goals.resume(WATCHED)
        told = await _says(h, "verschiebe die pdf files nicht mehr")
        assert "I do not" not in told
        told = await _says(h, "stoppe das Ziel pdf")
        assert told.startswith(f"„{TITLE}“ ist pausiert: "), told


async def test_what_fits_no_goal_or_several_changes_none() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(title=TITLE))
        await h.silas.run(goal_text(id=OTHER.id, title=OTHER.title))
        told = await _says(h, "pause the dog goal")
        assert told.startswith("No goal that runs or is paused is called “dog”. ")
        told = await _says(h, "pause the downloads goal")
        assert told.startswith("“downloads” fits 2 goals; say more of the title, or the id: “")
        assert f"“{TITLE}” ({WATCHED})" in told
        # words that do not say that they are about a goal are of another kind then
        for said in ("stop singing so loudly", "don't forget the milk again", "when do you sleep?"):
            assert "goal" not in (await _says(h, said)).partition("\n")[0], said
        assert {one.state for one in watched.goals.store.all()} == {GoalState.active}


def _two_goals(tmp_path: Path) -> dict[str, str]:
    """The environment of a home that has both."""
    place, env = tmp_path / "place", environment(tmp_path / "home")
    place.mkdir()
    assert run(silas("init"), env).code == 0
    for number, title in ((1, TITLE), (2, OTHER.title)):
        plan = tmp_path / f"{number}.md"
        plan.write_text(goal_text(id=f"goal-{number}", title=title, workspace=str(place)))
        approved = run(silas("plan", "check", plan), env).out.split()[-1]
        assert run(silas("run", plan, "--approve", approved), env).code == 0
    return env


def test_a_command_takes_words_of_the_title(tmp_path: Path) -> None:
    env = _two_goals(tmp_path)
    assert run(silas("goals", "pause", "pdf"), env).out == "Paused goal-1.\n"
    assert run(silas("goals", "show", "move pdf files"), env).out.startswith("id: goal-1\n")
    assert run(silas("goals", "resume", "moving pdfs"), env).out.startswith("Resumed goal-1; next")
    assert run(silas("goals", "next", "what changed"), env).code == 0
    assert run(silas("goals", "history", "what changed"), env).code == 0
    several = run(silas("goals", "pause", "downloads"), env)
    assert "“downloads” fits 2 goals; say more of the title, or the id: “" in several.err
    none = run(silas("goals", "run", "dog"), env)
    assert (none.code, "There is no goal 'dog'" in none.err) == (2, True)


async def test_a_goal_is_called_by_its_title_and_an_id_only_tells_two_of_one_title_apart() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    may = ("what may you do on your own?", "Was darfst du von selbst?")
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(title=TITLE))
        for said in (*may, *ASKS_HOW, *TELLS_RUNS, f"how does goal {WATCHED} stand?"):
            told = await _says(h, said)
            assert f"“{TITLE}”" in told, said
            assert WATCHED not in told, said
        speak("de")
        for said in (*may, *ASKS_HOW, *TELLS_RUNS):
            told = await _says(h, said)
            assert f"„{TITLE}“" in told, said
            assert WATCHED not in told, said
        speak("en")
        await h.silas.run(goal_text(id=OTHER.id, title=TITLE.upper()))
        told = await _says(h, may[0])
        assert f"- “{TITLE}” ({WATCHED}): " in told
        assert f"- “{TITLE.upper()}” ({OTHER.id}): " in told
        told = await _says(h, "how does the pdf goal stand?")
        assert f"“{TITLE}” ({WATCHED})" in told


async def test_words_of_the_title_narrow_and_take_back_a_yes_and_several_change_none() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(title=TITLE))
        await h.silas.run(goal_text(id=OTHER.id, title=OTHER.title))
        told = await _says(h, "narrow the approval of moving the pdfs to 3 uses")
        assert told.startswith(f"“{TITLE}” may start its work 3 times more ")
        for said in (
            "revoke the approval for downloads",
            "begrenze die Freigabe von downloads auf 2",
        ):
            assert "“downloads” fits 2 goals" in await _says(h, said)
        assert len((await h.silas.ahead(1)).alone) == 2
        told = await _says(h, "nimm die Freigabe für das Ziel „what changed“ zurück")
        assert told.startswith(f"Taken back: nothing more of “{OTHER.title}” begins")
        assert [one.id for one in (await h.silas.ahead(1)).alone] == [WATCHED]
        told = await _says(h, "take back the approval of the dog")
        assert "There is no approval for 'the dog'" in told or "for 'dog'" in told


async def test_a_client_pauses_a_goal_by_words_of_its_title() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(title=TITLE))
        await h.silas.run(goal_text(id=OTHER.id, title=OTHER.title))
        offers = {one.name: one for one in Services(h.silas, h.silas.ahead).offers()}
        with pytest.raises(GoalRefused, match="fits 2 goals"):
            await offers["pause_goal"].answer({"id": "downloads"})
        told = await offers["pause_goal"].answer({"id": "moving the pdfs"})
        assert told.startswith(f"“{TITLE}” is paused; ")
        assert watched.goals.get(WATCHED).state is GoalState.paused
        assert watched.goals.get(OTHER.id).state is GoalState.active


def test_the_terminal_narrows_and_takes_back_a_yes_by_words_of_the_title(tmp_path: Path) -> None:
    env = _two_goals(tmp_path)
    narrowed = run(silas("approvals", "narrow", "moving the pdfs", "--uses", "2"), env)
    assert narrowed.out.startswith(f"“{TITLE}” may start its work 2 times more "), narrowed.err
    for command in (("narrow", "downloads", "--uses", "1"), ("revoke", "downloads")):
        several = run(silas("approvals", *command), env)
        assert several.code != 0
        assert "“downloads” fits 2 goals" in several.err
    taken = run(silas("approvals", "revoke", "what changed"), env)
    assert taken.out.startswith(f"Taken back: goal-2  {OTHER.title}. "), taken.err
    none = run(silas("approvals", "revoke", "dog"), env)
    assert (none.code, "There is no approval for 'dog'" in none.err) == (2, True)


async def test_two_goals_of_one_prepared_plan_are_told_apart_by_their_files(
    tmp_path: Path,
) -> None:
    (folder := tmp_path / "Downloads").mkdir()
    for name in ("a.pdf", "b.jpg"):
        (folder / name).write_bytes(b"x")
    async with Harness(ScriptedChannel(yes), clock=MockClock(START)) as h:
        goals = dict[str, str]()
        for kind in ("pdf", "jpg"):
            said = f"every morning move all {kind} files to Papers"
            reply = await soon(h.silas.ask(said, workspace=folder))
            assert reply.plan is not None, reply.text
            goals[kind] = reply.plan.id
        told = await _says(h, "pause the papers goal")
        assert " fits 2 goals; say more of the title, or the id: " in told
        assert all(one in told for one in goals.values())
        told = await _says(h, "pause the pdf goal")
        assert f"({goals['pdf']}) is paused: " in told, told
        assert goals["jpg"] not in told
        told = await _says(h, "when does the jpg goal run next?")
        assert f"({goals['jpg']}) did not run yet" in told, told
