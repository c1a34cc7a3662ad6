"""Every event Silas logs can be told to a person."""

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, timedelta, timezone
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import silas
from silas.audit import AuditEntry
from silas.audit.narrate import documents, entry_details, known_events, narrate, timeline

SOURCE = Path(str(silas.__file__)).parent
DOTTED = re.compile(r"(approval|emergency|gate|scope|tool_call)\.[a-z_]+\Z")


def literals(node: ast.expr) -> Iterator[str]:
    """The names an event argument can have: a literal, or one of two."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def logged(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("log", "log_now") and node.args:
                yield from literals(node.args[0])
            elif node.func.attr == "_record" and node.args:  # which others have for other things
                yield from (name for name in literals(node.args[0]) if "." in name)
        # Tables of events that are logged by name: recognised by their family.
        elif isinstance(node, ast.Constant) and DOTTED.match(str(node.value)):
            yield str(node.value)


def test_every_event_in_the_source_has_a_sentence() -> None:
    files = [f for f in SOURCE.rglob("*.py") if f.name != "narrate.py"]
    events = {event for f in files for event in logged(f.read_text(encoding="utf-8"))}
    assert {"approval.issued", "approval.used", "approval.refused"} <= events
    assert events - known_events() == set()


def test_the_scan_sees_literals_choices_and_tables() -> None:
    source = (
        'a.log("one", x=1); b.log_now("two" if y else "three"); T = {1: "gate.four"}; f("no"); '
        'self._record("five.made"); self._record("agent")'
    )
    assert sorted(logged(source)) == ["five.made", "gate.four", "one", "three", "two"]


@pytest.mark.parametrize(
    ("event", "data", "sentence"),
    [
        ("work_item_finished", {"work_item_id": "task-1", "status": "done"}, "task-1 ended: done."),
        (
            "plan_not_approved",
            {"work_item_id": "task-1", "verdict": "edit_requested"},
            "You did not approve the plan task-1: changes are wanted.",
        ),
        (
            "plan_tried",
            {"work_item_id": "task-1", "checks": {"a": "fails", "b": ["odd"]}},
            "The checks of task-1 were tried before its card: a: not passed, b: odd.",
        ),
        ("stream_stopped", {}, "Silas stopped."),
        (
            "workspace_applied",
            {"work_item_id": "t", "paths": ["a", "b"]},
            "The changes of t were applied to a, b.",
        ),
        (
            "workspace_undone",
            {"work_item_id": "t", "paths": []},
            "The changes of t to none were undone.",
        ),
        (
            "verification_finished",
            {"work_item_id": "t", "all_passed": True},
            "All checks of t passed.",
        ),
        ("tool_call.failed", {}, "Silas used ?, which failed."),
        ("lunar.eclipse_seen", {"moon": "full", "n": 2}, "Lunar: eclipse seen (moon full, n 2)."),
        (
            "phone.opened",
            {"origin": "https://pc.home", "way": "tailscale", "fingerprint": "none"},
            "The cockpit was opened for phones at https://pc.home, by Tailscale.",
        ),
        ("odd", {}, "Odd."),
        (
            "reminder.made",
            {"reminder_id": "r", "due": "2026-11-30T08:00:00+00:00", "zone": "Europe/Berlin"},
            "The reminder r was made, for Monday 30 November 2026, 09:00 CET.",
        ),
        (
            "reminder.told",
            {"reminder_id": "r", "due": "2026-11-30T08:00:00+00:00", "zone": "Mars/Olympus"},
            "You were told the reminder r, which was due on 2026-11-30T08:00:00+00:00.",
        ),
        (
            "plan_refused",
            {"work_item_id": "t", "reason": "a\x1b[31m\n{x}\u202eb"},
            "The plan t was refused: a[31m {x}b",
        ),
    ],
)
def test_an_event_is_one_plain_sentence(event: str, data: dict[str, object], sentence: str) -> None:
    assert narrate(event, data) == sentence


@given(event=st.text() | st.sampled_from(sorted(known_events())), value=st.text(), more=st.text())
def test_whatever_the_facts_are_it_is_one_printable_line(event: str, value: str, more: str) -> None:
    facts = dict.fromkeys(("work_item_id", "reason", "tool", "gate", "code"), value)
    line = narrate(event, {**facts, more: value})
    assert line.splitlines() == [line]
    assert "\x1b" not in line
    assert "\u202e" not in line


def an_entry(seq: int, at: str, event: str = "stream_stopped", **data: object) -> AuditEntry:
    body = json.dumps({"at": at, "data": data, "event": event, "id": "audit-1", "seq": seq})
    return AuditEntry(seq, "audit-1", body, "", "")


def test_a_timeline_has_a_heading_for_every_day_of_the_reader() -> None:
    entries = [
        an_entry(1, "2026-01-02T21:59:58+00:00", "stream_started", channel="cli"),
        an_entry(2, "2026-01-02T22:00:00+00:00"),
        an_entry(
            3, "2026-01-02T22:00:01+00:00", "plan_refused", work_item_id="t", reason="x " * 40
        ),
    ]
    zone = timezone(timedelta(hours=2), "EET")
    assert "\n".join(timeline(entries, zone, 60)).splitlines() == [
        "Friday 2 January 2026, EET",
        "     1  23:59:58  Silas started in the terminal.",
        "Saturday 3 January 2026, EET",
        "     2  00:00:00  Silas stopped.",
        "     3  00:00:01  The plan t was refused: x x x x x x x x x",
        "                  x x x x x x x x x x x x x x x x x x x x x",
        "                  x x x x x x x x x x",
    ]


@pytest.mark.parametrize(
    "body",
    ["", "[", "{}", "[1]", '{"at":1,"event":"x","data":{}}', '{"at":"x","event":"x","data":{}}'],
)
def test_a_damaged_entry_is_said_to_be_and_hides_no_other(body: str) -> None:
    good = an_entry(2, "2026-01-02T22:00:00+00:00")
    lines = list(timeline([AuditEntry(1, "", body, "", ""), good], UTC, 80))
    assert lines[0] == "     1  --:--:--  This entry is damaged; run `silas audit verify`."
    assert lines[-1] == "     2  22:00:00  Silas stopped."


@given(event=st.text(), data=st.dictionaries(st.text(), st.text(), max_size=3))
def test_no_entry_breaks_out_of_its_lines(event: str, data: dict[str, str]) -> None:
    heading, *lines = timeline([an_entry(1, "2026-01-02T22:00:00+00:00", event, **data)], UTC, 80)
    assert heading.startswith("Friday")
    shown = lines[0].split("\n")
    assert all(line.isprintable() and len(line) <= 80 for line in shown)
    assert all(line.startswith(" " * 18) for line in shown[1:])


def test_no_sentence_reaches_into_its_values() -> None:
    for event in known_events():
        sentence = narrate(event, {})
        fields = [name for _, name, _, _ in Formatter().parse(sentence) if name is not None]
        assert fields == []


@pytest.mark.parametrize(
    ("event", "data", "words"),
    [
        (
            "tool_call.failed",
            {"tool": "shell_exec", "task": "task-1", "digest": "ab" * 32, "why": "exit code 1"},
            "Silas used shell_exec, which failed. (for task-1; arguments sha256:abababababab; "
            "because: exit code 1)",
        ),
        (
            "gate.denied",
            {"tool": "web_fetch", "digest": "cd" * 32, "code": "E_APPROVAL_DENIED"},
            "Silas was not allowed to use web_fetch. (arguments sha256:cdcdcdcdcdcd; "
            "E_APPROVAL_DENIED)",
        ),
        (
            "verification_finished",
            {"work_item_id": "t", "all_passed": False, "checks": {"tests": False, "lint": True}},
            "Checks of t failed: tests.",
        ),
        ("turn_failed", {"code": "E_DB_QUERY"}, "A turn failed with E_DB_QUERY."),
        ("stream_stopped", {}, "Silas stopped."),
    ],
)
def test_the_record_tells_tool_digest_and_cause_where_the_sentence_does_not(
    event: str, data: dict[str, object], words: str
) -> None:
    assert narrate(event, data) + entry_details(event, data) == words
    entry = an_entry(1, "2026-01-02T22:00:00+00:00", event, **data)
    (told,) = documents([entry])
    assert (told["words"], told["data"]) == (words, data)
    assert " ".join(" ".join(timeline([entry], UTC, 80)).split()).endswith(words)
