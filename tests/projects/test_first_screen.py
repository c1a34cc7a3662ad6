"""What a person at a terminal sees first of a project: 24 lines, however many tasks it has."""

import fcntl
import io
import pty
import struct
import termios
from typing import Any

import pytest

from silas.cards import PlanCard
from silas.channels import CLIChannel
from silas.channels.text import MORE, render_card, render_short
from silas.plans import PlanParser, WorkItem, plan_bytes
from silas.plans.projects.card import BoundPlan, project_card
from silas.testing.clock import MockClock
from tests.projects.kit import chain, project_text
from tests.support.command import read_until


def _card(many: int, checks: list[dict[str, Any]] | None = None) -> PlanCard:
    """Of a project whose tasks each wait for the one before."""
    tasks = chain(*(f"task-{number:02}" for number in range(1, many + 1)))
    given = {name: {**task, "workspace": "/srv/app"} for name, task in tasks.items()}
    item = PlanParser().parse(project_text(given, verify=checks))
    return project_card(_bound(item), [_bound(task) for task in item.children], "You asked for it.")


def _bound(item: WorkItem) -> BoundPlan:
    return BoundPlan(plan_bytes(item), {}, {}, {})


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("many", [1, 3, 6, 40])
def test_a_terminal_shows_a_project_on_24_lines_with_its_hash(many: int, width: int) -> None:
    card = _card(many)
    lines = render_short(card, width).split("\n")
    text = "\n".join(lines).replace("\n   \\ ", "")
    assert len(lines) <= 24
    assert card.approves in text
    assert f"Does {many} task" in text
    shown = sum(f"(`task-{number:02}`)" in text for number in range(1, many + 1))
    told = [line.strip() for line in text.split("\n") if line.endswith("before you answer.")]
    if shown < many:
        further = "further " if shown else ""
        rest = f"{many - shown} {further}task{'s' if many - shown > 1 else ''}"
        [line] = told
        assert line.startswith(rest)
        assert line.endswith(f': "{MORE}" shows all of it before you answer.')
        assert width < 80 or f"({shown + 1}. Do task-{shown + 1:02}" in line
    else:
        assert told == []
    assert "".join(lines).count("1  Approve") == 1


class _LeftTerminal(io.StringIO):
    """A terminal whose owner types nothing more."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize("many", [3, 6, 40])
async def test_a_screen_of_24_rows_shows_the_card_its_question_and_the_line_for_the_answer(
    many: int, columns: int
) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(theirs, "w", encoding="utf-8") as screen, open(ours, "rb", buffering=0):
        channel = CLIChannel(_LeftTerminal(), screen, MockClock())
        await channel.ask("owner", _card(many))
        screen.flush()
        shown = read_until(ours, "Your choice, 1 to 3").split("\r\n")
    (asked,) = [n for n, line in enumerate(shown) if line.startswith("Your choice, 1 to 3")]
    rows = [max(1, -(-len(line) // columns)) for line in shown[: asked + 1]]
    assert sum(rows) + 1 <= 24
    assert shown[0] == "=" * columns


def test_tasks_that_do_not_fit_are_named_where_there_is_room_for_it() -> None:
    text = render_short(_card(3), 88).replace("\n   \\ ", "")
    assert '2 further tasks (2. Do task-02; 3. Do task-03): "more" shows all of it' in text
    text = render_short(_card(40), 88).replace("\n   \\ ", "")
    assert "39 further tasks (2. Do task-02; 3. Do task-03; " in text
    assert "; 6. Do task-06; …): " in text


def test_all_tasks_stand_in_the_whole_text() -> None:
    whole = render_card(_card(40), 80)
    assert all(f"{number}. Do task-{number:02} (" in whole for number in range(1, 41))


def test_what_its_own_checks_may_touch_stands_on_the_first_screen_where_there_are_any() -> None:
    check = {"name": "whole", "run": "true", "expect": {"exit_code": 0}}
    heading = "What its own checks may touch, beside its tasks"
    assert heading not in render_short(_card(3), 80)
    assert heading in render_short(_card(3, [check]), 80)
    assert heading in render_card(_card(3), 80)
