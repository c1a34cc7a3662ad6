"""The benchmark over conversations of others counts as it says, and runs without them, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import long_talks, memory


def test_recall_is_the_share_of_evidence_among_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    said = ["Did you go to Lisbon?", "Yes, in spring.", "I play the cello.", "It snowed."]
    turn = {"session": 1, "date": "1:56 pm on 8 May, 2023", "caption": None}
    turns = [{**turn, "id": f"D1:{n}", "speaker": "Ann", "text": t} for n, t in enumerate(said)]
    asked: list[dict[str, Any]] = [
        {"question": "Who plays the cello?", "category": "one", "evidence": ["D1:2"]},
        {"question": "Who was in Lisbon?", "category": "two", "evidence": ["D1:0", "D9:9"]},
        {"question": "Who was on the moon?", "category": "none", "evidence": []},
    ]
    talk: dict[str, Any] = {"id": "1", "speakers": ["Ann"], "turns": turns, "questions": asked}
    (tmp_path / "1.json").write_text(json.dumps(talk))
    monkeypatch.setattr(memory, "LOCOMO", tmp_path)
    (outcome,) = memory.outcomes(memory.conversations())
    by_words = [each for each in outcome.asked if each.channel == memory.WORDS]
    assert [(each.kind, each.recall) for each in by_words] == [
        ("one", (1.0, 1.0)),
        ("two", (0.5, 0.5)),
    ]
    assert memory.main(["--words"]) == 0
    assert "0.750" in capsys.readouterr().out


def test_without_the_conversations_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(memory, "LOCOMO", tmp_path / "nowhere")
    assert memory.main([]) == 0
    assert "skipped: LoCoMo's conversations are not at" in capsys.readouterr().out


def test_in_long_messages_no_less_is_found_than_by_the_plain_channel(tmp_path: Path):
    """Messages of hundreds of words, most words of a question in hundreds of them."""
    asked = [
        each
        for outcome in memory.outcomes([long_talks.generated(number) for number in range(4, 8)])
        for each in outcome.asked
    ]
    found = {
        channel: [sum(each.recall[k] for each in asked if each.channel == channel) for k in (0, 1)]
        for channel in (memory.WORDS, memory.PLAIN)
    }
    assert found[memory.WORDS][0] >= found[memory.PLAIN][0] > 0
    assert found[memory.WORDS][1] >= found[memory.PLAIN][1]


def test_a_generated_conversation_is_the_same_each_time():
    assert long_talks.generated(1, messages=60, asked=6) == long_talks.generated(
        1, messages=60, asked=6
    )
