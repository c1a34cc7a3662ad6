"""Batches in a whole Silas: what is moved is exactly what was approved, and by no model."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from silas.approval import ApprovalToken, Subject
from silas.audit.log import AuditLog
from silas.cards import Card, ChannelMessage
from silas.cards.models import BatchAnswer, BatchReviewCard, DecisionAnswer, DecisionCard
from silas.channels.text import parse_reply
from silas.errors import ApprovalError, Stopped
from silas.home.keyless import NoKey
from silas.stop import Sentinel
from silas.stream.models import Incoming
from silas.testing import Harness, ScriptedChannel, ScriptedModel
from silas.testing.clock import MockClock
from silas.types import OWNER
from silas.work.batches.execution import BatchExecution
from silas.work.batches.models import Band, BatchRefused
from silas.work.batches.proposals import batch_subject
from tests.batches.folders import NOW, PDF, PNG, listed, put

Answer = Callable[[Card[Any]], Any]


def yes(card: Card[Any]) -> Any:
    return card.actions[0].value


def rows(card: Card[Any]) -> list[str]:
    assert isinstance(card, BatchReviewCard)
    return [row.title.partition(". ")[2] for row in card.rows]


class Tidy:
    """A Silas whose models answer nothing, and a folder with three files."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(base))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(base / ".config"))
        self.home, self.place = base / "silas", base / "Downloads"
        self.home.mkdir()
        self.place.mkdir()
        self.clock = MockClock(NOW)
        for name, content in (("a.pdf", PDF), ("b.pdf", PDF + b"b"), ("c.png", PNG)):
            put(self.place, name, content)
        self.before = listed(self.place)

    def house(self, answer: Answer, **settings: Any) -> Harness:
        self.channel = ScriptedChannel(answer)
        model = ScriptedModel([])
        models = {"proxy": model, "planner": model, "executor": model}
        chosen = {"batch_review": {"default_size": 10, **settings}}
        return Harness(
            self.channel, models=models, clock=self.clock, home=self.home, settings=chosen
        )


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tidy:
    return Tidy(tmp_path, monkeypatch)


async def events(h: Harness) -> list[str]:
    log = AuditLog(h.db, MockClock(), NoKey())
    return [json.loads(entry.body)["event"] for entry in await log.entries(0, 1000)]


@pytest.mark.proves("S5.1.5-APPROVED-BATCHES-ONLY")
async def test_silence_moves_nothing(tidy: Tidy) -> None:
    async with tidy.house(lambda card: card.safe) as h:
        tidied = await h.silas.tidy(tidy.place)
        assert (tidied.moved, tidied.declined, listed(tidy.place)) == (0, 1, tidy.before)
        assert "approval.issued" not in await events(h)


async def test_a_yes_moves_exactly_what_the_card_shows(tidy: Tidy) -> None:
    async with tidy.house(yes) as h:
        tidied = await h.silas.tidy(tidy.place)
        (card,) = tidy.channel.cards
        assert rows(card) == ["c.png", "a.pdf", "b.pdf"]
        assert [item.move.name for item in tidied.batches[0].moved] == rows(card)
        assert set(listed(tidy.place)) == {"Documents/a.pdf", "Documents/b.pdf", "Pictures/c.png"}
        assert (await events(h)).count("approval.used") == 1


async def test_what_came_after_the_card_is_not_moved(tidy: Tidy) -> None:
    def late(card: Card[Any]) -> Any:
        put(tidy.place, "late.pdf", PDF)
        return yes(card)

    async with tidy.house(late) as h:
        await h.silas.tidy(tidy.place)
    assert "late.pdf" in listed(tidy.place)


async def test_what_changed_since_the_card_is_left_out_and_told(tidy: Tidy) -> None:
    def meanwhile(card: Card[Any]) -> Any:
        put(tidy.place, "b.pdf", b"%PDF something else")
        put(tidy.place, "Pictures/c.png", b"mine")
        return yes(card)

    async with tidy.house(meanwhile) as h:
        (batch,) = (await h.silas.tidy(tidy.place)).batches
    assert {one.name: one.why for one in batch.left} == {
        "b.pdf": "it changed since you were asked",
        "c.png": "something of that name is there already",
    }
    now = listed(tidy.place)
    assert (now["b.pdf"], now["Pictures/c.png"]) == (b"%PDF something else", b"mine")
    assert "Documents/a.pdf" in now


async def test_a_selection_is_asked_about_anew_and_nothing_else_is_moved(tidy: Tidy) -> None:
    def choosing(card: Card[Any]) -> Any:
        assert isinstance(card, BatchReviewCard)
        if len(card.item_ids) == 3:
            return BatchAnswer(verdict="edit_selection", selected_item_ids=card.item_ids[1:2])
        return yes(card)

    async with tidy.house(choosing) as h:
        await h.silas.tidy(tidy.place)
        first, second = tidy.channel.cards
        assert (rows(first), rows(second)) == (["c.png", "a.pdf", "b.pdf"], ["a.pdf"])
        assert (await events(h)).count("approval.issued") == 1
    assert set(listed(tidy.place)) == {"Documents/a.pdf", "b.pdf", "c.png"}


async def test_very_many_files_of_this_moment_get_one_sentence(tidy: Tidy) -> None:
    for name in ("a.pdf", "b.pdf", "c.png"):
        (tidy.place / name).unlink()
    for number in range(1001):
        put(tidy.place, f"{number}.pdf", b"", days=0)
    async with tidy.house(yes) as h:
        reply = await h.silas.ask(f"tidy {tidy.place}")
    assert reply.text.splitlines()[-1].startswith(
        f"{tidy.place} holds 1,001 files that changed within the last two minutes and may still be "
    )
    assert "say which, for example --only '*.pdf'." in reply.text
    assert "stays:" not in reply.text
    assert tidy.channel.cards == []


async def test_an_item_that_was_not_on_the_card_cannot_be_chosen(tidy: Tidy) -> None:
    strange = BatchAnswer(verdict="edit_selection", selected_item_ids=("elsewhere",))
    async with tidy.house(lambda _: strange) as h:
        tidied = await h.silas.tidy(tidy.place)
    assert (tidied.moved, listed(tidy.place)) == (0, tidy.before)


async def test_a_token_for_other_files_moves_nothing(
    tidy: Tidy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tidy.house(yes) as h:
        review = h.silas.tidying.review()
        plan = await review.plan(tidy.place)
        (all_three,) = review.batches(plan.folder, plan.moves, Band.high, 10)
        (other,) = review.batches(plan.folder, plan.moves[:1], Band.high, 10)
        really = h.approval.issue_token

        async def for_another(subject: Subject, *args: Any, **more: Any) -> ApprovalToken:
            del subject
            return await really(batch_subject(other), *args, **more)

        monkeypatch.setattr(h.approval, "issue_token", for_another)
        with pytest.raises(ApprovalError):
            await review.move(all_three)
    assert listed(tidy.place) == tidy.before


@pytest.mark.proves("S0.5.4-ANOMALIES-UNCHECKED", "S5.9-AFTER-POLICY")
async def test_each_band_has_its_own_question_and_none_moves_by_itself(tidy: Tidy) -> None:
    put(tidy.place, "invoice.pdf", b"MZ")
    put(tidy.place, "empty.txt")
    put(tidy.place, "thing.xyz", b"?")

    def answer(card: Card[Any]) -> Any:
        if isinstance(card, DecisionCard):
            wanted = "batch" if card.intent.startswith("Look at") else "Documents"
            return DecisionAnswer(selected_value=wanted, approved=True)
        return yes(card)

    async with tidy.house(answer) as h:
        await h.silas.tidy(tidy.place)
    cards = tidy.channel.cards
    kinds = [type(card).__name__ for card in cards]
    usual, unsure, attention, suspect, teaching, taught = cards
    assert kinds == [
        *("BatchReviewCard", "BatchReviewCard", "DecisionCard"),
        *("BatchReviewCard", "DecisionCard", "BatchReviewCard"),
    ]
    told = [
        (rows(card), {row.unusual for row in card.rows})
        for card in (usual, unsure, suspect, taught)
        if isinstance(card, BatchReviewCard)
    ]
    assert told == [
        (["c.png", "a.pdf", "b.pdf"], {False}),
        (["empty.txt"], {True}),
        (["invoice.pdf"], {True}),
        (["thing.xyz"], {False}),
    ]
    assert "begins as a program does" in attention.details[0].lines[0]
    assert teaching.intent == "Say where 1 file with .xyz goes"
    assert teaching.rationale.startswith("No rule knows it. ")
    assert attention.rationale.startswith("It is not what its name says; ")
    assert {"To check/invoice.pdf", "Documents/thing.xyz"} <= set(listed(tidy.place))


@pytest.mark.parametrize("reply", ["only 2", "1"])
async def test_a_mere_yes_moves_none_of_several_files_that_a_rule_may_be_wrong_about(
    tidy: Tidy, reply: str
) -> None:
    put(tidy.place, "empty.txt")
    put(tidy.place, "blank.txt")
    unclear: list[Any] = []

    def typed(card: Card[Any]) -> Any:
        if isinstance(card, BatchReviewCard) and card.rows[0].unusual:
            unclear.append(parse_reply(card, "yes"))
            return parse_reply(card, reply)
        return parse_reply(card, "yes")

    async with tidy.house(typed) as h:
        await h.silas.tidy(tidy.place)
    assert unclear == [None]
    moved = {"Documents/blank.txt", "Documents/empty.txt"} & set(listed(tidy.place))
    if reply == "1":  # "Move exactly these 2"
        assert len(moved) == 2
        return
    picked = tidy.channel.cards[-1]
    assert isinstance(picked, BatchReviewCard)
    assert [(row.unusual, len(picked.rows)) for row in picked.rows] == [(False, 1)]
    assert len(moved) == 1


async def test_after_two_declined_batches_it_ends_unless_the_owner_goes_on(tidy: Tidy) -> None:
    async with tidy.house(lambda card: card.safe, default_size=1) as h:
        tidied = await h.silas.tidy(tidy.place)
    assert [type(card).__name__ for card in tidy.channel.cards] == [
        *("BatchReviewCard", "BatchReviewCard", "DecisionCard")
    ]
    assert (tidied.declined, tidied.unseen) == (2, 1)


@pytest.mark.parametrize(
    "words",
    [
        "tidy my Downloads",
        "Räume bitte meine Downloads auf",
        "clean up my downloads folder!",
        "sort my downloads",
        "sort my Downloads by type",
        "sortiere meine Downloads nach Typ",
    ],
)
async def test_words_of_the_owners_begin_one_and_undo_it(tidy: Tidy, words: str) -> None:
    async with tidy.house(yes) as h:
        reply = await h.silas.ask(words)
        assert reply.text.startswith(f"Moved 3 files in {tidy.place}.")
        assert "silas batch undo batch-" in reply.text
        one = await h.silas.ask("undo file 1 of the last batch")
        assert "1 file back where they were" in one.text
        assert "c.png" in listed(tidy.place)
        two = await h.silas.ask("Mach Datei 2 vom letzten Stapel rückgängig")
        assert "1 file back where they were" in two.text
        assert "a.pdf" in listed(tidy.place)
        rest = await h.silas.ask("mach den letzten Stapel rückgängig")
        assert "1 file back where they were" in rest.text
    assert listed(tidy.place) == tidy.before


@pytest.mark.parametrize("words", ["clean up my downloads", "räum meine Downloads auf"])
async def test_where_the_home_has_no_such_folder_the_one_at_hand_is_meant(
    tidy: Tidy, words: str, tmp_path: Path
) -> None:
    at_hand = tmp_path / "work"
    at_hand.mkdir()
    async with tidy.house(yes) as h:
        first = await h.silas.ask(words, workspace=at_hand)
        assert first.text.startswith(f"Moved 3 files in {tidy.place}.")  # the home's goes first
        await h.silas.ask("undo the last batch")
        tidy.place.rename(at_hand / "Downloads")
        second = await h.silas.ask(words, workspace=at_hand)
    assert second.text.startswith(f"Moved 3 files in {at_hand / 'Downloads'}.")


async def test_the_answer_in_a_conversation_has_no_word_of_a_file(tidy: Tidy) -> None:
    put(tidy.place, "do as I say.pdf.part", b"x")

    def meanwhile(card: Card[Any]) -> Any:
        put(tidy.place, "b.pdf", b"%PDF something else")
        return yes(card)

    async with tidy.house(meanwhile) as h:
        reply = await h.silas.ask("tidy my Downloads")
    assert "  1 file stays: it changed since you were asked" in reply.text
    assert "1 file stays where it is" in reply.text
    assert "do as" not in reply.text
    assert ".pdf" not in reply.text


async def test_words_of_somebody_else_begin_none(tidy: Tidy) -> None:
    channel = ScriptedChannel(yes)
    async with Harness(channel, clock=tidy.clock, home=tidy.home) as h:
        message = ChannelMessage(
            channel="elsewhere", sender_id="x", text="tidy my Downloads", timestamp=NOW
        )
        await h.silas.stream.handle(Incoming(message, OWNER))
        await h.silas.stream.handle(Incoming(message, "guest"))
    assert not [card for card in channel.cards if isinstance(card, BatchReviewCard)]
    assert listed(tidy.place) == tidy.before


async def test_a_batch_is_taken_back_within_its_time_and_not_after(tidy: Tidy) -> None:
    async with tidy.house(yes) as h:
        (batch,) = (await h.silas.tidy(tidy.place)).batches
        assert batch.undo_until - tidy.clock.now() == timedelta(minutes=5)
        tidy.clock.advance(5 * 60)
        with pytest.raises(BatchRefused, match="The time to undo this batch ended"):
            await h.silas.tidying.review().undo(batch.batch_id)
    assert "Documents/a.pdf" in listed(tidy.place)


async def test_undo_overwrites_nothing_and_leaves_what_changed(tidy: Tidy) -> None:
    async with tidy.house(yes) as h:
        (_batch,) = (await h.silas.tidy(tidy.place)).batches
        put(tidy.place, "a.pdf", b"a new one")
        put(tidy.place, "Documents/b.pdf", b"edited")
        undone = await h.silas.undo_batch("last")
    assert {one.name: one.why for one in undone.left} == {
        "Documents/a.pdf": "something of that name is there already",
        "Documents/b.pdf": "it changed since it was moved",
    }
    now = listed(tidy.place)
    assert (now["a.pdf"], now["Documents/b.pdf"], now["c.png"]) == (b"a new one", b"edited", PNG)


async def test_a_stop_while_the_card_is_open_moves_nothing(tidy: Tidy) -> None:
    def stopping(card: Card[Any]) -> Any:
        Sentinel(h.config.data_dir).place()
        return yes(card)

    async with tidy.house(stopping) as h:
        with pytest.raises((Stopped, ApprovalError)):
            await h.silas.tidy(tidy.place)
    assert listed(tidy.place) == tidy.before


async def test_every_opening_finds_out_what_a_crash_left(
    tidy: Tidy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise InterruptedError  # after the files were moved, before that is written down

    async with tidy.house(yes) as h:
        with monkeypatch.context() as broken:
            broken.setattr(BatchExecution, "_record_end", die)
            with pytest.raises(InterruptedError):
                await h.silas.tidy(tidy.place)
    assert "Documents/a.pdf" in listed(tidy.place)
    async with tidy.house(yes) as h:
        (kept,) = h.silas.tidying.review().execution.newest()
        assert [item.state.value for item in kept.items] == ["moved"] * 3
        assert "batch_recovered" in await events(h)
        await h.silas.tidying.review().undo("last")
    assert listed(tidy.place) == tidy.before


@pytest.mark.parametrize("said", ["undo all batches", "Mach bitte alle Stapel rückgängig."])
async def test_every_batch_goes_back_on_one_sentence(tidy: Tidy, said: str) -> None:
    for number in range(52):
        put(tidy.place, f"more-{number}.txt", f"{number}".encode())
    before = listed(tidy.place)
    async with tidy.house(yes, default_size=1) as h:
        await h.silas.tidy(tidy.place)
        assert len(h.silas.tidying.review().execution.newest()) == 55  # none is out of reach
        reply = await h.silas.ask(said)
        assert "55 files back where they were" in reply.text
        assert listed(tidy.place) == before
        assert "nothing to undo" in (await h.silas.ask(said)).text
