"""What an approved plan covers, call by call (spec 5.2.1 c2, decision table C, B2)."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from silas.approval import ApprovalDecision, ApprovalVerdict
from silas.cards import ToolCallCard
from silas.plans import VerificationCheck, WorkItem, WorkItemStatus
from silas.plans.binding import Grants, PlanBinding, no_workers
from silas.sandbox import SandboxLimits, SandboxResult
from silas.sandbox.toolchains.mounts import NoTools
from silas.testing import (
    CallTool,
    FakeSandbox,
    FakeTool,
    FixedSkills,
    MockClock,
    ScriptedChannel,
    a_plan,
)
from silas.testing.tools import MemoryOutcomeStore, SandboxRun, exit_result
from silas.tools import FILE_TOOL_NAMES, RiskLevel, ToolConfig, ValidatedCall, validated_call
from silas.tools.pending_call import AskReason, PendingCall
from silas.work.authority.grant_uses import RunGrants
from silas.work.authority.task_authority import PLAN_TOOLS, TaskAuthority
from silas.work.models import CallQuestion
from tests.work.kit import DONE, Work, argv, at_work, owner

ANY_END: dict[str, Any] = {
    "verify": [{"name": "c", "run": "true", "expect": {"exit_code": 0}}],
    "budget": {"max_attempts": 1},
}


def good(run: SandboxRun) -> SandboxResult:
    return exit_result(stdout="done")


def mail(to: str = "anna") -> CallTool:
    return CallTool("mail", {"to": to})


def questions(channel: ScriptedChannel) -> list[ToolCallCard]:
    return [card for card in channel.cards if isinstance(card, ToolCallCard)]


def with_mail(work: Work, **options: Any) -> FakeTool:
    """A tool that no plan covers."""
    tool = FakeTool("mail", requires_authority=True, **options)
    config = ToolConfig(connector_id="mail", risk_default=RiskLevel.low)
    work.silas.registry.register(tool, config)
    return tool


async def test_a_plan_covers_sandboxed_work_and_nothing_else() -> None:
    assert {"shell_exec", "python_exec", *FILE_TOOL_NAMES} == PLAN_TOOLS
    channel, sandbox = owner(), FakeSandbox(good)
    code = CallTool("python_exec", {"code": "print(1)"})
    async with at_work(argv("true"), code, mail(), DONE, channel=channel, sandbox=sandbox) as work:
        tool = with_mail(work)
        result = await work.run(**ANY_END)
        assert result.status is WorkItemStatus.done
        assert not tool.calls
        assert [card.tool_name for card in questions(channel)] == ["mail"]
        assert [run.argv[0] for run in sandbox.runs] == ["true", "python3", "/bin/sh"]
        assert "This call was not approved; nothing ran" in work.briefing(3)


async def test_a_yes_to_one_call_covers_exactly_this_call_once() -> None:
    channel = owner(call=True)
    steps = (mail(), mail(), mail("bob"), DONE)
    async with at_work(*steps, channel=channel, sandbox=FakeSandbox(good)) as work:
        tool = with_mail(work)
        assert (await work.run(**ANY_END)).status is WorkItemStatus.done
        assert [call["to"] for call in tool.calls] == ["anna", "anna", "bob"]
        asked = questions(channel)
        assert len(asked) == 3  # the second of the same is a question of its own
        assert asked[0].call_digest == asked[1].call_digest != asked[2].call_digest
        used = [data["digest"] for _, data in await work.record("approval.used")]
        assert used[1:] == [card.call_digest for card in asked]


async def test_a_tool_whose_scope_was_not_granted_is_not_even_asked_about() -> None:
    channel = owner(call=True)
    async with at_work(mail(), DONE, channel=channel, sandbox=FakeSandbox(good)) as work:
        tool = with_mail(work, scopes=["mail.send"])
        await work.run(**ANY_END)
        assert not tool.calls
        assert not questions(channel)
        assert "scope.violation" in await work.events()


class TestOneCall:
    """The authority itself, with real tokens and a real nonce store."""

    async def test_the_token_is_spent_by_its_call(self) -> None:
        async with at_work() as work:
            authority, call = await self.authority(work), validated("mail", to="anna")
            assert await authority.ask([PendingCall(call, RiskLevel.high, AskReason.plan)]) == [
                True
            ]
            assert await authority.authorise(call)
            again = await authority.authorise(call)
            assert (bool(again), again.code) == (False, "E_APPROVAL_NOT_COVERED")

    async def test_edited_arguments_are_refused_and_spend_nothing(self) -> None:
        async with at_work() as work:
            authority, call = await self.authority(work), validated("mail", to="anna")
            assert await authority.ask([PendingCall(call, RiskLevel.high, AskReason.plan)]) == [
                True
            ]
            for other in (validated("mail", to="eve"), validated("post", to="anna")):
                refused = await authority.authorise(other)
                assert (bool(refused), refused.code) == (False, "E_APPROVAL_NOT_COVERED")
            assert await authority.authorise(call)

    async def test_a_token_is_of_no_use_to_another_task(self) -> None:
        async with at_work() as work:
            call = validated("mail", to="anna")
            authority = await self.authority(work)
            assert await authority.ask([PendingCall(call, RiskLevel.high, AskReason.plan)]) == [
                True
            ]
            other = await self.authority(work, a_plan(id="task-other"))
            other._tokens._held = authority._tokens._held  # pyright: ignore[reportPrivateUsage] - a theft
            assert (await other.authorise(call)).code == "E_APPROVAL_SUBJECT"

    async def test_a_token_expires_like_every_other(self) -> None:
        async with at_work() as work:
            authority, call = await self.authority(work), validated("mail", to="anna")
            assert await authority.ask([PendingCall(call, RiskLevel.high, AskReason.plan)]) == [
                True
            ]
            work.harness.clock.advance(1800)
            assert (await authority.authorise(call)).code == "E_APPROVAL_EXPIRED"

    @pytest.mark.parametrize("verdict", [v for v in ApprovalVerdict if v != "approved"])
    async def test_anything_but_a_yes_is_a_no(self, verdict: ApprovalVerdict) -> None:
        async with at_work() as work:
            authority = await self.authority(work, verdict=verdict)
            call = validated("mail", to="anna")
            assert await authority.ask([PendingCall(call, RiskLevel.low, AskReason.plan)]) == [
                False
            ]
            assert not await authority.authorise(call)

    async def test_an_answer_that_cannot_be_signed_is_a_no(self) -> None:
        async with at_work() as work:
            authority = await self.authority(work, conditions={"limits": [1]})
            call = validated("mail", to="anna")
            assert await authority.ask([PendingCall(call, RiskLevel.low, AskReason.plan)]) == [
                False
            ]
            assert not await authority.authorise(call)

    async def test_an_item_without_a_token_covers_nothing(self) -> None:
        async with at_work() as work:
            authority = await self.authority(work, a_plan())
            refused = await authority.authorise(validated("shell_exec", argv=["true"]))
            assert refused.code == "E_APPROVAL_MISSING"

    async def authority(
        self,
        work: Work,
        item: WorkItem | None = None,
        *,
        verdict: ApprovalVerdict = ApprovalVerdict.approved,
        conditions: dict[str, Any] | None = None,
    ) -> TaskAuthority:
        async def answer(
            item: WorkItem, questions: Sequence[CallQuestion]
        ) -> list[ApprovalDecision]:
            return [
                ApprovalDecision(verdict=verdict, conditions=conditions or {}) for _ in questions
            ]

        known = item or await work.approve(a_plan())
        binding = PlanBinding(
            FixedSkills({}),
            Grants("none", SandboxLimits()),
            work.harness.audit,
            no_workers,
            NoTools(""),
        )
        grants = RunGrants(known, (), MemoryOutcomeStore(MockClock()))
        return TaskAuthority(known, work.silas.approval, binding, None, grants, answer)


def validated(tool: str, **args: Any) -> ValidatedCall:
    return validated_call(tool, "run", args)


def _weaken(item: WorkItem) -> None:
    item.verify = [VerificationCheck.model_validate({**ANY_END["verify"][0], "run": ":"})]


EDITS: dict[str, Callable[[WorkItem], None]] = {
    "the body": lambda item: setattr(item, "body", "Something else."),
    "the checks": _weaken,
    "no checks at all": lambda item: setattr(item, "verify", []),
    "the workspace": lambda item: setattr(item, "workspace", "/elsewhere"),
    "the token": lambda item: setattr(item, "approval_token", None),
}


@pytest.mark.proves("A3-CHECKS-THROUGH-SH")
@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("call", [False, True], ids=["owner declines", "owner approves the call"])
async def test_a_plan_that_changes_while_it_runs_ends_there(name: str, call: bool) -> None:
    item = a_plan(**ANY_END)
    channel = owner(call=call)

    def edit(run: SandboxRun) -> SandboxResult:
        if run.argv[0] == "first":
            EDITS[name](item)
        return exit_result(stdout="done")

    sandbox = FakeSandbox(edit)
    steps = (argv("first"), argv("second"), DONE)
    async with at_work(*steps, channel=channel, sandbox=sandbox) as work:
        result = await work.execute(await work.approve(item))
        assert result.status is WorkItemStatus.blocked
        # the next call is a question of its own, and whatever its answer, nothing is verified
        assert [card.tool_name for card in questions(channel)] == ["shell_exec"]
        assert [run.argv[0] for run in sandbox.runs] == ["first", *["second"] * call]
        assert len(await work.record("execution_blocked_no_approval")) == 1
        assert "verification_finished" not in await work.events()


async def test_an_approval_that_expires_while_work_runs_covers_no_further_call() -> None:
    clock = MockClock()

    def late(run: SandboxRun) -> SandboxResult:
        clock.advance(1800)
        return exit_result(stdout="done")

    sandbox = FakeSandbox(late)
    steps = (argv("first"), argv("second"), DONE)
    async with at_work(*steps, sandbox=sandbox, clock=clock) as work:
        result = await work.run(verify=[], budget={"max_wall_time_seconds": 9000})
        assert result.status is WorkItemStatus.blocked
        assert [run.argv[0] for run in sandbox.runs] == ["first"]
        assert "expire" in result.summary
