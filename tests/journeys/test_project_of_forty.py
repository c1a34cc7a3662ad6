"""A project of 40 tasks in the real sandbox: one yes, what runs at once, and one undo."""

import json
import os
from pathlib import Path

import pytest

from tests.support.command import Ended, environment, run, silas

PROJECT = "project-forty"
NAMES = [f"task-{number:02}" for number in range(40)]
PLACES = ("first", "second", "third", "fourth")

PLAN = """---
id: project-forty
type: project
title: Build forty parts
interaction_mode: act_and_report
budget: {{ max_tokens: 500000, max_cost_usd: 10.00, max_wall_time_seconds: 7200 }}
workspace: {workspace}
tasks: {tasks}
verify:
  - {{ name: whole, run: "test $(wc -l < parts) -eq 10", expect: {{ exit_code: 0 }} }}
---

Four places, ten parts in each, one after the other.
"""

TASK = """---
id: {name}
type: task
title: Part {number}
workspace: {workspace}
depends_on: {after}
verify:
  - {{ name: there, run: "test $(wc -l < parts) -eq {part}", expect: {{ exit_code: 0 }} }}
---

Part {number} follows the one before it.

```sh
test "$(tail -n 1 parts)" = "{before}"
echo {name} >> parts
```
"""


class Forty:
    """A home, four places, and a project of forty tasks over them."""

    def __init__(self, base: Path) -> None:
        self.base, self.env = base, environment(base / "home")
        plans = base / "plans"
        for name in (*PLACES, "plans"):
            (base / name).mkdir()
        for place in PLACES:
            (base / place / "parts").write_text("")
        self.plan = plans / "forty.md"
        self.plan.write_text(PLAN.format(workspace=base / PLACES[0], tasks=json.dumps(NAMES)))
        for number, name in enumerate(NAMES):
            before = NAMES[number - 4] if number >= 4 else ""
            text = TASK.format(
                name=name,
                number=number,
                workspace=base / PLACES[number % 4],
                part=number // 4 + 1,
                before=before,
                after=json.dumps([before] if before else []),
            )
            (plans / f"{name}.md").write_text(text)

    def silas(self, *words: str | Path) -> Ended:
        return run(silas(*words), self.env)

    def parts(self) -> list[list[str]]:
        return [(self.base / place / "parts").read_text().split() for place in PLACES]


@pytest.fixture
def forty(tmp_path: Path) -> Forty:
    made = Forty(tmp_path)
    assert made.silas("init").code == 0
    return made


def test_forty_tasks_are_one_yes_and_go_back_with_one_undo(forty: Forty) -> None:
    checked = forty.silas("plan", "check", "--json", forty.plan)
    assert checked.code == 0, checked.err
    approved = json.loads(checked.out)["approve"]
    ran = forty.silas("run", forty.plan, "--approve", approved, "--json")
    assert ran.code == 0, ran.err + ran.out
    assert json.loads(ran.out)["summary"] == "All 40 tasks are done, and verified: whole."
    assert forty.parts() == [NAMES[place::4] for place in range(4)]
    shown = forty.silas("projects", "show", PROJECT)
    assert shown.out.count(" done ") == 40, shown.out
    undone = forty.silas("undo", PROJECT)
    assert undone.code == 0, undone.err
    order = undone.out.removeprefix("Taken back, in this order: ").rstrip(".\n").split(", ")
    assert sorted(order) == NAMES
    for place in range(4):  # what came last in a place goes back first
        assert [name for name in order if name in NAMES[place::4]] == NAMES[place::4][::-1]
    assert forty.parts() == [[], [], [], []]
    assert forty.silas("audit", "verify").code == 0


def test_what_changed_since_stops_the_undo_and_it_goes_on_once_that_is_put_back(
    forty: Forty,
) -> None:
    approved = json.loads(forty.silas("plan", "check", "--json", forty.plan).out)["approve"]
    assert forty.silas("run", forty.plan, "--approve", approved).code == 0
    parts = forty.base / PLACES[2] / "parts"
    made = parts.read_bytes()
    facts = parts.stat()
    parts.write_bytes(made + b"mine\n")
    stopped = forty.silas("undo", PROJECT)
    assert stopped.code != 0
    assert NAMES[38] in stopped.err + stopped.out
    assert parts.read_bytes() == made + b"mine\n"
    parts.write_bytes(made)
    os.utime(parts, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert forty.silas("undo", PROJECT).code == 0
    assert forty.parts() == [[], [], [], []]
