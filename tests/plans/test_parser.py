"""What a good plan becomes (spec 4.15, 7.2, 13)."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from silas.approval.grants import Literal, Pattern, Slot, grants_of
from silas.gates import EscalationAction, Expectation
from silas.plans import PlanError, PlanParser, WorkItem, plan_bytes
from silas.testing.builders import BODY, a_plan, plan_text
from silas.types import InteractionMode
from tests.approval.grant_strategies import GRANTS, Raw
from tests.support.chance import examples

PLANS = Path(__file__).parents[2] / "plans"
EXAMPLES = sorted(PLANS.glob("*.md"))


def _parse(text: str) -> WorkItem:
    return PlanParser().parse(text)


@pytest.mark.proves("S4.15-PURE-PARSING")
def test_the_built_text_and_the_built_item_are_the_same_plan() -> None:
    assert plan_bytes(_parse(plan_text())) == plan_bytes(a_plan())


FORMAT = """---
id: task-3f2a
type: task
title: Fix the date
interaction_mode: act_and_report
skills: [coding]
budget: { max_tokens: 200000, max_cost_usd: 2.00, max_wall_time_seconds: 1800 }
verify:
  - name: tests_pass
    run: "pytest -q"
    expect: { exit_code: 0 }
on_stuck: consult_planner
---

# Context
The report prints tomorrow's date.

# What to do
1. Find it.

# Constraints
No new dependency.

# If you get stuck
Say so.
"""
"""The plan format of section 7.2, its blanks filled in."""


@pytest.mark.proves("S7.2-PLAN-FORMAT")
def test_a_plan_in_the_specified_format_becomes_its_work_item() -> None:
    item = _parse(FORMAT)
    assert item.model_dump(exclude_defaults=True, mode="json") == {
        "id": "task-3f2a",
        "type": "task",
        "title": "Fix the date",
        "interaction_mode": "act_and_report",
        "skills": ["coding"],
        "verify": [
            {
                "name": "tests_pass",
                "run": "pytest -q",
                "expect": {"exit_code": 0},
            }
        ],
        "body": FORMAT.split("---\n\n")[1].rstrip(),
    }


@pytest.mark.proves(
    "S7.2-PLAN-FORMAT", "S3.3-BUDGET-DEFAULTS", "S3.3-MODE-DEFAULT", "S3.3-APPROVAL-BY-DEFAULT"
)
def test_what_a_plan_leaves_out_has_its_specified_default() -> None:
    item = _parse("---\nid: a\ntype: task\ntitle: T\n---\nDo it.\n")
    assert item.budget.model_dump() == {
        "max_tokens": 200_000,
        "max_cost_usd": 2.00,
        "max_wall_time_seconds": 1800,
        "max_attempts": 5,
        "max_planner_calls": 3,
    }
    assert item.interaction_mode is InteractionMode.confirm_only_when_required
    assert (item.agent, item.on_failure, item.on_stuck) == (
        "ephemeral",
        "report",
        "consult_planner",
    )
    assert (item.needs_approval, item.approval_token, item.status) == (True, None, "pending")
    lists = ("input_artifacts_from", "verify", "gates", "skills", "tasks", "depends_on", "read")
    assert [getattr(item, name) for name in (*lists, "network", "tools")] == [[]] * 9
    assert (item.access_levels, item.escalation, item.schedule) == ({}, {}, None)


@pytest.mark.proves("S3.3-CHECK-DEFAULTS")
def test_a_check_that_says_nothing_of_them_has_a_minute_and_no_network() -> None:
    (check,) = _parse(plan_text()).verify
    assert (check.timeout, check.network) == (60, False)


_FILES = ("open", "stat", "lstat", "listdir", "scandir", "readlink", "mkdir", "access")


@pytest.mark.proves("S4.15-PURE-PARSING")
def test_parsing_touches_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    text = plan_text(workspace="/srv/w", read=["/etc/hosts"], worker="coder")
    expected = _parse(text)  # whatever is imported when needed is imported now
    touched: list[object] = []

    def refuse(*args: object, **_: object) -> None:
        touched.append(args)
        raise AssertionError("a file was touched")

    with monkeypatch.context() as patch:
        for name in _FILES:
            patch.setattr(os, name, refuse)
        patch.setattr("builtins.open", refuse)
        with pytest.raises(AssertionError):
            Path("/srv/w").exists()
        touched.clear()
        assert _parse(text) == expected
        with pytest.raises(PlanError):
            _parse(text.replace("type: task", "type: tusk").replace("id: ", "di: "))
    assert touched == []


@pytest.mark.proves("S13-EXAMPLES")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_plans_of_the_specification_parse(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    item = _parse(text)
    assert item.needs_approval
    assert text.endswith(f"---\n\n{item.body}\n")


@pytest.mark.proves("S13-EXAMPLES")
def test_all_five_example_plans_are_shipped() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.proves("S13-EXAMPLES", "S3.3-ALWAYS-ON-STREAM")
def test_an_always_on_goal_lives_in_the_stream_and_keeps_its_gates() -> None:
    item = _parse((PLANS / "customer-support-bot.md").read_text(encoding="utf-8"))
    assert item.agent == "stream"
    assert [gate.name for gate in item.gates] == [
        "toxicity_in",
        "toxicity_out",
        "pii_out",
        "jailbreak_in",
        "identity_verified",
    ]
    assert item.gates[4].check_expect == Expectation(equals="verified")
    assert item.access_levels["verified"].expires_after == 900
    assert item.escalation["suppress_and_rephrase"].fallback == "escalate_human"


@pytest.mark.proves("S3.3-ALWAYS-ON-STREAM")
def test_an_always_on_goal_stays_in_the_lane_it_names() -> None:
    always_on = plan_text(type="goal", schedule="always_on")
    assert _parse(always_on).agent == "stream"
    named = plan_text(type="goal", schedule="always_on", agent="ephemeral")
    assert _parse(named).agent == "ephemeral"
    assert _parse(plan_text(type="goal", schedule="0 * * * *")).agent == "ephemeral"


@pytest.mark.proves("S3.3-EPHEMERAL-WORK")
@pytest.mark.parametrize("kind", ["task", "project"])
def test_tasks_and_projects_have_no_other_lane_than_the_ephemeral_one(kind: str) -> None:
    assert _parse(plan_text(type=kind)).agent == "ephemeral"
    with pytest.raises(PlanError, match="must use agent: ephemeral"):
        _parse(plan_text(type=kind, agent="stream"))
    with pytest.raises(ValidationError, match="must use agent: ephemeral"):
        a_plan(type=kind, agent="stream")


@pytest.mark.proves("S13-EXAMPLES")
def test_the_failure_context_keeps_its_lines_and_its_placeholder() -> None:
    item = _parse((PLANS / "health-monitor.md").read_text(encoding="utf-8"))
    assert item.failure_context is not None
    assert item.failure_context.startswith("The prediction bot health check failed.\n\nFailed")
    assert "\n$failed_checks\n" in item.failure_context
    assert item.failure_context.endswith("check if markets are open.\n")


@pytest.mark.parametrize(
    ("wrapped", "why"),
    [
        ("```markdown\n{}```\n", "a fence with a language"),
        ("```\n{}\n```", "a bare fence"),
        ("~~~~yaml\n{}~~~~\n", "a fence of tildes"),
        ("Here is the plan you asked for:\n\n```md\n{}```\n\nShall I?\n", "prose around"),
        ("See:\n```sh\nls\n```\nPlan:\n```markdown\n{}```\n", "another fence before"),
        ("\ufeff{}", "a byte order mark"),
        ("\n\n{}", "blank lines before"),
    ],
)
def test_a_wrapped_plan_is_the_plan(wrapped: str, why: str) -> None:
    plan = plan_text(body="# Do\n\n```sh\nls\n```\n\nEnd.")
    assert plan_bytes(_parse(wrapped.format(plan))) == plan_bytes(_parse(plan)), why


def test_an_indented_fence_takes_its_indentation_from_every_line() -> None:
    plan = plan_text()
    lines = "\n".join(f"   {line}" if line else "" for line in plan.split("\n"))
    assert plan_bytes(_parse(f"1.\n   ```\n{lines}\n   ```\n")) == plan_bytes(_parse(plan))


def test_windows_line_ends_do_not_change_the_plan() -> None:
    plan = plan_text(body="One\n\nTwo")
    assert plan_bytes(_parse(plan.replace("\n", "\r\n"))) == plan_bytes(_parse(plan))


@pytest.mark.proves("S3.3-APPROVAL-BY-DEFAULT", "S3.3-STATE-IS-RUNTIME")
@pytest.mark.parametrize("claimed", ["false", "true"])
def test_what_a_plan_says_about_needing_approval_never_counts(claimed: str) -> None:
    text = plan_text().replace("type:", f"needs_approval: {claimed}\ntype:")
    assert _parse(text).needs_approval is True


def test_words_that_old_yaml_turns_into_truth_or_time_stay_text() -> None:
    gate = "{ name: g, on: every_user_message, allowed_values: [yes, no, on, off, 12:30, 007] }"
    item = _parse(plan_text().replace("type:", f"gates: [{gate}]\ntype:"))
    assert item.gates[0].allowed_values == ["yes", "no", "on", "off", "12:30", "007"]


def test_paths_are_normalised() -> None:
    item = _parse(plan_text(workspace="//home/me/./src//x/", read=["/a/b/", "/c"]))
    assert item.workspace == "/home/me/src/x"
    assert item.read == ["/a/b", "/c"]


def test_the_body_keeps_everything_but_the_blank_lines_around_it() -> None:
    body = "    indented first\n\n---\n\n\tTab and \u202e\n  last"
    assert _parse(plan_text(body=f"\n \n{body} \n\n")).body == body


def test_a_goal_and_a_project_need_no_briefing() -> None:
    assert _parse(plan_text(type="goal", schedule="*/5 0-6,22 1 */2 7", body="")).body == ""
    assert _parse(plan_text(type="project", tasks=["a", "b"], body="")).tasks == ["a", "b"]


def test_every_plan_field_arrives() -> None:
    item = _parse(
        plan_text(
            type="goal",
            parent="goal-0",
            spawned_by="goal-0",
            follow_up_of="task-0",
            domain="business:acme",
            agent="ephemeral",
            budget={"max_tokens": 1, "max_cost_usd": 1, "max_attempts": 2},
            interaction_mode="act_and_report",
            input_artifacts_from=["*"],
            skills=["coding"],
            access_levels={"public": {"description": "all"}},
            escalation={"stop": {"action": "report"}},
            schedule="always_on",
            on_failure="spawn_task",
            on_stuck="report",
            failure_context="x",
            depends_on=["task-1"],
            network=["example.org", "files.example.org:8443"],
            tools=[{"tool": "web_search"}],
            worker="coder",
        )
    )
    assert (item.parent, item.spawned_by, item.follow_up_of) == ("goal-0", "goal-0", "task-0")
    assert (item.domain, item.agent, item.schedule) == ("business:acme", "ephemeral", "always_on")
    assert (item.budget.max_tokens, item.budget.max_cost_usd) == (1, 1.0)
    assert item.interaction_mode is InteractionMode.act_and_report
    assert item.escalation == {"stop": EscalationAction(action="report")}
    assert (item.on_failure, item.on_stuck, item.failure_context) == ("spawn_task", "report", "x")
    assert (item.network, item.worker) == (["example.org", "files.example.org:8443"], "coder")
    assert item.tools == [{"tool": "web_search"}]
    assert item.body == BODY


@pytest.mark.parametrize("schedule", ["* * * * *", "0,30 9-17/2 * 1-12 0", "*/15  *\t* * *"])
def test_a_cron_expression_of_five_fields_is_a_schedule(schedule: str) -> None:
    assert _parse(plan_text(type="goal", schedule=schedule)).schedule == schedule


def test_the_first_error_of_the_text_is_the_one_that_is_told() -> None:
    text = plan_text(workspace="src", skills=["a", 3], budget={"max_tokens": 0})
    with pytest.raises(PlanError) as refused:
        _parse(text)
    assert "skills[1]" in refused.value.reason


def test_a_large_plan_is_read() -> None:
    checks = [{"name": f"c{i}", "run": "true", "expect": {"exit_code": 0}} for i in range(300)]
    item = _parse(plan_text(verify=checks, body="word " * 40_000))
    assert len(item.verify) == 300


@pytest.mark.proves("B1-TOOL-GRANTS")
def test_the_grants_of_a_plan_arrive_as_they_are_written_and_live_through_its_bytes() -> None:
    front = """---
id: task-report
type: task
title: Send the report
tools:
  - tool: send_email
    args:
      recipients: [alice@example.com]
      subject: { pattern: "Report for .*" }
      body: { slot: text, from: tool get_webpage, max_chars: 2000 }
    times: 2
  - tool: get_webpage
    args: { url: { slot: url, from: owner } }
---
Send it.
"""
    item = _parse(front)
    again = WorkItem.model_validate_json(plan_bytes(item))
    assert grants_of(again.tools) == grants_of(item.tools)
    mail, page = grants_of(item.tools)
    assert (mail.tool, mail.times, page.tool, page.times) == ("send_email", 2, "get_webpage", 1)
    assert mail.args == {
        "body": Slot(
            kind="text",
            sources=("tool get_webpage",),
            max_chars=2000,
            max_items=0,
            optional=False,
        ),
        "recipients": Literal(canonical='["alice@example.com"]'),
        "subject": Pattern(pattern="Report for .*", max_chars=200),
    }


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(GRANTS, max_size=2))
def test_any_grants_that_can_be_read_live_through_the_text_of_a_plan(raw: list[Raw]) -> None:
    printable = json.loads(json.dumps(raw).replace("\\u202e", "x"))  # no plan has that character
    item = _parse(plan_text(tools=printable))
    assert item.tools == printable
    assert grants_of(item.tools) == grants_of(printable)
