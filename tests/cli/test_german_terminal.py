"""A German terminal: what commands list and show has no English state and no English sentence."""

import re
from pathlib import Path

from silas.audit.outcomes import outcome_word
from silas.channels.terminal_colour import paint
from silas.goals.models import Outcome
from silas.language import speak_as_configured
from tests.support.command import environment, run, silas
from tests.support.plans import a_workspace, check, sh_plan

ENGLISH = re.compile(
    r"\b(?:the|with|your|you|done|asked|used|held|pending|running|paused|revoked|expired|waits|"
    r"nothing|nobody|no|there|are|is|approval|answer|state|signed|checks|result|changed)\b",
    re.IGNORECASE,
)
AS_WRITTEN = re.compile(r'`[^`]*`|silas [a-z -]+(?:"[^"]*")?|sha256:\S+')
"""Commands and digests, which are the same in every language."""


def _english(text: str) -> list[str]:
    return sorted(set(ENGLISH.findall(AS_WRITTEN.sub("", text))))


def test_states_and_sentences_of_work_and_approvals_are_german(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", LC_MESSAGES="de_DE.UTF-8", SILAS_LANGUAGE="de")
    assert run(silas("init"), env).code == 0
    lists = [("status",), ("projects", "list"), ("approvals", "list"), ("approvals", "showing")]
    lists += [("goals", "list"), ("remind", "list"), ("memory", "list"), ("devices", "list")]
    lists += [("secrets", "list"), ("queue", "list"), ("calls", "list"), ("workers", "list")]
    lists += [("approvals", "clock"), ("mcp", "list"), ("batch", "list"), ("ahead",)]
    for words in lists:
        assert _english(run(silas(*words), env).out) == [], words
    plan, work = tmp_path / "plan.md", a_workspace(tmp_path / "work")
    given = {"id": "aufgabe-1", "title": "Aufgabe", "workspace": str(work), "verify": check("true")}
    plan.write_text(sh_plan("true", **given), encoding="utf-8")
    seen = run(silas("plan", "check", plan), env).out.split()[-1]
    assert run(silas("run", plan, "--approve", seen), env).code == 0
    shown = run(silas("show", "aufgabe-1"), env).out
    assert shown.startswith("erledigt  aufgabe-1")
    assert "Prüfungen:" in shown
    assert "erledigt" in run(silas("status"), env).out
    assert "verbraucht" in run(silas("approvals", "list", "--all"), env).out
    assert '"status": "done"' in run(silas("show", "aufgabe-1", "--json"), env).out


def test_lists_that_have_something_in_them_are_german(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", LC_MESSAGES="de_DE.UTF-8", SILAS_LANGUAGE="de")
    assert run(silas("init"), env).code == 0
    kept = run(silas("secrets", "add", "TOKEN"), env, stdin="ein langes Geheimnis 4711")
    assert kept.out.startswith("TOKEN ist aufbewahrt. Pläne nennen es so:\n"), kept
    assert run(silas("memory", "add", "Tee am Morgen"), env).code == 0
    assert re.search(r"  angelegt \S+, nie verwendet\n", run(silas("secrets", "list"), env).out)
    told = run(silas("memory", "list"), env).out
    assert told.endswith("  bestätigt, von dir unterschrieben  Tee am Morgen\n")
    spoken = run(silas("persona", "show"), env).out
    for words in ("Voreinstellung default (von ", "Stimmung       neutral", "Wärme     "):
        assert words in spoken
    assert "  enthalten  " in run(silas("skills", "list"), env).out
    assert '"trust": "bundled"' in run(silas("skills", "list", "--json"), env).out
    assert '"mood_words": "neutral"' in run(silas("persona", "show", "--json"), env).out


def test_each_end_of_a_cycle_has_a_word_in_german() -> None:
    try:
        for language in ("en", "de"):
            speak_as_configured(language, {})
            said = {one.value: outcome_word(one.value) for one in Outcome}
            assert not any("_" in word for word in said.values())
            assert len(set(said.values())) >= len(Outcome) - 1
        assert (said["not_fixed"], said["broken_off"]) == ("nicht behoben", "abgebrochen")
        assert _english(" ".join(said.values())) == []
    finally:
        speak_as_configured("en", {})


def test_a_card_and_its_progress_have_the_same_colours_in_german() -> None:
    lines = {
        "en": ("Risk: irreversible", "Risk: high", "Your choice, 1 to 2: ", "done: x", "stuck: x"),
        "de": (
            "Risiko: nicht rückgängig zu machen",
            "Risiko: hoch",
            "Deine Wahl, 1 bis 2: ",
            "erledigt: x",
            "festgefahren: x",
        ),
    }
    painted = dict[str, list[str]]()
    try:
        for language, said in lines.items():
            speak_as_configured(language, {})
            painted[language] = [paint(line).partition("m")[0] for line in said]
            assert paint("    Risk: high") == "    Risk: high"
    finally:
        speak_as_configured("en", {})
    assert painted["de"] == painted["en"]
    assert all(start.startswith("\x1b[") for start in painted["en"])
