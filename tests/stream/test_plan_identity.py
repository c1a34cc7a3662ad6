"""What a plan is linked to, the mode it carries, and what its id stands for."""

from typing import Any

import pytest

from silas.plans import WorkItem, WorkItemStatus, subject_of
from silas.stream.models import SendText
from silas.stream.scope_work import ScopeWork
from silas.testing import (
    CallTool,
    Harness,
    Ports,
    ScriptedChannel,
    ScriptedModel,
    a_plan,
    plan_text,
)
from silas.types import OWNER, InteractionMode, InteractionRegister
from silas.work.models import AlreadyRunning
from tests.stream.kit import (
    WaitingSandbox,
    answer,
    answering,
    direct,
    done_sandbox,
    entries_of,
    planned,
    proposing,
    ran,
    saying_yes,
    soon,
    to_planner,
)

ACT, CONFIRM = InteractionMode.act_and_report, InteractionMode.confirm_only_when_required
OFFER = InteractionMode.default_and_offer


@pytest.mark.proves("S5.1-12-DEEPENING")
@pytest.mark.parametrize(
    ("route", "follows", "artifacts", "linked", "inherited"),
    [
        (None, None, None, None, []),
        ("task-old", None, None, "task-old", ["*"]),
        (None, "task-old", None, "task-old", ["*"]),
        ("task-older", "task-old", None, "task-old", ["*"]),
        ("task-old", None, ["notes"], "task-old", ["notes"]),
    ],
)
async def test_a_deepening_plan_is_linked_and_inherits_artifacts(
    route: str | None,
    follows: str | None,
    artifacts: list[str] | None,
    linked: str | None,
    inherited: list[str],
) -> None:
    # the parser takes a narrower list only together with the link it belongs to
    front = {} if artifacts is None else {"follow_up_of": "x", "input_artifacts_from": artifacts}
    models = planned(proposing(plan_text(**front), follows=follows))
    models["proxy"] = ScriptedModel([to_planner(continuation_of=route)])
    async with Harness(models=models, sandbox=done_sandbox()) as h:
        for name in ("task-old", "task-older"):
            await h.store.save(a_plan(id=name, status=WorkItemStatus.done))
        reply = await soon(h.silas.ask("more of that"))
        assert await entries_of(h, "continuation_dropped") == []
    assert reply.plan is not None
    assert reply.plan.follow_up_of == linked
    assert reply.plan.input_artifacts_from == inherited


@pytest.mark.proves("S5.1-12-DEEPENING", "S5.1-SCOPES-APART")
@pytest.mark.parametrize("by", ["route", "action", "plan"])
@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("task-nowhere", "no such work in this conversation"),
        ("task-theirs", "no such work in this conversation"),
        ("task-stuck", "it is stuck"),
    ],
)
async def test_only_finished_work_of_the_same_conversation_is_gone_on_from(
    by: str, named: str, reason: str
) -> None:
    front = {"follow_up_of": named, "input_artifacts_from": ["*"]} if by == "plan" else {}
    follows = named if by == "action" else None
    models = planned(proposing(plan_text(**front), follows=follows))
    models["proxy"] = ScriptedModel([to_planner(continuation_of=named if by == "route" else None)])
    async with Harness(
        models=models, sandbox=done_sandbox(), ports=claimed("task-theirs", "desk-7")
    ) as h:
        await h.store.save(a_plan(id="task-theirs", status=WorkItemStatus.done))
        await h.store.save(a_plan(id="task-stuck", status=WorkItemStatus.stuck))
        reply = await soon(h.silas.ask("more of that"))
        (dropped,) = await entries_of(h, "continuation_dropped")
    assert reply.plan is not None
    assert (reply.plan.follow_up_of, reply.plan.input_artifacts_from) == (None, [])
    assert reason in dropped["reason"]


def claimed(work_item_id: str, scope: str) -> Ports:
    """Work that came from another conversation."""

    def claim(work: ScopeWork) -> ScopeWork:
        work.claim(work_item_id, scope, ())
        return work

    return Ports(work=claim)


async def test_a_deepening_plan_works_with_what_the_first_one_made() -> None:
    sandbox = done_sandbox()
    call = CallTool("shell_exec", {"argv": ["true"]})
    second = proposing(plan_text(id="task-second"), follows="task-example")
    models = planned(proposing(plan_text()), second, executor=[call, ran(), call, ran()])
    async with Harness(ScriptedChannel(saying_yes), models=models, sandbox=sandbox) as h:
        await soon(h.silas.ask("do it"))
        first = await soon(h.silas.wait("task-example"))
        await soon(h.silas.ask("more of that"))
        result = await soon(h.silas.wait("task-second"))
        kept = await h.store.get("task-second")
    assert first is not None
    assert result is not None
    assert (first.status, result.status) == (WorkItemStatus.done, WorkItemStatus.done)
    assert kept is not None
    assert kept.follow_up_of == "task-example"


async def test_a_plan_that_is_done_is_one_line_until_a_turn_goes_on_from_its_work() -> None:
    call = CallTool("shell_exec", {"argv": ["true"]})
    models = planned(proposing(plan_text()), answer("No."), executor=[call, ran()])
    routes = [to_planner(), direct("Nothing."), to_planner(continuation_of="task-example")]
    models["proxy"] = proxy = ScriptedModel(routes)
    async with Harness(ScriptedChannel(saying_yes), models=models, sandbox=done_sandbox()) as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.wait("task-example"))
        await soon(h.silas.ask("what is there to do now?"))
        await soon(h.silas.ask("go deeper"))
    later, planner = proxy.requests[1].text, models["planner"].requests[1].text
    assert plan_text().partition("verify")[0] not in later
    assert "[Plan of task-example — " in later
    assert "work item task-example: " in later
    whole = planner.partition("--- plan | name: agent:planner | taint: ")[2]
    assert plan_text().strip() in whole.partition("--- end")[0]


@pytest.mark.proves("S0.5.7-CONFIRMATION-FORCED", "S3.2-OVERRIDE-HONOURED", "S5.1-12-MODE-KEPT")
@pytest.mark.parametrize(
    ("route", "plan", "override", "mode"),
    [
        ({"interaction_mode": ACT}, {}, None, ACT),
        ({"interaction_mode": OFFER}, {}, None, OFFER),
        ({"interaction_mode": OFFER}, {"interaction_mode": "act_and_report"}, None, ACT),
        ({"interaction_mode": OFFER}, {"interaction_mode": "act_and_report"}, CONFIRM, CONFIRM),
        ({"interaction_mode": CONFIRM}, {}, ACT, ACT),
        # a network is of high risk, and risk forces confirmation before everything else
        ({"interaction_mode": ACT}, {"network": ["pypi.org"]}, ACT, CONFIRM),
        ({"interaction_mode": ACT}, {"network": ["pypi.org"]}, None, CONFIRM),
    ],
)
async def test_the_mode_of_a_plan_is_resolved_and_kept_on_it(
    route: dict[str, Any],
    plan: dict[str, Any],
    override: InteractionMode | None,
    mode: InteractionMode,
) -> None:
    models = planned(proposing(plan_text(**plan), mode=override))
    models["proxy"] = ScriptedModel(
        [to_planner(interaction_register=InteractionRegister.review, **route)]
    )
    async with Harness(models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("do it"))
    assert reply.plan is not None
    assert reply.plan.interaction_mode is mode


@pytest.mark.proves("S5.1.2-ORDER", "S5.1.2-ONE-NONCE")
async def test_an_approved_plan_is_kept_with_its_verified_token_before_anything_runs() -> None:
    channel, item = ScriptedChannel(answering("approved")), a_plan()
    async with Harness(channel, sandbox=done_sandbox()) as h:
        proposal = await soon(h.silas.runs.proposer.propose(item, channel, OWNER, "why"))
        kept = await h.store.get(item.id)
        assert kept is not None
        assert kept.approval_token is not None
        assert await h.approval.check(kept.approval_token, subject_of(kept))
        assert not await h.approval.verify(kept.approval_token, subject_of(kept))  # spent
    assert proposal.verdict == "approved"
    assert (kept.status, kept.created_at) == (WorkItemStatus.pending, h.clock.now())


@pytest.mark.proves("S5.1-12-MODE-KEPT")
async def test_the_mode_that_was_approved_is_the_mode_that_is_kept() -> None:
    models = planned(proposing(plan_text(), mode=OFFER))
    async with Harness(ScriptedChannel(saying_yes), models=models, sandbox=done_sandbox()) as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.wait("task-example"))
        kept = await h.store.get("task-example")
    assert kept is not None
    assert kept.interaction_mode is OFFER


async def test_another_plan_under_a_known_id_is_refused_without_a_question() -> None:
    channel, sandbox = ScriptedChannel(saying_yes), done_sandbox()
    other = proposing(plan_text(title="Something else"))
    models = planned(proposing(plan_text()), other, other)
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.wait("task-example"))
        before = len(sandbox.runs)
        reply = await soon(h.silas.ask("and this"))
        (refused,) = await entries_of(h, "plan_refused")
    assert reply.outcome == "blocked"
    assert "another plan with the id task-example exists already, so give" in reply.text
    assert "another plan" in refused["reason"]
    assert (len(channel.cards), len(sandbox.runs)) == (1, before)


async def test_a_plan_that_is_running_is_not_started_a_second_time() -> None:
    channel, sandbox = ScriptedChannel(saying_yes), WaitingSandbox()
    models = planned(proposing(plan_text()), proposing(plan_text()))
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        await soon(h.silas.ask("do it"))
        await soon(sandbox.started.wait())
        reply = await soon(h.silas.ask("do it again"))
        result = await soon(h.silas.run(plan_text(interaction_mode="act_and_report")))
        sandbox.go_on.set()
        first = await soon(h.silas.wait("task-example"))
    assert reply.outcome == "blocked"
    assert "is running already" in reply.text
    assert result.status is WorkItemStatus.blocked
    assert len(channel.cards) == 1
    assert first is not None
    assert first.status is WorkItemStatus.done


async def test_a_plan_that_was_begun_while_its_card_was_answered_is_not_started_again() -> None:
    def begun(item: WorkItem, send: SendText) -> None:
        raise AlreadyRunning(f"{item.id} is running already.", work_item_id=item.id)

    models, ports = planned(proposing(plan_text())), Ports(dispatch=lambda _: begun)
    async with Harness(ScriptedChannel(saying_yes), models=models, ports=ports) as h:
        reply = await soon(h.silas.ask("do it"))
    assert reply.outcome == "blocked"
    assert "task-example is running already. It was not started a second time." in reply.text


async def test_the_same_plan_may_be_approved_and_run_again_when_it_has_ended() -> None:
    call, sandbox = CallTool("shell_exec", {"argv": ["true"]}), done_sandbox()
    executor = ScriptedModel([call, ran(), call, ran()])
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, models={"executor": executor}, sandbox=sandbox) as h:
        for _ in range(2):
            result = await soon(h.silas.run(plan_text()))
            assert result.status is WorkItemStatus.done
        assert len(await entries_of(h, "approval.used")) == 2
    assert len(channel.cards) == 2
