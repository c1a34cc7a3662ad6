"""From a model's plan to running work: nothing runs that the owner did not approve as shown."""

from collections.abc import Callable
from typing import Any

import pytest

from silas.agents import PlanActionType
from silas.agents.models import RouteDecision
from silas.cards import Card, PlanAnswer, PlanCard
from silas.errors import ChannelError, SandboxError
from silas.plans import PlanError, WorkItem, WorkItemStatus
from silas.testing import (
    CallTool,
    FakeSandbox,
    Harness,
    ScriptedChannel,
    ScriptedModel,
    a_plan,
    plan_text,
)
from silas.testing.tools import exit_result
from silas.types import OWNER, InteractionMode, InteractionRegister
from tests.stream.kit import (
    WaitingSandbox,
    answer,
    answering,
    done_sandbox,
    entries_of,
    planned,
    proposing,
    ran,
    recorded,
    said,
    saying_yes,
    soon,
)


async def nothing_ran(h: Harness, sandbox: FakeSandbox) -> None:
    """No command, no attempt, no use of an approval, nothing kept."""
    events = [event for event, _ in await recorded(h)]
    assert sandbox.runs == []
    assert {"work_item_attempt", "approval.used", "tool_call.attempted"}.isdisjoint(events)
    assert await h.silas.work_items() == []


@pytest.mark.proves("S5.1-12-OVERRIDE", "S5.1-12-PLANS-ALWAYS-ASK")
@pytest.mark.parametrize("wish", [True, False])
async def test_a_plan_always_asks_whatever_the_model_says(wish: bool) -> None:
    channel, sandbox = ScriptedChannel(), done_sandbox()
    models = planned(proposing(plan_text(), needs_approval=wish))
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        await soon(h.silas.ask("do it"))
        overridden = await entries_of(h, "needs_approval_overridden")
        await nothing_ran(h, sandbox)
    assert [type(card) for card in channel.cards] == [PlanCard]
    assert [entry["work_item_id"] for entry in overridden] == ([] if wish else ["task-example"])


@pytest.mark.parametrize("wish", ["true", "false"])
async def test_what_the_plan_says_about_approval_does_not_count_either(wish: str) -> None:
    channel, sandbox = ScriptedChannel(), done_sandbox()
    text = plan_text(needs_approval=wish == "true")
    async with Harness(channel, models=planned(proposing(text)), sandbox=sandbox) as h:
        await soon(h.silas.ask("do it"))
        await nothing_ran(h, sandbox)
    assert len(channel.cards) <= 1


@pytest.mark.proves("S5.1.2-NO-STOPS")
@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("declined", "The plan was not approved; nothing was run."),
        ("conditional", "A plan is approved as it is or not at all; nothing was run."),
    ],
)
async def test_any_answer_but_yes_runs_nothing_and_says_so(verdict: str, words: str) -> None:
    channel, sandbox = ScriptedChannel(answering(verdict)), done_sandbox()
    async with Harness(channel, models=planned(proposing(plan_text())), sandbox=sandbox) as h:
        reply = await soon(h.silas.ask("do it"))
        (entry,) = await entries_of(h, "plan_not_approved")
        await nothing_ran(h, sandbox)
    assert reply.outcome == "declined"
    assert words in reply.text
    assert "nothing was run" in reply.text
    assert channel.texts == [reply.text]
    assert entry["verdict"] == verdict


def one_by_one(*verdicts: str) -> Callable[[Card[Any]], Any]:
    """A verdict for each plan card, in turn."""
    left = iter(verdicts)

    def answers(card: Card[Any]) -> Any:
        return answering(next(left))(card)

    return answers


@pytest.mark.parametrize("action", [PlanActionType.propose, PlanActionType.revise])
async def test_words_for_a_change_reach_the_planner_with_the_plan_and_a_new_card_comes(
    action: PlanActionType,
) -> None:
    same_id = action is PlanActionType.propose
    first = plan_text(body="# What to do\n\nWrite the tortoise report.")
    second = plan_text(
        **({} if same_id else {"id": "task-shorter"}), body="# What to do\n\nWrite it shorter."
    )
    channel = ScriptedChannel(one_by_one("edit_requested", "approved"))
    models = planned(proposing(first), proposing(second, action=action))
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        asked = await soon(h.silas.ask("write the report"))
        waits = await h.silas.runs.proposer.question("task-example")
        changed = await soon(h.silas.ask("make it shorter"))
        left = await h.silas.runs.proposer.waiting()
        await soon(h.silas.wait_for_work())
    assert asked.outcome == "waiting"
    assert "nothing was run. It waits: `silas approve task-example` shows it again." in asked.text
    assert waits is not None
    request = models["planner"].requests[1].text
    assert "Write the tortoise report." in request
    assert "make it shorter" in request
    assert changed.outcome == "dispatched"
    assert [type(card) for card in channel.cards] == [PlanCard, PlanCard]
    assert left == []


async def test_a_plan_to_change_waits_on_when_another_one_comes_between() -> None:
    channel = ScriptedChannel(one_by_one("edit_requested", "declined", "approved"))
    models = planned(proposing(plan_text()), proposing(plan_text(id="task-other")))
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.ask("do something else"))
        assert [item.id for item in await h.silas.runs.proposer.waiting()] == ["task-example"]
        result = await soon(h.silas.answer("task-example"))
    assert result.status is WorkItemStatus.done


async def test_a_channel_that_fails_at_the_question_means_no() -> None:
    class Broken(ScriptedChannel):
        async def ask(self, to: str, card: Card[Any]) -> Any:
            raise ChannelError("The connection closed.")

    sandbox = done_sandbox()
    async with Harness(Broken(), models=planned(proposing(plan_text())), sandbox=sandbox) as h:
        reply = await soon(h.silas.ask("do it"))
        assert await entries_of(h, "card_unanswered")
        await nothing_ran(h, sandbox)
    assert reply.outcome == "declined"


async def test_an_unreadable_plan_is_answered_with_its_line_and_column() -> None:
    channel, sandbox = ScriptedChannel(saying_yes), done_sandbox()
    wrong = proposing(plan_text(colour="blue"), "Here it is.")
    models = planned(wrong, wrong)
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        reply = await soon(h.silas.ask("do it"))
        (entry,) = await entries_of(h, "plan_unreadable")
        await nothing_ran(h, sandbox)
    assert channel.cards == []
    assert reply.outcome == "blocked"
    assert "Here it is.\n\nThe plan cannot be read: line 6, column 1:" in reply.text
    assert "line 6, column 1" in entry["reason"]


async def test_an_unreadable_plan_given_by_the_owner_is_on_record_too() -> None:
    async with Harness(sandbox=done_sandbox()) as h:
        with pytest.raises(PlanError, match="line 1, column 1"):
            await soon(h.silas.run("no plan at all"))
        assert await entries_of(h, "plan_unreadable")


@pytest.mark.parametrize(
    ("action", "plan"),
    [
        (PlanActionType.abort, plan_text()),
        (PlanActionType.execute_next, plan_text()),
        (PlanActionType.abort, None),
        (PlanActionType.propose, None),
        (PlanActionType.revise, None),
    ],
)
async def test_an_action_that_proposes_nothing_runs_nothing_even_with_a_plan(
    action: PlanActionType, plan: str | None
) -> None:
    channel, sandbox = ScriptedChannel(saying_yes), done_sandbox()
    models = planned(proposing(plan, action=action))
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        reply = await soon(h.silas.ask("go on"))
        assert [e["action"] for e in await entries_of(h, "plan_action_refused")] == [action]
        await nothing_ran(h, sandbox)
    assert channel.cards == []
    assert reply.outcome == "blocked"
    assert "Nothing was run" in reply.text


Change = Callable[[WorkItem], None]


def _set(**fields: Any) -> Change:
    def change(item: WorkItem) -> None:
        for name, value in fields.items():
            setattr(item, name, value)

    return change


@pytest.mark.proves("B2-CHANGED-PLAN-REFUSED")
@pytest.mark.parametrize(
    "change",
    [
        _set(body="Delete everything."),
        _set(title="Something else"),
        _set(verify=[]),
        _set(workspace="/"),
        _set(network=["evil.example"]),
        _set(id="task-other"),
    ],
)
async def test_a_plan_that_changes_between_card_and_answer_is_refused(change: Change) -> None:
    item = a_plan()

    def change_it(card: Card[Any]) -> Any:
        change(item)
        return PlanAnswer(verdict="approved")

    channel, sandbox = ScriptedChannel(change_it), done_sandbox()
    async with Harness(channel, sandbox=sandbox) as h:
        proposal = await soon(h.silas.runs.proposer.propose(item, channel, OWNER, "why"))
        (refused,) = await entries_of(h, "plan_refused")
        await nothing_ran(h, sandbox)
    assert proposal.verdict == "refused"
    assert "the plan changed after it was shown; nothing was run" in proposal.words
    assert "changed" in refused["reason"]
    assert item.approval_token is None


@pytest.mark.proves(
    "S5.1-12-BACKGROUND", "S5.1-12-PROGRESS", "S5.1-13-SENT-ONCE", "S18.6-NOT-BLOCKED"
)
async def test_approved_work_runs_in_the_background_and_turns_go_on_meanwhile() -> None:
    sandbox, channel = WaitingSandbox(), ScriptedChannel(saying_yes)
    models = planned(proposing(plan_text()), answer("Still here."))
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        reply = await soon(h.silas.ask("do it"))
        assert reply.outcome == "dispatched"
        assert channel.texts[0] == "I propose this.\n\nApproved: Write the result. Working on it."
        await soon(sandbox.started.wait())
        meanwhile = await soon(h.silas.ask("are you there?"))
        assert meanwhile.text == "Still here."
        assert "done:" not in "".join(channel.texts)
        sandbox.go_on.set()
        result = await soon(h.silas.wait("task-example"))
    assert result is not None
    assert result.status is WorkItemStatus.done
    assert channel.texts[1:] == [
        "working: attempt 1",
        "Still here.",
        "The executor's report (its own words; on record: 1 call ran):\n    Done.",
        "What it printed (not Silas's words):\nRun true\n    done",
        "done: Done and verified: written.",
    ]


@pytest.mark.proves("S5.1-12-PROGRESS")
async def test_progress_is_told_in_order_and_to_whoever_asked() -> None:
    outputs = iter(["ok\n", "no\n", "ok\n", "done\n"])
    sandbox = FakeSandbox(lambda run: exit_result(0, next(outputs)))
    call, channel = CallTool("shell_exec", {"argv": ["true"]}), ScriptedChannel(saying_yes)
    again = CallTool("shell_exec", {"argv": ["true", "again"]})
    models = planned(proposing(plan_text()), executor=[call, ran(), again, ran()])
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        await soon(h.silas.stream.handle(said(h, "do it", "desk-7")))
        await soon(h.silas.wait("task-example"))
    assert {to for to, _ in channel.sent} == {"desk-7"}
    assert [text.split(":")[0] for text in channel.texts[1:]] == [
        "working",
        "not yet right",
        "working",
        "done",
    ]


async def test_a_strangers_plan_is_decided_by_the_owner_who_sees_whose_it_is() -> None:
    asked: list[tuple[str, str]] = []

    class Watching(ScriptedChannel):
        async def ask(self, to: str, card: Card[Any]) -> Any:
            asked.append((to, card.rationale))
            return card.safe

    sandbox = done_sandbox()
    models = planned(proposing(plan_text(), "It is harmless."))
    async with Harness(Watching(), models=models, sandbox=sandbox) as h:
        message = said(h, "do it", "stranger", channel="webhook", sender="eve")
        reply = await soon(h.silas.stream.handle(message))
        await nothing_ran(h, sandbox)
    assert asked == [(OWNER, "eve on webhook (external) asked for this. It is harmless.")]
    assert reply.outcome == "declined"


async def test_a_plan_without_a_word_of_explanation_can_be_shown() -> None:
    channel = ScriptedChannel()
    models = planned(proposing(plan_text(), " "))
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        await soon(h.silas.ask("do it"))
    assert channel.cards[0].rationale == "The agent gives no reason."


async def test_without_a_sandbox_nobody_is_asked_in_vain() -> None:
    channel = ScriptedChannel(saying_yes)
    models = planned(proposing(plan_text()))
    from silas.sandbox import RefusingSandbox, SandboxUnavailable

    refusing = RefusingSandbox(SandboxUnavailable("Install bubblewrap."))
    async with Harness(channel, models=models, sandbox=refusing) as h:
        with pytest.raises(SandboxError, match="Install bubblewrap"):
            await soon(h.silas.ask("do it"))
        (failed,) = await entries_of(h, "turn_failed")
    assert channel.cards == []
    assert str(failed["code"]).startswith("E_SANDBOX")


@pytest.mark.proves("S5.1-12-OVERRIDE", "S5.1-12-PLANS-ALWAYS-ASK")
async def test_a_plan_in_the_proxys_own_answer_goes_the_same_road() -> None:
    channel, sandbox = ScriptedChannel(), done_sandbox()
    route = RouteDecision(
        route="direct",
        reason="quick",
        response=proposing(plan_text(), needs_approval=False),
        interaction_register=InteractionRegister.execution,
        interaction_mode=InteractionMode.act_and_report,
        context_profile="conversation",
    )
    models = {"proxy": ScriptedModel([route])}
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        reply = await soon(h.silas.ask("do it"))
        await nothing_ran(h, sandbox)
    assert reply.outcome == "declined"
    assert len(channel.cards) == 1


async def test_an_approved_goal_is_not_said_to_be_worked_on() -> None:
    channel = ScriptedChannel(saying_yes)
    goal = plan_text(type="goal", schedule="0 7 * * *")
    async with Harness(channel, models=planned(proposing(goal))) as h:
        reply = await soon(h.silas.ask("check it every morning"))
        assert reply.outcome == "dispatched", reply.text
        assert reply.text == "I propose this.\n\nApproved: Write the result."


@pytest.mark.parametrize("more", [{}, {"type": "goal", "schedule": "0 7 * * *"}], ids=str)
async def test_the_title_of_approved_work_hides_nothing(more: dict[str, str]) -> None:
    plan = plan_text(title="P\u0430y the bill", **more)  # with a Cyrillic letter
    async with Harness(ScriptedChannel(saying_yes), models=planned(proposing(plan))) as h:
        reply = await soon(h.silas.ask("do it"))
    assert "Approved: P<U+0430>y the bill." in reply.text
