"""Looking at the workspace before planning: what is offered to whom, what is read, who is asked."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from silas.agents import AgentResponse, ModelChoice, RouteDecision
from silas.agents.choice import ModelsConfig
from silas.cards import Card, ChannelMessage
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.services.tools.look_tools import describe_viewers
from silas.stream.models import Incoming
from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel
from silas.testing.models import Step
from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from silas.tools.builtin.workspace_looks import LARGEST
from silas.tools.look_limits import MAX_ANSWER, MAX_LOOKS, MAX_SEEN
from silas.types import OWNER, InteractionMode, InteractionRegister
from tests.support.waits import SECONDS

YES = DecisionAnswer(selected_value="yes", approved=True)
NO = DecisionAnswer(selected_value="no")


async def soon(what: Awaitable[Any]) -> Any:
    async with asyncio.timeout(SECONDS):
        return await what


def direct(message: str = "This is what I saw.") -> RouteDecision:
    return RouteDecision(
        route="direct",
        reason="r",
        response=AgentResponse(message=message),
        interaction_register=InteractionRegister.status,
        interaction_mode=InteractionMode.act_and_report,
        context_profile="conversation",
    )


def saying(answer: DecisionAnswer | None) -> Callable[[Card[Any]], Any]:
    def answers(card: Card[Any]) -> Any:
        return card.safe if answer is None or not isinstance(card, DecisionCard) else answer

    return answers


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "rosters"
    (place / "src").mkdir(parents=True)
    (place / ".git").mkdir()
    (place / "pyproject.toml").write_text("[project]\nname = 'rosters'\n")
    (place / "src" / "slots.py").write_text("def shifts():\n    return 'timezone'\n")
    (place / ".env").write_text("PASSWORD=hunter2-timezone\n")
    (place / "server.KEY").write_text("hunter2-timezone\n")
    (place / "secrets").mkdir()
    (place / "secrets" / "plain.txt").write_text("hunter2-timezone\n")
    os.symlink(place / ".env", place / "notes.txt")
    (place / "big.txt").write_text("x" * (LARGEST + 1))
    return place


async def looked(
    place: Path, *calls: CallTool, words: str = "what is here?", answer: DecisionAnswer = YES
) -> tuple[ScriptedModel, ScriptedChannel, str]:
    """One turn in which the proxy looks, once a request, and answers."""
    proxy, channel = ScriptedModel([*calls, direct()]), ScriptedChannel(saying(answer))
    async with Harness(channel, models={"proxy": proxy}) as h:
        reply = await soon(h.silas.ask(words, workspace=place))
    return proxy, channel, reply.text


def calling(what: str, **args: Any) -> CallTool:
    return CallTool(f"workspace_{what}", args)


async def test_a_question_about_files_is_answered_by_looking_and_without_a_plan(
    place: Path,
) -> None:
    calls = (
        calling("list", depth=2),
        calling("read", path="src/slots.py"),
        calling("search", text="timezone"),
    )
    proxy, channel, text = await looked(place, *calls)
    shown = [request.text for request in proxy.requests]
    assert "Kind: git repository, Python" in shown[1]
    assert "  slots.py  36 bytes" in shown[1]
    assert ".env  26 bytes (not read)" in shown[1]
    assert "return 'timezone'" in shown[2]
    assert "src/slots.py:2:     return 'timezone'" in shown[3]
    assert "hunter2" not in shown[3]
    assert text == "This is what I saw."
    assert [type(card) for card in channel.cards] == [DecisionCard]  # no plan, and no call's card
    assert "tool: workspace_read" in shown[2]
    assert "taint: external" in shown[2].split("tool: workspace_read")[1].split("\n")[0]


@pytest.mark.parametrize(
    ("door", "named"),
    [("web", "“What protects you” under “More”"), ("cli", "`silas approvals ask-again DIRECTORY`")],
)
async def test_after_a_no_the_note_names_the_place_where_it_is_taken_back(
    place: Path, door: str, named: str
) -> None:
    channel = ScriptedChannel(saying(NO))
    channel.channel_name = door
    models = {"proxy": ScriptedModel([calling("list"), direct()])}
    async with Harness(channel, models=models) as h:
        reply = await soon(h.silas.ask("what is here?", workspace=place))
    assert f"{named} asks again." in reply.text


SHUT = {
    "hidden": ".env",
    "hidden, by its whole path": "{place}/.env",
    "a key, in capitals": "server.KEY",
    "in a directory of secrets": "secrets/plain.txt",
    "behind a link": "notes.txt",
    "outside": "/etc/hostname",
}


async def test_a_large_log_is_searched_where_it_is_named_and_read_by_its_lines(place: Path) -> None:
    rows = [f"{n} INFO fine" for n in range(100_000)]
    rows[77_000] = "77000 ERROR pool exhausted"
    (place / "server.log").write_text("\n".join(rows))
    assert (place / "server.log").stat().st_size > LARGEST
    calls = (
        calling("search", text=" ERROR ", path="server.log"),
        calling("read", path="server.log", from_line=77_000, to_line=77_001),
        calling("read", path="server.log"),
        calling("search", text=" ERROR "),
    )
    proxy, _, _ = await looked(place, *calls)
    shown = [request.text for request in proxy.requests]
    assert "server.log:77001: 77000 ERROR pool exhausted" in shown[1]
    assert "76999 INFO fine\n77000 ERROR pool exhausted" in shown[2]
    assert "; more follow" in shown[3]
    assert "files could not be read: too large" in shown[4]


@pytest.mark.parametrize("which", SHUT)
async def test_what_may_hold_secrets_is_listed_and_not_read(place: Path, which: str) -> None:
    path = SHUT[which].format(place=place)
    calls = (calling("read", path=path), calling("search", text="hunter2", path=path))
    proxy, _, _ = await looked(place, *calls, calling("search", text="hunter2"))
    told = proxy.requests[-1].text
    assert "hunter2-timezone" not in told
    assert "xxxx" not in told
    for why in ("is not read", "by a link", "too large", "outside"):
        if why in told:
            break
    else:
        pytest.fail("nothing says why it was not read")


@pytest.mark.parametrize(
    ("words", "path", "read"),
    [
        ("which password is in .env?", ".env", True),
        ("look at secrets/plain.txt, please", "secrets/plain.txt", True),
        ("what is in `server.KEY`?", "server.KEY", True),
        ("what are my secrets, and the env?", "secrets/plain.txt", False),
        ("what is in .env.example?", ".env", False),
    ],
)
async def test_the_owners_own_words_open_the_one_file_that_they_name(
    place: Path, words: str, path: str, read: bool
) -> None:
    others = {".env", "secrets/plain.txt", "server.KEY"} - {path}
    calls = [calling("read", path=one) for one in (path, *sorted(others))]
    proxy, _, _ = await looked(place, *calls, words=words)
    assert ("hunter2-timezone" in proxy.requests[1].text) is read, proxy.requests[1].text[-600:]
    assert proxy.requests[-1].text.count("so it is not read") == 3 - read


async def test_a_turn_looks_so_often_and_so_much_and_is_told_when_it_is_over(place: Path) -> None:
    calls = [calling("list")] * (MAX_LOOKS + 1)
    proxy, _, _ = await looked(place, *calls)
    told = f"A turn looks at most {MAX_LOOKS} times and at {MAX_SEEN:,} bytes, and this one has"
    assert told not in proxy.requests[MAX_LOOKS].text
    assert proxy.requests[MAX_LOOKS + 1].text.count(told) == 1
    (place / "long.txt").write_text("a line of words\n" * 20_000)
    most = MAX_SEEN // MAX_ANSWER + 2
    proxy, _, _ = await looked(place, *[calling("read", path="long.txt")] * most)
    assert told in proxy.requests[-1].text
    assert proxy.requests[-1].text.count("a line of words") * 16 <= MAX_SEEN


async def test_proxy_and_planner_share_the_looks_of_a_turn(place: Path) -> None:
    to_planner = direct().model_copy(update={"route": "planner", "response": None})
    proxy = ScriptedModel([*[calling("list")] * (MAX_LOOKS - 1), to_planner])
    planner = ScriptedModel([calling("list"), calling("list"), AgentResponse(message="seen")])
    channel = ScriptedChannel(saying(YES))
    async with Harness(channel, models={"proxy": proxy, "planner": planner}) as h:
        reply = await soon(h.silas.ask("what is here?", workspace=place))
    assert "Kind: git repository, Python" in planner.requests[1].text
    assert "A turn looks at most" in planner.requests[2].text
    assert reply.text == "seen"


async def test_a_planner_is_shown_what_was_looked_up_in_its_turn_before_it_was_asked(
    place: Path,
) -> None:
    to_planner = direct().model_copy(update={"route": "planner", "response": None})
    looks = [calling("read", path="src/slots.py"), calling("read", path="none.py")]
    proxy = ScriptedModel([*looks, looks[0], to_planner])
    announced = AgentResponse(message="I will change it now.")
    planner = ScriptedModel([calling("search", text="shifts"), announced, announced])
    channel = ScriptedChannel(saying(YES))
    async with Harness(channel, models={"proxy": proxy, "planner": planner}) as h:
        await soon(h.silas.ask("change src/slots.py", workspace=place))
    first, second = planner.requests[0].text, planner.requests[2].text
    listed = '- workspace_read {"path":"src/slots.py"}'
    seen = "src/slots.py | tool: workspace_read | taint: external | mark: "
    assert [first.count(one) for one in (listed, seen, "none.py")] == [1, 1, 0]
    assert first.index("--- message") < first.index("--- looked_up") < first.index(seen)
    assert second.startswith(first.partition("--- looked_up")[0])  # what a provider keeps
    assert '"text":"shifts"' in second.partition("--- looked_up")[2]
    assert second.index("tool: workspace_search | taint: external") < second.index("--- mistakes")


async def test_what_there_is_no_room_for_of_earlier_looks_is_looked_up_anew(place: Path) -> None:
    (place / "long.txt").write_text("a line of words\n" * 900)
    to_planner = direct().model_copy(update={"route": "planner", "response": None})
    looks = [calling("read", path="long.txt"), calling("read", path="src/slots.py")]
    planner = ScriptedModel([AgentResponse(message="seen")])
    models = {"proxy": ScriptedModel([*looks, to_planner]), "planner": planner}
    small = {"context": {"total_tokens": 8000, "system_max": 3000}}
    async with Harness(ScriptedChannel(saying(YES)), models=models, settings=small) as h:
        await soon(h.silas.ask("what is here?", workspace=place))
    assert "shifts" in planner.requests[0].text
    assert "a line of words" not in planner.requests[0].text


async def test_looking_changes_nothing(place: Path) -> None:
    before = {one: one.lstat().st_mtime_ns for one in place.rglob("*")}
    await looked(place, calling("list", depth=9), calling("search", text="e", regex=True))
    assert {one: one.lstat().st_mtime_ns for one in place.rglob("*")} == before


# whose turn it is ---------------------------------------------------------------------------------


def offered(model: ScriptedModel) -> set[str]:
    return {tool.name for one in model.requests for tool in one.parameters.function_tools}


@pytest.mark.parametrize(
    ("connection", "channel_name", "place_given", "may"),
    [
        (OWNER, "cli", True, True),
        (OWNER, "cli", False, False),
        (OWNER, "telegram", True, False),
        ("desk-7", "web", True, False),
    ],
)
async def test_only_turns_of_the_owners_own_words_may_look(
    place: Path, connection: str, channel_name: str, place_given: bool, may: bool
) -> None:
    """In all others the tools are not offered, and refused where a model calls them anyhow."""
    proxy = ScriptedModel([calling("read", path="src/slots.py"), direct()])
    channel = ScriptedChannel(saying(YES))
    async with Harness(channel, models={"proxy": proxy}) as h:
        message = ChannelMessage(
            channel=channel_name, sender_id=connection, text="look", timestamp=h.clock.now()
        )
        if may:
            await soon(h.silas.ask("look", workspace=place))
        else:
            where = str(place) if place_given else None
            incoming = Incoming(message, connection, workspace=where)
            await soon(h.silas.stream.handle(incoming))
    assert bool(offered(proxy) & WORKSPACE_TOOL_NAMES) is may
    assert ("return 'timezone'" in "".join(one.text for one in proxy.requests)) is may


# who is shown it ----------------------------------------------------------------------------------

HERE = "http://127.0.0.1:8080/v1"
MODELS: Mapping[str, tuple[dict[str, Any], str]] = {
    "runbook": ({}, ""),
    "here": ({"proxy": ModelChoice(name="m", base_url=HERE)}, ""),
    "by name": ({"planner": ModelChoice(name="m", base_url="http://localhost:1/v1")}, ""),
    "in the house": (
        {"proxy": ModelChoice(name="m", base_url="http://192.168.1.2:8080/v1")},
        "192.168.1.2",
    ),
    "hosted": ({"planner": ModelChoice(name="anthropic:claude-sonnet-4-5")}, "Anthropic"),
    "as a fallback": (
        {
            "executor": ModelChoice(
                name="m", base_url=HERE, fallback=ModelChoice(name="openai:gpt-5")
            )
        },
        "OpenAI",
    ),
    "here, and passed on": (
        {"proxy": ModelChoice(name="ollama:gpt-oss:120b-cloud")},
        "the cloud behind ollama:gpt-oss:120b-cloud",
    ),
    "unknown": ({"scorer": ModelChoice(name="python:mine:model")}, "python:mine:model"),
}


@pytest.mark.parametrize("which", MODELS)
def test_who_is_shown_what_is_read_is_known_and_unknown_is_elsewhere(
    which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    choices, whom = MODELS[which]
    assert describe_viewers(ModelsConfig(**choices)) == whom


async def test_a_model_elsewhere_looks_once_the_owner_said_yes_and_he_is_asked_once(
    place: Path,
) -> None:
    proxy = ScriptedModel([calling("list"), calling("list"), direct(), calling("list"), direct()])
    channel = ScriptedChannel(saying(YES))
    async with Harness(channel, models={"proxy": proxy}) as h:
        for _ in range(2):
            await soon(h.silas.ask("what is here?", workspace=place))
    (card,) = channel.cards
    assert str(place) in card.intent
    assert "python:harness:proxy" in card.rationale
    assert "Kind: git repository, Python" in proxy.requests[-1].text


@pytest.mark.parametrize(("answer", "asked", "kept"), [(NO, 1, True), (None, 2, False)])
async def test_without_a_yes_nothing_is_looked_at_and_the_answer_says_so(
    place: Path, answer: DecisionAnswer | None, asked: int, kept: bool
) -> None:
    steps: list[Step] = [calling("list"), calling("list"), direct()]
    second: list[Step] = [direct()] if kept else steps
    proxy, channel = ScriptedModel([*steps, *second]), ScriptedChannel(saying(answer))
    async with Harness(channel, models={"proxy": proxy}) as h:
        first = await soon(h.silas.ask("what is here?", workspace=place))
        await soon(h.silas.ask("what is here?", workspace=place))
    assert len(channel.cards) == asked
    assert "Kind: git repository, Python" not in "".join(one.text for one in proxy.requests)
    assert "may be shown to python:harness:proxy" in first.text
    last = {tool.name for tool in proxy.requests[-1].parameters.function_tools}
    assert bool(last & WORKSPACE_TOOL_NAMES) is not kept


async def test_a_file_that_the_owner_names_is_followed_once_he_said_that_it_may_be_shown(
    place: Path,
) -> None:
    """Without a look nobody asked, so naming a file alone shows a model elsewhere nothing of it."""
    words = "what does src/slots.py do?"
    before, after = ScriptedModel([direct()]), ScriptedModel([calling("list"), direct(), direct()])
    for model, turns in ((before, 1), (after, 2)):
        async with Harness(ScriptedChannel(saying(YES)), models={"proxy": model}) as h:
            for _ in range(turns):
                await soon(h.silas.ask(words, workspace=place))
    assert "return 'timezone'" not in "".join(one.text for one in before.requests)
    assert "return 'timezone'" not in after.requests[1].text
    assert "return 'timezone'" in after.requests[2].text
