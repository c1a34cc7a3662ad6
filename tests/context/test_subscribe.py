"""Files, lines and questions to memory that are followed (spec 3.5, ADR-016)."""

from typing import Any

import pytest

from silas.context import (
    ContextError,
    ContextSubscription,
    ContextZone,
    FoundMemory,
    sections,
)
from silas.types import TaintLevel
from tests.context.kit import NOW, A, B, Context, Memories, item, text_of, words


class Files:
    """Files in a dictionary, and how often each was read."""

    def __init__(self, **files: str) -> None:
        self.files = {name.replace("_py", ".py"): text.encode() for name, text in files.items()}
        self.read = list[str]()

    def __call__(self, scope_id: str, path: str) -> bytes:
        self.read.append(path)
        if path not in self.files:
            raise ContextError("it is gone", code="E_CTX_FILE")
        return self.files[path]


def sub(sub_id: str, target: str, sub_type: Any = "", turn: int = 1) -> ContextSubscription:
    kind = sub_type or ("file_lines" if ":" in target else "file")
    return ContextSubscription(
        sub_id=sub_id, sub_type=kind, target=target, created_at=NOW, turn_created=turn
    )


def _shown(context: Context, turn: int) -> dict[str, str]:
    """Subscribed blocks by the place they show."""
    found = sections(text_of(context.manager.render(A, turn)))
    return {
        " | ".join(section.labels[:-2]): section.text
        for section in found
        if section.kind.startswith("subscription:")
    }


def test_a_file_is_shown_as_it_is_now_and_as_text_from_outside() -> None:
    files = Files(auth_py="def check(): ...")
    context = Context(read_file=files)
    context.manager.subscribe(A, sub("s", "auth.py"))
    assert _shown(context, 2) == {"auth.py | live | last_changed: turn 2": "def check(): ..."}
    files.files["auth.py"] = b"def check(): return True"
    assert _shown(context, 3) == {
        "auth.py | live | last_changed: turn 3": "def check(): return True"
    }
    (one,) = context.manager.get_zone(A, ContextZone.workspace)
    assert one.taint is TaintLevel.external
    assert "taint: external" in text_of(context.manager.render(A, 3))


@pytest.mark.proves("S3.5-SUBSCRIPTION-CACHE")
async def test_a_file_is_read_once_in_a_turn_and_memory_asked_each_time() -> None:
    files, memories = Files(a_py="x"), Memories(FoundMemory("m1", "Likes tea.", TaintLevel.owner))
    context = Context(read_file=files, memories=memories)
    context.manager.subscribe(A, sub("f", "a.py"))
    context.manager.subscribe(A, sub("q", "tea", "memory_query"))
    await context.manager.enforce_budget(A, 1)
    before = text_of(context.manager.render(A, 1))
    await context.manager.refresh(A, 1)
    assert text_of(context.manager.render(A, 1)) == before
    assert (files.read, memories.asked) == (["a.py"], 2)
    await context.manager.refresh(A, 2)
    assert text_of(context.manager.render(A, 2)) == before, "unchanged, so the block is the same"
    assert "m1: Likes tea." in before


async def test_memories_in_view_are_not_shown_twice() -> None:
    context = Context(memories=Memories(FoundMemory("m1", "Likes tea.", TaintLevel.owner)))
    context.manager.add(
        A, item("m", "Likes tea.", zone=ContextZone.memory, kind="memory", source="memory:m1")
    )
    context.manager.subscribe(A, sub("q", "tea", "memory_query"))
    await context.manager.refresh(A, 1)
    assert text_of(context.manager.render(A, 1)).count("Likes tea.") == 1


@pytest.mark.proves("S3.5-SUBSCRIPTION-DEDUPE")
def test_a_whole_file_covers_its_lines_and_overlapping_lines_become_one() -> None:
    files = Files(a_py="\n".join(f"line {i}" for i in range(1, 40)))
    context = Context(read_file=files)
    manager = context.manager
    manager.subscribe(A, sub("one", "a.py:3-5"))
    manager.subscribe(A, sub("far", "a.py:20-21"))
    assert manager.subscribe(A, sub("two", "./a.py:5-8")) == "two"
    assert list(_shown(context, 1)) == [
        "a.py:20-21 | live | last_changed: turn 1",
        "a.py:3-8 | live | last_changed: turn 1",
    ]
    assert manager.subscribe(A, sub("whole", "a.py")) == "whole"
    assert list(_shown(context, 2)) == ["a.py | live | last_changed: turn 2"]
    assert manager.subscribe(A, sub("late", "a.py:1-2")) == "whole"
    assert manager.subscribe(A, sub("again", "a.py")) == "whole"
    assert list(_shown(context, 3)) == ["a.py | live | last_changed: turn 2"]


@pytest.mark.proves("S3.5-SUBSCRIPTION-STALE")
def test_lines_that_changed_are_flagged_as_stale() -> None:
    files = Files(a_py="one\ntwo\nthree")
    context = Context(read_file=files)
    context.manager.subscribe(A, sub("s", "a.py:2-3"))
    assert list(_shown(context, 1)) == ["a.py:2-3 | live | last_changed: turn 1"]
    assert list(_shown(context, 4)) == ["a.py:2-3 | live | last_changed: turn 1"]
    files.files["a.py"] = b"zero\none\ntwo\nthree"
    stale = "a.py:2-3 | [stale — file changed since turn 4] | last_changed: turn 5"
    assert _shown(context, 5) == {stale: "one\ntwo"}
    assert list(_shown(context, 9)) == [stale]


@pytest.mark.proves("S3.5-SUBSCRIPTION-SIZE")
def test_what_is_too_long_is_followed_no_more_and_that_is_recorded() -> None:
    files = Files(a_py=words(60))
    context = Context(read_file=files, max_subscription_tokens=50)
    context.manager.subscribe(A, sub("s", "a.py"))
    assert _shown(context, 1) == {}
    assert _shown(context, 2) == {}
    assert files.read == ["a.py"]
    ((event, data),) = context.audit.entries
    assert event == "context_subscription_ended"
    assert "60 tokens" in data["reason"]


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_followed_no_more(content: bytes | None) -> None:
    files = Files()
    if content is not None:
        files.files["a.py"] = content
    context = Context(read_file=files)
    context.manager.subscribe(A, sub("s", "a.py"))
    assert _shown(context, 1) == {}
    assert context.audit.events() == ["context_subscription_ended"]


@pytest.mark.proves("S3.5-SUBSCRIPTION-LIFE")
async def test_what_nobody_mentions_costs_nothing_after_its_time_and_can_come_back() -> None:
    context = Context(read_file=Files(a_py="aaa", b_py="bbb"), subscription_ttl_turns=10)
    manager = context.manager
    manager.subscribe(A, sub("a", "src/../a.py"))
    manager.subscribe(A, sub("b", "b.py"))
    manager.add(A, item("1", "Silas: I changed a.py.", source="agent:proxy", turn_number=5))
    manager.add(A, item("2", "[owner] me: and b.py?", turn_number=5))
    await manager.enforce_budget(A, 10)
    assert len(_shown(context, 10)) == 2
    await manager.enforce_budget(A, 11)
    assert list(_shown(context, 11)) == ["a.py | live | last_changed: turn 10"]
    before = manager.token_usage(A)["workspace"]
    await manager.enforce_budget(A, 15)
    assert manager.token_usage(A)["workspace"] == 0 < before
    assert manager.subscribe(A, sub("a", "a.py", turn=16)) == "a"
    assert list(_shown(context, 16)) == ["a.py | live | last_changed: turn 16"]
    manager.unsubscribe(A, "a")
    assert _shown(context, 17) == {}


async def test_a_followed_file_makes_room_before_work_does_and_is_not_remembered() -> None:
    context = Context(read_file=Files(a_py=words(150)))
    manager = context.manager
    manager.subscribe(A, sub("a", "a.py"))
    manager.add(A, item("p", words(100), zone=ContextZone.workspace, kind="plan"))
    assert await manager.enforce_budget(A, 1) == []
    assert context.ids() == ["p"]
    assert _shown(context, 1) == {}


@pytest.mark.parametrize("target", ["a.py", "a.py:3", "a.py:5-2", "a.py:0-2", ":1-2", "a.py:x-y"])
def test_lines_must_be_named_as_lines(target: str) -> None:
    with pytest.raises(ContextError, match="first-last"):
        Context().manager.subscribe(A, sub("s", target, "file_lines"))


def test_nothing_is_followed_for_another_scope() -> None:
    files = Files(a_py="x")
    context = Context(read_file=files)
    context.manager.subscribe(A, sub("s", "a.py"))
    assert text_of(context.manager.render(B, 1)) == ""
    context.manager.unsubscribe(B, "s")
    assert len(_shown(context, 1)) == 1


def test_forgetting_a_file_ends_following_it() -> None:
    context = Context(read_file=Files(a_py="x"))
    context.manager.subscribe(A, sub("s", "a.py"))
    assert len(_shown(context, 1)) == 1
    assert context.manager.forget(A, "file:a.py") == 1
    assert _shown(context, 2) == {}
