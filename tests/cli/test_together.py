"""Commands beside a Silas that runs, five processes at a time: none is lost or doubled."""

import json
import re
from contextlib import ExitStack
from pathlib import Path

from silas.testing import plan_text
from tests.support.command import Ended, environment, person, run, silas, started
from tests.support.waits import SECONDS

ROUNDS, DUE = 3, "in 3 hours to"
GOAL = "goal-watch"
NAMES = ("arms", "back", "legs", "neck", "wrists")


class Together:
    """A home with a goal that is healthy, and what its commands said."""

    def __init__(self, folder: Path) -> None:
        self.env = environment(folder / "home")
        assert run(silas("init"), self.env).code == 0
        (folder / "place").mkdir()
        plan = folder / "goal.md"
        plan.write_text(
            plan_text(
                id=GOAL,
                type="goal",
                title="Watch the place",
                schedule="0 3 1 1 *",
                workspace=str(folder / "place"),
                verify=[{"name": "there", "run": "true", "expect": {"exit_code": 0}}],
            )
        )
        approved = run(silas("plan", "check", plan), self.env).out.split()[-1]
        assert run(silas("run", plan, "--approve", approved), self.env).code == 0
        self.told: list[tuple[tuple[str, ...], Ended]] = []

    def at_once(self, *commands: tuple[str, ...]) -> None:
        """A process each, all of them begun before any is waited for."""
        with ExitStack() as running:
            begun = [running.enter_context(started(silas(*words), self.env)) for words in commands]
            for words, process in zip(commands, begun, strict=True):
                out, err = process.communicate(timeout=SECONDS)
                self.told.append((words, Ended(process.wait(SECONDS), out, err)))

    def waiting(self) -> list[str]:
        """The texts of the reminders that are still to come."""
        listed = run(silas("remind", "list", "--json"), self.env)
        return sorted(one["text"] for one in json.loads(listed.out))


def _made(name: str) -> tuple[str, ...]:
    return "remind", f"{DUE} {name}", "--yes"


def test_reminders_goals_and_questions_of_five_processes_at_a_time(tmp_path: Path) -> None:
    home = Together(tmp_path)
    with person(silas("start", "--port", "0"), home.env) as cockpit:
        cockpit.waits_for("Afterwards it is at http://127.0.0.1:")
        home.at_once(*(_made(f"stretch {name}") for name in NAMES))
        for number in range(ROUNDS):
            home.at_once(
                _made(f"call {number}"),
                ("ask", f"what is {number}+2?"),
                ("goals", "run", GOAL),
                ("remind", "cancel", f"stretch {NAMES[number]}"),
                _made(f"write {number}"),
            )
        home.at_once(
            *[_made("water the flowers")] * 2, *[("remind", "cancel", f"stretch {NAMES[3]}")] * 3
        )
        left = home.waiting()
        cockpit.types("\x03")
        assert cockpit.leaves() == 0
    calls = [f"{what} {number}" for what in ("call", "write") for number in range(ROUNDS)]
    assert left == sorted([*calls, f"stretch {NAMES[4]}", *["water the flowers"] * 2])
    everything = cockpit.seen + "".join(ended.out + ended.err for _, ended in home.told)
    assert not re.search(r"locked|Traceback|went wrong|E_INTERNAL", everything)
    assert [told for told in home.told[:-3] if told[1].code] == []
    cancelled = [ended.code for _, ended in home.told[-3:]]
    assert sorted(cancelled) == [0, 2, 2]  # once; the others hear that it is no more
    for words, ended in home.told:
        if words[0] == "ask":
            assert str(int(words[1][8]) + 2) in ended.out
    record = run(silas("audit", "show", "--last", "500"), home.env).out
    assert record.count("was made, for") == 5 + 2 * ROUNDS + 2
    assert record.count("was cancelled.") == ROUNDS + 1
    assert run(silas("audit", "verify"), home.env).code == 0
