"""The moments of a goal in a terminal: by the clock that its schedule goes by, with the zone."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.command import environment, run, silas

GOAL = """---
id: goal-there
type: goal
title: The list is there
schedule: "{schedule}"
workspace: {place}
budget: {{ max_tokens: 10000, max_cost_usd: 0.10, max_wall_time_seconds: 120 }}
verify:
  - {{ name: there, run: "test -s list.txt", expect: {{ exit_code: 0 }} }}
---

Keep it.
"""


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ("0 7 * * *", "07:00 (Asia/Kathmandu, UTC+05:45)"),
        ("CRON_TZ=Asia/Tokyo 0 7 * * *", "07:00 (Asia/Tokyo, UTC+09:00)"),
    ],
)
def test_a_goal_is_said_by_its_own_clock(schedule: str, said: str, tmp_path: Path) -> None:
    place, plan = tmp_path / "place", tmp_path / "goal.md"
    place.mkdir()
    (place / "list.txt").write_text("one\n")
    plan.write_text(GOAL.format(schedule=schedule, place=place))
    env = environment(tmp_path / "home", TZ="Asia/Kathmandu")
    assert run(silas("init"), env).code == 0
    approved = run(silas("plan", "check", plan), env).out.rpartition("sha256:")[2].strip()
    ran = run(silas("run", plan, "--approve", f"sha256:{approved}"), env)
    assert said in ran.out, ran.err + ran.out
    for words in (("list",), ("show", "goal-there"), ("next", "goal-there")):
        told = run(silas("goals", *words), env)
        assert said in told.out, told.err + told.out
        assert "+00:00" not in told.out
    assert run(silas("goals", "pause", "goal-there"), env).code == 0
    assert said in run(silas("goals", "resume", "goal-there"), env).out


def test_how_far_the_yes_to_a_goal_goes_stands_in_the_lists_of_goals(tmp_path: Path) -> None:
    place, plan = tmp_path / "place", tmp_path / "goal.md"
    place.mkdir()
    (place / "list.txt").write_text("one\n")
    end = (datetime.now(UTC) + timedelta(days=3)).replace(hour=12, minute=0, microsecond=0)
    until = end.isoformat(timespec="minutes")
    more = f'cycle: work\nstanding: {{ uses: 3, until: "{until}" }}\nworkspace'
    text = GOAL.format(schedule="0 7 * * *", place=place)
    plan.write_text(text.replace("workspace", more, 1))
    env = environment(tmp_path / "home", TZ="UTC")
    assert run(silas("init"), env).code == 0
    checked = run(silas("plan", "check", plan), env)
    assert f"{end:%A %-d %B %Y}, 12:00 (UTC+00:00)" in " ".join(checked.out.split()), checked.out
    approved = checked.out.rpartition("sha256:")[2].strip()
    assert run(silas("run", plan, "--approve", f"sha256:{approved}"), env).code == 0
    told = f"used 0 of 3, until {end:%A %-d %B %Y}, 12:00"
    for words in (("list",), ("show", "goal-there")):
        shown = run(silas("goals", *words), env)
        assert f"your yes: {told}" in shown.out, shown.err + shown.out
    assert told in run(silas("ahead"), env).out
    (listed,) = json.loads(run(silas("goals", "list", "--json"), env).out)
    shown_one = json.loads(run(silas("goals", "show", "goal-there", "--json"), env).out)
    assert listed["yes"] == shown_one["yes"]
    assert listed["yes"]["words"].startswith(told)
    assert (listed["yes"]["used"], listed["yes"]["uses"]) == (0, 3)
    assert datetime.fromisoformat(listed["yes"]["until"]) == end.replace(second=0)
    (alone,) = json.loads(run(silas("ahead", "--json"), env).out)["alone"]
    assert alone["left"] == listed["yes"]["words"]
