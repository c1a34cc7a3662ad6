"""While the record is found changed, nothing that lasts comes of what is said or shown."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.agents.models import MemoryOp, MemoryOpType
from silas.autonomy.preferences import REPEATED
from silas.autonomy.signals import Signal
from silas.cards import Card
from silas.errors import Stopped
from silas.memory import MemoryItem, MemoryType
from silas.reminders.models import ReminderTime
from silas.stream.look_answers import LookAnswers
from silas.stream.look_permission import WorkspaceLooks
from silas.stream.session import Session
from silas.stream.turn_place import TurnPlace
from silas.testing import Harness, ScriptedChannel, ScriptedModel
from silas.types import TaintLevel
from silas.wiring.parts import Parts
from tests.stream.kit import direct, soon
from tests.support.changed_record import edit_record

CAT = "My cat is called Mitzi"
CHANGED = "The record was changed outside Silas"


class Beside(ScriptedChannel):
    """A channel that shows cards beside the conversation, as the cockpit does."""

    asks_beside = True


def first(card: Card[Any]) -> Any:
    """Yes to whatever is asked."""
    return card.actions[0].value


class House:
    """A running Silas that says yes to everything, and whose record may be edited."""

    def __init__(self, *answers: Any, answer: Callable[[Card[Any]], Any] = first) -> None:
        self.channel = Beside(answer)
        models = {"proxy": ScriptedModel(list(answers))}
        self.harness = Harness(
            self.channel,
            models=models,
            beside=self._beside,
            settings={"memory": {"promote_after_uses": 1}},
        )

    @asynccontextmanager
    async def _beside(self, parts: Parts, session: Session) -> AsyncGenerator[None]:
        del session
        self.parts = parts
        yield

    async def __aenter__(self) -> "House":
        await self.harness.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.harness.__aexit__(*error)

    def found_changed(self) -> None:
        edit_record(self.harness.config.data_dir / "silas.db")
        assert self.parts.audit.look()

    async def accept(self) -> None:
        """The owner looked: the record as it was is put back, and counts again."""
        edit_record(self.harness.config.data_dir / "silas.db", "chord.", "record.")
        await self.parts.audit.accept(await self.parts.audit.head())

    async def remembers(self, name: str, **fields: Any) -> MemoryItem:
        now = self.harness.clock.now()
        item = MemoryItem(
            memory_id=name,
            content=f"What {name} says",
            memory_type=MemoryType.fact,
            taint=TaintLevel.owner,
            created_at=now,
            updated_at=now,
            sources=("here",),
            **fields,
        )
        await self.harness.memory.store(item)
        return item

    async def says(self, words: str) -> str:
        return (await soon(self.harness.silas.ask(words))).text


def op(what: MemoryOpType, **fields: Any) -> MemoryOp:
    return MemoryOp(op=what, **fields)


async def test_no_reminder_is_made_or_moved_and_one_may_be_cancelled() -> None:
    async with House() as house:
        assert "09:00" in await house.says("remind me tomorrow at nine to drink tea")
        house.found_changed()
        shown = len(house.channel.cards)
        for words in (
            "remind me tomorrow at ten to drink coffee",
            "move the tea reminder to tomorrow at eleven",
        ):
            said = await house.says(words)
            assert CHANGED in said
            assert "No reminder was made or changed" in said
        assert len(house.channel.cards) == shown  # nobody is asked for what would be refused
        (waiting,) = house.parts.reminders().waiting()
        assert "09:00" in await house.says("list my reminders")
        when = ReminderTime(waiting.due, waiting.zone, waiting.start)
        for refused in (
            lambda: house.parts.reminders().make("coffee", when, "here"),
            lambda: house.parts.reminder_service().move(waiting, when),
        ):
            with pytest.raises(Stopped):
                refused()
        assert "Cancelled" in await house.says("cancel the tea reminder")


async def test_nothing_is_remembered_or_rewritten_and_what_is_known_may_be_forgotten() -> None:
    ops = [
        op(MemoryOpType.store, content=CAT, memory_type=MemoryType.fact),
        op(MemoryOpType.update, memory_id="mem-1", content=CAT),
        op(MemoryOpType.link, memory_id="mem-1", link_to="mem-2", link_type="caused_by"),
    ]
    forget = direct("Gone.", memory_ops=[op(MemoryOpType.delete, memory_id="mem-2")])
    async with House(direct("Kept.", memory_ops=ops), forget) as house:
        store = house.harness.memory
        before = [await house.remembers(name) for name in ("mem-1", "mem-2")]
        house.found_changed()
        assert f"Not remembered: {CHANGED}" in await house.says(CAT)
        assert [await store.get(item.memory_id) for item in before] == before
        found = await house.parts.context_services.remembered.store.search_keyword(CAT, 10)
        assert [item for item in found if item.source_kind == "memory_op"] == []
        await house.says("forget the second one")
        assert await store.get("mem-2") is None


async def test_no_habit_becomes_a_rule_and_the_owner_is_asked_once_he_has_looked() -> None:
    async with House() as house:
        review, rules = house.parts.context_services.review, house.harness.memory.rules
        for _ in range(REPEATED):
            await review.note_signal(Signal("tool:web_fetch", "declined"))
        house.found_changed()
        await review.heartbeat()
        await soon(review.wait_until_shown())
        assert house.channel.cards == []
        assert list(await rules()) == []
        await house.accept()
        await review.heartbeat()
        await soon(review.wait_until_shown())
        assert len(house.channel.cards) == len(await rules()) == 1


async def test_a_yes_given_while_the_change_is_found_makes_no_rule() -> None:
    def found(card: Card[Any]) -> Any:
        house.found_changed()
        return card.actions[0].value

    house = House(answer=found)
    async with house:
        review = house.parts.context_services.review
        for _ in range(REPEATED):
            await review.note_signal(Signal("tool:web_fetch", "declined"))
        await review.heartbeat()
        await soon(review.wait_until_shown())
        assert len(house.channel.cards) == 1
        assert list(await house.harness.memory.rules()) == []


async def test_memories_are_not_tidied_and_no_often_used_one_is_confirmed() -> None:
    async with House() as house:
        often = await house.remembers("mem-1", access_count=3)
        house.found_changed()
        with pytest.raises(Stopped):
            await house.parts.context_services.remembered.consolidator.run_once()
        assert house.channel.cards == []
        assert await house.harness.memory.get("mem-1") == often


async def test_a_yes_given_while_the_change_is_found_confirms_no_memory() -> None:
    def found(card: Card[Any]) -> Any:
        house.found_changed()
        return card.actions[0].value

    house = House(answer=found)
    async with house:
        often = await house.remembers("mem-1", access_count=3)
        with pytest.raises(Stopped):
            await house.parts.context_services.remembered.consolidator.run_once()
        assert len(house.channel.cards) == 1
        assert await house.harness.memory.get("mem-1") == often


@pytest.mark.parametrize("when", ["before", "while it is asked"])
async def test_no_model_elsewhere_is_newly_let_look_at_a_directory(
    tmp_path: Path, when: str
) -> None:
    def answer(card: Card[Any]) -> Any:
        if when != "before":
            house.found_changed()
        return card.actions[0].value

    house = House(answer=answer)
    async with house:
        parts = house.parts
        answers = LookAnswers(parts.db, parts.runtime.clock)
        looks = WorkspaceLooks(
            lambda: "a model",
            answers,
            house.channel,
            parts.audit,
            parts.runtime.clock,
            lambda _: "",
        )
        if when == "before":
            house.found_changed()
        stays = TurnPlace(asyncio.Lock(), leaves=False)
        why = await looks.of(str(tmp_path), "what is here?", "", stays.aside).refusal(".")
        assert why.startswith(f"Nothing was looked at. {CHANGED}")
        assert len(house.channel.cards) == (when != "before")
        assert answers.of(str(tmp_path), "a model") is None
