"""What a good plan becomes (spec 4.15, 7.2, 13)."""

from pathlib import Path

import pytest

from silas.gates import EscalationAction, Expectation
from silas.plans import PlanError, PlanParser, WorkItem, plan_bytes
from silas.testing.builders import BODY, a_plan, plan_text
from silas.types import InteractionMode

PLANS = Path(__file__).parents[2] / "plans"
EXAMPLES = sorted(PLANS.glob("*.md"))


def _parse(text: str) -> WorkItem:
    return PlanParser().parse(text)


def test_the_built_text_and_the_built_item_are_the_same_plan() -> None:
    assert plan_bytes(_parse(plan_text())) == plan_bytes(a_plan())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_plans_of_the_specification_parse(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    item = _parse(text)
    assert item.needs_approval
    assert text.endswith(f"---\n\n{item.body}\n")


def test_all_five_example_plans_are_shipped() -> None:
    assert len(EXAMPLES) == 5


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
            network=["pypi.org", "localhost"],
            tools=[{"name": "web_search"}],
            worker="coder",
        )
    )
    assert (item.parent, item.spawned_by, item.follow_up_of) == ("goal-0", "goal-0", "task-0")
    assert (item.domain, item.agent, item.schedule) == ("business:acme", "ephemeral", "always_on")
    assert (item.budget.max_tokens, item.budget.max_cost_usd) == (1, 1.0)
    assert item.interaction_mode is InteractionMode.act_and_report
    assert item.escalation == {"stop": EscalationAction(action="report")}
    assert (item.on_failure, item.on_stuck, item.failure_context) == ("spawn_task", "report", "x")
    assert (item.network, item.worker) == (["pypi.org", "localhost"], "coder")
    assert item.tools == [{"name": "web_search"}]
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
