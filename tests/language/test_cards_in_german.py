"""Cards in German: nothing of what code says on them is left in English; what is signed stays."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from silas.cards import Card, Detail, PlanCard
from silas.gates import GateResult
from silas.language import speak
from silas.plans import plan_bytes, plan_card
from silas.plans.card import why_forced
from silas.plans.goals.schedule import schedule_words
from silas.plans.projects.card import BoundPlan, project_card
from silas.reminders.models import ReminderTime
from silas.reminders.words import reminder_card
from silas.stream.ask import batch_card, for_work, tool_call_card
from silas.stream.choices import choice_card
from silas.stream.look_permission import look_card
from silas.stream.turn_gates import gate_card
from silas.testing.builders import a_plan
from silas.tools import RiskLevel, validated_call
from silas.tools.pending_call import AskReason
from silas.types import Risk
from silas.work.models import CallQuestion

_ENGLISH = re.compile(
    r"\b(the|and|of|is|are|with|without|your|may|it|its|that|this|once|nothing|when|what|for|to|be"
    r"|low|medium|high|irreversible|done|failed|pending|running|stuck|blocked|paused)\b"
)

_TASK = {
    "id": "Aufgabe-1",
    "title": "Ergebnis",
    "body": "Mach es.",
    "workspace": "/home/me/src",
    "read": ["/usr/lib/py"],
    "network": ["pypi.org"],
    "skills": ["coding"],
    "tools": [
        {"tool": "send_email", "args": {"body": {"slot": "text", "from": "tool get_webpage"}}},
        {"tool": "send_email", "times": 3, "args": {"body": {"pattern": "a+"}}},
    ],
    "verify": [{"name": "tests", "run": "pytest -q", "expect": {"exit_code": 0}}],
}


def _plan(**fields: Any) -> PlanCard:
    return plan_card(plan_bytes(a_plan(**{**_TASK, **fields})), rationale="Du wolltest es.")


def _project() -> Card[Any]:
    def bound(**fields: Any) -> BoundPlan:
        return BoundPlan(plan_bytes(a_plan(**{**_TASK, **fields})), {}, {}, {})

    return project_card(
        bound(id="Vorhaben", type="project", tasks=["Aufgabe-1", "Aufgabe-2"]),
        [bound(), bound(id="Aufgabe-2", depends_on=["Aufgabe-1"])],
        "Du wolltest es.",
    )


_RULE = "FREQ=WEEKLY;BYDAY=MO,WE"
_VIENNA = ZoneInfo("Europe/Vienna")
_NINE = datetime(2026, 3, 2, 9, tzinfo=_VIENNA)

QUESTION = CallQuestion(
    validated_call("mail", "send", {"an": "anna"}), RiskLevel.high, AskReason.plan
)

_GOAL = {"type": "goal", "schedule": "CRON_TZ=Europe/Vienna 0 7 * * 1", "on_failure": "notify"}

_CARDS = {
    "plan": _plan,
    "plan that changes nothing": lambda: _plan(writes=[], network=[], tools=[]),
    "plan without checks": lambda: _plan(verify=[], workspace=None),
    "goal": lambda: _plan(**_GOAL),
    "project": _project,
    "call": lambda: tool_call_card(for_work(a_plan(title="Ergebnis")), QUESTION),
    "calls": lambda: batch_card(for_work(a_plan(title="Ergebnis")), [QUESTION] * 2, lambda _: ""),
    "gate": lambda: gate_card(GateResult.model_construct(gate_name="Regel", reason="", value=None)),
    "choice": lambda: choice_card("Aufgabe-1", "Welche?", ("rot",), 300, "a"),
    "look": lambda: look_card("/home/me/src", "Ollama"),
    "reminder": lambda: reminder_card(
        "Zahnarzt",
        ReminderTime(_NINE.astimezone(UTC), _VIENNA, _NINE.replace(tzinfo=None), _RULE),
    ),
}


def _own_words(card: Card[Any]) -> Iterator[str]:
    """What code says on a card: not what stands behind `|` or in quotes, nor the plan's fields."""
    yield from (card.intent, card.effect, card.rationale, card.affected)
    yield from (action.label for action in card.actions)
    for part in card.details:
        yield part.heading
        if part.heading not in ("Alles andere", "Argumente"):
            yield from (line for line in part.lines if not line.lstrip().startswith("|"))


@pytest.mark.parametrize("kind", _CARDS)
def test_nothing_that_code_says_on_a_card_is_left_in_english(kind: str, german: None) -> None:
    said = [re.sub(r"`[^`]*`|\"[^\"]*\"", "", line) for line in _own_words(_CARDS[kind]())]
    assert not [line for line in said if _ENGLISH.search(line)]


def test_what_is_signed_does_not_depend_on_the_language(german: None) -> None:
    in_german = _plan()
    speak("en")
    in_english = _plan()
    assert in_german.plan_hash == in_english.plan_hash
    assert in_german.approves == in_english.approves
    assert in_german.effect != in_english.effect
    assert [a.value for a in in_german.actions] == [a.value for a in in_english.actions]


def test_a_schedule_is_said_in_german(german: None) -> None:
    assert schedule_words("CRON_TZ=Europe/Vienna 0 7 * * 1-5") == (
        "Montag bis Freitag um 07:00 in Europe/Vienna (`0 7 * * 1-5`)"
    )


def test_the_effect_is_one_german_sentence(german: None) -> None:
    assert _plan(tools=[], network=[], read=[]).effect == (
        "Ändert Dateien in `src` nach bestandener Prüfung (1 Prüfung), ohne Netz; "
        "du kannst es rückgängig machen."
    )
    kinds = ["**/*.py", "docs/*"]
    assert _plan(tools=[], network=[], read=[], writes=kinds).effect.startswith(
        "Ändert Dateien mit der Endung `.py` und Dateien in `docs` in `src` nach"
    )


def test_parts_of_a_card_are_the_same_in_both_languages(german: None) -> None:
    shapes: list[list[int]] = []
    for language in ("de", "en"):
        speak(language)
        shapes.append([len(part.lines) for part in _project().details])
    assert shapes[0] == shapes[1]
    assert all(isinstance(part, Detail) for part in _project().details)


@pytest.mark.usefixtures("german")
def test_a_risk_that_makes_silas_ask_is_told_in_german() -> None:
    assert why_forced(Risk.high) == "sein Risiko ist hoch"
    assert why_forced(Risk.low) == ""
