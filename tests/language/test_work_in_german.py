"""What an owner who reads German is told of work: on its card, while it runs, and of what came."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from silas.audit.narrate import narrate
from silas.channels.web.reports import progress_of, result_of
from silas.config import load_config
from silas.home.findings import DoctorFinding
from silas.language import group_digits, tr_many
from silas.plans import (
    Budget,
    BudgetUsed,
    WorkItemResult,
    WorkItemStatus,
    plan_bytes,
    plan_card,
)
from silas.plans.budget import shares
from silas.services.cockpit.facts import settings_in_force
from silas.services.cockpit.finding_words import finding_words
from silas.stream.dispatch import progress_line
from silas.testing.builders import a_plan
from silas.work.checks.preflight import OmittedFiles, PreflightResult, TriedCheck, preflight_note
from silas.work.end_words import tell_end
from silas.work.models import ProgressEvent
from silas.work.report import report_heading
from silas.work.step_descriptions import step_words

pytestmark = pytest.mark.usefixtures("german")
NOW = datetime(2026, 11, 28, 9, 0, tzinfo=UTC)

_ENGLISH = re.compile(
    r"\b(the|is|are|of|with|without|every|none|off|bundled|memory|tried|passes|fails|work|tokens)\b"
)


def test_a_card_says_in_german_which_checks_were_tried_before() -> None:
    checks = (TriedCheck("tests_pass", "fails"), TriedCheck("lint", "passes"))
    left_out = OmittedFiles((".env",), (".git",))
    assert preflight_note(PreflightResult(checks, 10.3, left_out)) == (
        "Vorab versucht: 2 Prüfungen in 10,3 s, ohne 1 Eintrag des Arbeitsordners, der Geheimnisse "
        "enthalten kann, mit nichts in .git: tests_pass schlägt vor der Arbeit fehl, wie es sein "
        "soll; lint besteht vor der Arbeit (sie bewahrt, was ist)."
    )


@pytest.mark.parametrize(
    ("tool", "args", "told"),
    [
        ("shell_exec", {"argv": ["pytest", "-q"]}, "Ausführen: pytest -q"),
        ("file_read", {"path": "a.py"}, "a.py lesen"),
        ("file_write", {"path": "{x}"}, "{x} schreiben"),
        ("ask_owner", {}, "Dich fragen"),
        ("other", {}, "other aufrufen"),
    ],
)
def test_a_step_is_told_in_german(tool: str, args: dict[str, Any], told: str) -> None:
    assert step_words(tool, args) == told


def test_numbers_are_written_as_german_has_them() -> None:
    told = [one.words for one in shares(BudgetUsed(tokens=2265), Budget(max_tokens=200_000))]
    assert told[:2] == ["2.265 von 200.000 Token", "$0,00 von $2,00"]
    assert group_digits(3_221_225_472) == "3.221.225.472"
    limited = a_plan(budget=Budget(max_tokens=10_000, max_cost_usd=0.1))
    card = plan_card(plan_bytes(limited), rationale="")
    told = "\n".join(line for detail in card.details for line in detail.lines)
    assert "höchstens 10.000 Token und $0,10" in told
    assert "höchstens 1.800 Sekunden, " in told
    assert tr_many(10_000, "{count} task", "{count} tasks") == "10.000 Aufgaben"


def test_the_settings_in_force_are_named_in_german(tmp_path: Path) -> None:
    config = load_config(environ={"SILAS_HOME": str(tmp_path), "SILAS_KEYS__BACKEND": "file"})
    told = [
        f"{fact.name}: {fact.value}".replace(str(tmp_path), "")
        for part in settings_in_force(config, "bubblewrap").parts
        for fact in part.facts
    ]
    assert not [one for one in told if _ENGLISH.search(one)]


def test_what_protects_the_key_is_told_in_german() -> None:
    found = DoctorFinding(
        "key",
        "ok",
        "The private key is in an encrypted file (argon2id, mode 0600), unlocked by the key "
        "file /k. It is protected only where that file is not: keep it on another device or out of "
        "backups. It does not protect against a program that runs as you while Silas runs, nor "
        "against root.",
    )
    assert "aufgeschlossen mit der Schlüsseldatei /k." in finding_words(found).words


def test_activity_says_in_german_how_something_ended() -> None:
    said = narrate("work_item_finished", {"work_item_id": "task-1", "status": "stuck"})
    assert said == "task-1 endete: festgefahren."
    assert report_heading("1 Aufruf lief").endswith("im Protokoll: 1 Aufruf lief)")


_ENDS = {
    "The executor reports that it cannot go on: it gives no reason.": (
        "Der Ausführende meldet, dass er nicht weiterkommt: einen Grund nennt er nicht."
    ),
    "The executor reports that this takes another plan: Use grep, it failed: so.": (
        "Der Ausführende meldet, dass es dafür einen anderen Plan braucht: Use grep, it failed: so."
    ),
    "The planner finds that the plan itself is wrong: The check greps the wrong file.": (
        "Der Planer findet, dass der Plan selbst falsch ist: The check greps the wrong file."
    ),
    "nothing was done": "nichts wurde getan",
    "shell_exec failed: exit code 2": "shell_exec ist fehlgeschlagen: Exit-Code 2",
    '- check "tests_pass" failed with exit code 1\n  | nothing was done': (
        "Die Prüfung „tests_pass“ ist nicht bestanden, mit Exit-Code 1.\n  | nothing was done"
    ),
    "It ran to its end, and what it looked at is not in order: "
    "`a` failed with exit code 1, `b` failed with exit code 2.": (
        "Es lief bis zum Ende, und was es sich ansah, ist nicht in Ordnung: "
        "`a` ist nicht bestanden, mit Exit-Code 1, `b` ist nicht bestanden, mit Exit-Code 2."
    ),
}


@pytest.mark.parametrize("kept", _ENDS)
def test_why_work_did_not_succeed_is_told_in_german_where_it_is_shown(kept: str) -> None:
    assert tell_end(kept) == _ENDS[kept]
    assert tell_end(_ENDS[kept]) == _ENDS[kept]
    item = a_plan()
    result = WorkItemResult(work_item_id=item.id, status=WorkItemStatus.stuck, summary=kept)
    event = ProgressEvent(item.id, "stuck", kept, 1)
    assert result_of(item, event, result, NOW).summary == _ENDS[kept]
    assert progress_of(item, event).message == _ENDS[kept]
    assert progress_line(event).endswith(_ENDS[kept])
    going = event._replace(status="running")
    assert progress_of(item, going).message == kept  # a step may say so, in its plan's words
