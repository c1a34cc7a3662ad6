"""Why a goal or a project is not even asked about, to who reads German."""

from pathlib import Path

import pytest

from silas.plans.projects.document import join_project
from silas.testing import Harness, ScriptedChannel, plan_text
from tests.goals.kit import goal_text
from tests.projects.kit import chain, project_text
from tests.stream.kit import saying_yes

pytestmark = pytest.mark.usefixtures("german")

_ZERO = {"exit_code": 0}
_BLIND = goal_text(verify=[{"name": "alive", "run": "pgrep -f bot", "expect": _ZERO}])
_NOBODY = "Nichts wurde gefragt, und nichts wurde ausgeführt."


def _with_goal() -> str:
    goal = goal_text(id="a", parent="p")
    return join_project(plan_text(id="p", type="project", tasks=["a"], title="Two"), [("a", goal)])


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (
            _BLIND,
            "Die Prüfung „alive“ fragt mit pgrep nach Prozessen dieses Rechners, und Prüfungen "
            "laufen in einer Sandbox, die keine zeigt; lass sie eine Datei ansehen, die aktuell "
            "gehalten wird, oder eine Adresse.",
        ),
        (
            _BLIND.replace("pgrep -f bot", "curl localhost"),
            "Die Prüfung „alive“ fragt localhost, und das ist in der Sandbox, in der Prüfungen "
            "laufen, diese selbst; starte den Server im selben Befehl mit `&`, oder frage nach "
            "einem Rechnernamen, den die Prüfung unter `network` hat.",
        ),
        (
            _BLIND.replace("pgrep -f bot", "test -d /proc/7"),
            "Die Prüfung „alive“ sieht sich /proc/7 an, und die Sandbox, in der Prüfungen laufen, "
            "hat nur eigene Prozesse und Verbindungen; lass sie eine Datei ansehen, die aktuell "
            "gehalten wird, oder eine Adresse.",
        ),
        (
            _BLIND.replace("pgrep -f bot", "cat /run/bot.pid"),
            "Die Prüfung „alive“ sieht sich /run/bot.pid an, und die Sandbox, in der Prüfungen "
            "laufen, zeigt nichts, was auf diesem Rechner läuft; lass sie eine Datei aus dem "
            "Arbeitsordner des Plans ansehen, die aktuell gehalten wird, oder eine Adresse.",
        ),
        (
            goal_text(schedule="2020-01-01T09:00:00+01:00"),
            "Der Zeitpunkt von goal-watched ist vorbei; gib ihm einen späteren (`schedule`).",
        ),
        (
            project_text(chain("a", "b")).replace('"b"]', '"b", "c"]', 1),
            "Die Aufgabe c von project-deploy fehlt; setze ihren Plan hinter den des Projekts, "
            "unter eine Zeile `=== task: c ===`, oder, wenn du es aus einer Datei "
            "startest, in c.md neben dieser Datei.",
        ),
        (
            project_text({"a": {"depends_on": ["b"]}, "b": {"depends_on": ["a"]}}),
            "Die Aufgaben von project-deploy warten im Kreis aufeinander: a -> b -> a; nimm ein "
            "`depends_on` heraus.",
        ),
        (
            project_text({"a": {"on_stuck": "spawn_task"}}),
            "Die Aufgabe a könnte nicht laufen. Wenn a festgefahren ist, folgt „spawn_task“, und "
            "das kann nichts; nimm `on_stuck: consult_planner` oder `report`.",
        ),
        (
            _with_goal(),
            "a ist als Ziel angelegt, und ein Projekt hat nur Aufgaben; führe es als eigenen Plan "
            "aus.",
        ),
    ],
)
async def test_what_could_not_run_is_refused_in_german(plan: str, told: str) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, settings={"language": "de"}) as h:
        result = await h.silas.run(plan)
    assert result.summary == f"{told} {_NOBODY}"
    assert channel.cards == []


async def test_a_task_that_was_approved_elsewhere_is_refused_in_german(tmp_path: Path) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, settings={"language": "de"}) as h:
        await h.silas.run(plan_text(id="a"))
        result = await h.silas.run(project_text(chain("a", "b")))
        gone = await h.silas.run(plan_text(id="b", workspace=str(tmp_path / "gone")))
    assert result.summary == (
        "Der Plan wurde verweigert: die Aufgabe a wurde anderswo als eigene Arbeit genehmigt, und "
        "das zählt nicht für project-deploy; gib ihr eine andere Kennung; nichts wurde ausgeführt."
    )
    assert gone.summary == (
        f"Der Plan wurde verweigert: Der Arbeitsordner {tmp_path}/gone des Plans existiert "
        "nicht: lege den Ordner an, oder nenne in `workspace:` einen anderen; nichts wurde "
        "ausgeführt."
    )
