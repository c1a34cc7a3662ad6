"""What a row of each table may look like, so that a damaged one is named whoever reads it.

Each reader decides by itself what a row that it cannot read means, always the less trusted reading;
this names what is wrong. A table that is neither here nor in `CHECKED_ELSEWHERE` fails a test.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from math import isfinite
from typing import Any, Final, LiteralString, NamedTuple, cast

from silas.clock import is_moment
from silas.damage import set_aside
from silas.db import Database


class RowForm(NamedTuple):
    """How a table is read, and what stands in its columns.

    Attributes:
        statement: Reads every row.
        columns: A form for each column of the statement: one of `_FORMS`, with `?` where it may be
            null, or the words that it may be, with `|` between them.
        key: What names a row, with the columns' numbers.
    """

    statement: LiteralString
    columns: str
    key: str = "{0}"


TABLES: Final[Mapping[str, RowForm]] = {
    "approval_nonces": RowForm(
        "SELECT key, recorded_at, expires_at FROM approval_nonces", "key at at"
    ),
    "arrivals": RowForm(
        "SELECT arrival_id, scope_id, channel, sender_id, text, arrived_at, heard, answer,"
        " conversation FROM arrivals",
        "id id id text text at flag text? text",
    ),
    "attachments": RowForm(
        "SELECT id, seq, conversation, name, size, digest, attached_at, state FROM attachments",
        "id int text id int hex at text",
    ),
    "audit_kept": RowForm("SELECT one, since, fault, signing FROM audit_kept", "int at text int"),
    "audit_witnesses": RowForm(
        "SELECT name, seq, checkpoint_id, at, fault FROM audit_witnesses", "id int text at text"
    ),
    "autonomy_proposals": RowForm(
        "SELECT proposal_id, number, scope_id, family, proposal, after_signal, decision,"
        " created_at, decided_at FROM autonomy_proposals",
        "id int id id json int text? at at?",
    ),
    "autonomy_thresholds": RowForm(
        "SELECT key, scope_id, value, token_id, at FROM autonomy_thresholds", "id id amount id at"
    ),
    "behavior_preferences": RowForm(
        "SELECT pattern, scope_id, memory_id, decision, at FROM behavior_preferences",
        "id id id verified|dismissed? at",
    ),
    "behavior_signals": RowForm(
        "SELECT number, scope_id, family, outcome, at FROM behavior_signals", "int id id id at"
    ),
    "chronicle": RowForm(
        "SELECT seq, scope_id, at, ctx_id, item, folder, conversation FROM chronicle",
        "int id at id json text text",
        "entry {0}",
    ),
    "conversations": RowForm(
        "SELECT id, title, named, begun_at, said_at, archived_at FROM conversations",
        "text text flag at at at?",
    ),
    "devices": RowForm(
        "SELECT id, name, public_key, paired_at, revoked_at FROM devices", "id text id? at at?"
    ),
    "effective_time": RowForm(
        "SELECT one, reached, machine, unconfirmed, confirmed, boot, up FROM effective_time",
        "int at at flag int text int",
    ),
    "emergency_stops": RowForm(
        "SELECT number, stopped_at, resumed_at FROM emergency_stops", "int at at?", "stop {0}"
    ),
    "file_batches": RowForm(
        "SELECT id, folder, phase, digest, token_id, made, began_at, ended_at FROM file_batches",
        "id json moving|moved|undoing text text json at at-",
    ),
    "file_batch_items": RowForm(
        "SELECT batch_id, number, move, state, why FROM file_batch_items",
        "id int json planned|moved|left|undoing|undone text",
        "{0} {1}",
    ),
    "followed_files": RowForm(
        "SELECT target, scope_id, root, sub, turn FROM followed_files", "id id text json int"
    ),
    "goals": RowForm(
        "SELECT id, schedule, state, why, failing, quiet, approved_at FROM goals",
        "id text active|paused|ended text int int at",
    ),
    "goal_cycles": RowForm(
        "SELECT goal_id, slot, due, outcome, task_id, missed, words, began_at, ended_at"
        " FROM goal_cycles",
        "id id at text text int text at at-",
        "{0} {1}",
    ),
    "jobs": RowForm(
        "SELECT kind, ref, slot, id, queue, due, zone, state, attempts, place, ended_at, fault"
        " FROM jobs",
        "id text text id text at text waiting|running|done|failed|cancelled int int at- text",
        "{0} {1} {2}",
    ),
    "look_answers": RowForm(
        "SELECT workspace, shown_to, allowed, answered_at FROM look_answers", "id id flag at"
    ),
    "mcp_tools": RowForm(
        "SELECT server, tool, digest, definition, source, trusted_at FROM mcp_tools",
        "id id hex json text at",
        "{0} {1}",
    ),
    "memory_asked": RowForm("SELECT place, asked_at, answer FROM memory_asked", "int at text"),
    "memory_forgotten": RowForm(
        "SELECT source, scope_id, number FROM memory_forgotten", "text id int"
    ),
    "memory_scopes": RowForm(
        "SELECT scope_id, number, active_last, active_items, raw_last, raw_items,"
        " active_characters, raw_characters FROM memory_scopes",
        "id int int int int int int int",
    ),
    "nonces_forgotten": RowForm("SELECT one, until FROM nonces_forgotten", "int at"),
    "pairing_links": RowForm(
        "SELECT token_hash, expires_at, used_at, used_by FROM pairing_links", "hex at at? text?"
    ),
    "person_queues": RowForm(
        "SELECT connection_id, queue, gate, since FROM person_queues", "id id text at", "{0} {1}"
    ),
    "persona_events": RowForm(
        "SELECT event_id, scope_id, event_type, trusted, delta_axes_json, delta_mood_json, source,"
        " created_at FROM persona_events",
        "id id id flag json json text at",
    ),
    "persona_state": RowForm(
        "SELECT scope_id, baseline_axes_json, mood_json, voice_json, active_preset, last_context,"
        " drift_json, tuning_json, updated_at FROM persona_state",
        "id json json json text text json json at",
    ),
    "reminders": RowForm(
        "SELECT id, text, source, zone, start, rule, due, state, made_at, ended_at FROM reminders",
        "id text text id local text at waiting|told|cancelled|forgotten at at-",
    ),
    "project_marks": RowForm("SELECT work_item_id, marks FROM project_marks", "id json"),
    "reminder_tellings": RowForm(
        "SELECT reminder_id, due, state, tries, missed, at FROM reminder_tellings",
        "id at begun|told int int at",
        "{0} {1}",
    ),
    "scope_work": RowForm(
        "SELECT work_item_id, scope_id, begun_at, forgotten, sources, conversation, message"
        " FROM scope_work",
        "id id at int names text text",
    ),
    "suggestions": RowForm(
        "SELECT suggestion_id, number, scope_id, cooldown_key, proposal, outcome, created_at,"
        " handled_at FROM suggestions",
        "id int id id json accepted|dismissed|deferred? at at?",
    ),
    "tool_health": RowForm("SELECT tool_name, health FROM tool_health", "id json"),
    "tool_outcomes": RowForm(
        "SELECT key, digest, trace_id, task_id, step_id, tool_name, action, target, outbound,"
        " status, result, attempted_at, finished_at FROM tool_outcomes",
        "id text text text text id text text flag attempted|succeeded|failed|unknown json? at at?",
    ),
    "waiting_plans": RowForm(
        "SELECT work_item_id, plan_hash, plan, rationale, asked_at, changes_wanted, conversation,"
        " message FROM waiting_plans",
        "id hex json text at flag text text",
    ),
    "web_sessions": RowForm(
        "SELECT id, device_id, cookie_hash, page_hash, began_at, seen_at, ended_at"
        " FROM web_sessions",
        "id id hex hex at at at?",
    ),
    "web_transcript": RowForm(
        "SELECT id, seq, body, withheld, sources, forgotten, conversation FROM web_transcript",
        "id int json flag json- int text",
    ),
    "work_questions": RowForm(
        "SELECT work_item_id, token_id, digest, state, chosen, words, asked_at FROM work_questions",
        "id text hex open|answered text text at",
    ),
    "work_item_results": RowForm("SELECT work_item_id, result FROM work_item_results", "id json"),
    "work_items": RowForm(
        "SELECT id, status, created_at, updated_at, plan_hash FROM work_items",
        "id id at at hex",
    ),
}
"""By table; of `work_items` what its own reader does not look at."""

CHECKED_ELSEWHERE: Final[Mapping[str, str]] = {
    "audit_log": "the chain itself tells; `silas doctor` looks at it",
    "audit_checkpoints": "signed, and looked at with the chain",
    "audit_acceptances": "signed, and looked at with the chain",
    "memory_items": "`SqlMemoryStore.check`, which names each damaged memory",
    "memory_sources": "`SqlMemoryStore.check`: it repeats what each memory says",
    "memory_vectors": "made again of the memories",
    "memory_vector_stamps": "made again with the vectors",
    "schema_migrations": "compared with the program's own files at every opening",
    "damaged_rows": "what is set aside",
}
"""Tables whose rows something else answers for, and what."""


def check_forms(db: Database) -> None:
    """Set aside every row that is not as its table's rows are."""
    found = list[tuple[str, str, tuple[Any, ...]]]()
    with db.read() as tx:
        for table, form in TABLES.items():
            fits = [_fits(word) for word in form.columns.split()]
            for row in tx.run(form.statement):
                if not all(fit(value) for fit, value in zip(fits, row, strict=True)):
                    found.append((table, form.key.format(*map(_row_name, row)), row))
    for table, key, row in found:
        set_aside(db, table, key, row)


def _row_name(value: object) -> str:
    return value if isinstance(value, str) else repr(value)


def _fits(word: str) -> Callable[[Any], bool]:
    form, nullable = word.removesuffix("?"), word.endswith("?")
    fit = _FORMS.get(form) or _one_of(frozenset(form.split("|")))
    return (lambda value: value is None or fit(value)) if nullable else fit


def _one_of(words: frozenset[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int)


def _is_amount(value: object) -> bool:
    try:
        return isinstance(value, str) and isfinite(float(value))
    except ValueError:
        return False


def _is_local(value: object) -> bool:
    try:
        datetime.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        return False
    return True


def _is_json(value: object) -> bool:
    try:
        return isinstance(value, str) and isinstance(json.loads(value), dict | list)
    except (ValueError, RecursionError):
        return False


def _is_names(value: object) -> bool:
    """A list of texts, as JSON."""
    if not _is_json(value):
        return False
    found: object = json.loads(str(value))
    return isinstance(found, list) and all(map(_is_text, cast(list[object], found)))


_HEX: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NONCE: Final = re.compile(r"[a-z_]+:\S+", re.ASCII)

_FORMS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "id": lambda value: _is_text(value) and bool(value),
    "text": _is_text,
    "key": lambda value: isinstance(value, str) and _NONCE.match(value) is not None,
    "int": _is_number,
    "amount": _is_amount,
    "flag": lambda value: value in (0, 1),
    "hex": lambda value: isinstance(value, str) and _HEX.fullmatch(value) is not None,
    "at": is_moment,
    "at-": lambda value: value == "" or is_moment(value),
    "local": _is_local,
    "json": _is_json,
    "names": _is_names,
    "json-": lambda value: value == "" or _is_json(value),
}
"""What a column may hold; with `-` also nothing at all."""
