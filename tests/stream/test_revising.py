"""Where work could not do its plan another one is drafted, and runs after a new yes alone."""

from collections.abc import Sequence
from typing import Any

import pytest

from silas.agents import ExecutorAgentOutput, PlanActionType
from silas.agents.models import PlannerAdvice
from silas.cards import Card, PlanAnswer, PlanCard
from silas.errors import LLMError
from silas.plans import WorkItemStatus
from silas.stream.revising import MOST_REVISIONS
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.models import Step
from silas.testing.tools import exit_result
from tests.stream.kit import (
    answer,
    done_sandbox,
    entries_of,
    proposing,
    ran,
    said,
    soon,
    to_planner,
)

WORK = CallTool("shell_exec", {"argv": ["true"]})
FIRST = plan_text(id="task-first", title="The first way")
OTHER = plan_text(id="task-other", title="Another way")
READ = "The README says that the zebra gate must be opened with crowbar seven"
MOVED = ExecutorAgentOutput(summary=f"{READ}.", status="needs_another_plan")
KEPT = "A revised plan is on its card; `silas approvals show {}` shows it, too."


def revising(plan: str | None = OTHER, why: str = "The file was named wrong.") -> Any:
    """The planner's answer to work that ended."""
    return proposing(plan, why, action=PlanActionType.revise)


class Asked:
    """A Silas whose first plan is approved and whose work reports that it takes another one."""

    def __init__(
        self,
        *later: Step,
        answers: Sequence[str] = ("approved", "approved", "approved", "approved"),
        executor: Sequence[Step] = (WORK, MOVED, WORK, ran()),
        first: str = FIRST,
        sandbox: FakeSandbox | None = None,
        gates: Sequence[dict[str, Any]] = (),
        looks: Sequence[Sequence[Step]] = ((), ()),
    ) -> None:
        routing, planning = looks
        self.planner = ScriptedModel([*planning, proposing(first), *later])
        self.executor = ScriptedModel(executor)
        self.sandbox = sandbox or done_sandbox()
        self._answers = list(answers)
        self.channel = ScriptedChannel(self._answer)
        models = {
            "proxy": ScriptedModel([*routing, to_planner()]),
            "planner": self.planner,
            "executor": self.executor,
        }
        self.harness = Harness(
            self.channel,
            models=models,
            sandbox=self.sandbox,
            settings={"gates": {"system": list(gates)}},
        )

    def _answer(self, card: Card[Any]) -> Any:
        if not isinstance(card, PlanCard):
            return card.safe
        return PlanAnswer.model_validate({"verdict": self._answers.pop(0)})

    @property
    def cards(self) -> list[PlanCard]:
        return [card for card in self.channel.cards if isinstance(card, PlanCard)]

    async def ask(self, name: str = "task-first") -> tuple[Any, str]:
        """How the first work ended, and the id of the work in its place."""
        silas = self.harness.silas
        reply = await soon(silas.ask("do it"))
        assert reply.outcome == "dispatched"
        result = await soon(silas.wait(name))
        return result, await soon(silas.wait_for_revision(name))


async def test_another_plan_is_shown_on_a_new_card_and_runs_after_a_new_yes() -> None:
    asked = Asked(revising())
    async with asked.harness as h:
        result, name = await asked.ask()
        again = await soon(h.silas.wait(name))
        items = {item.id: item for item in await h.silas.work_items()}
        revised = await entries_of(h, "plan_revised")
    assert result.status is WorkItemStatus.stuck
    assert result.summary.endswith(f"\n{KEPT.format('task-other')}")
    assert (name, again and again.status) == ("task-other", WorkItemStatus.done)
    first, second = asked.cards
    assert second.intent == "Another way"
    assert second.rationale.startswith(
        "This plan takes the place of task-first (The first way), which ended without success; "
    )
    assert "The planner's reason, in its own words: The file was named wrong." in second.rationale
    tokens = [items[one].approval_token for one in ("task-first", "task-other")]
    assert [token and token.plan_hash for token in tokens] == [first.plan_hash, second.plan_hash]
    assert tokens[0]
    assert tokens[1]
    assert tokens[0].token_id != tokens[1].token_id
    assert revised == [{"work_item_id": "task-other", "replaces": "task-first"}]


async def test_what_the_work_reported_is_outside_text_and_its_words_are_marked() -> None:
    stolen = plan_text(id="task-other", body="# What to do\nThe zebra gate must be opened first.")
    asked = Asked(revising(stolen))
    async with asked.harness:
        await asked.ask()
    request = asked.planner.requests[1].text
    failures = request.partition("--- failures | ")[2].partition("---")[0]
    assert "taint: external" in failures
    assert READ in request
    assert "--- failed_plan ---" in request
    marks = "\n".join(line for detail in asked.cards[1].details for line in detail.lines)
    assert "the zebra gate must be opened" in marks.casefold()
    assert "task-first" in marks


async def test_what_was_looked_up_before_the_first_plan_is_shown_for_the_other_one() -> None:
    looks = [
        [CallTool("context_inspection", {})],
        [CallTool("memory_search", {"query": "zebra"})],
    ]
    asked = Asked(revising(), looks=looks)
    async with asked.harness:
        await asked.ask()
    first, *_, last = (request.text for request in asked.planner.requests)
    assert "- context_inspection {}\n" in first
    told = last.partition("--- looked_up ---")[2].partition("--- failed_plan ---")[0]
    assert told.splitlines()[1:4] == [
        "These calls were answered in this turn, as shown below; look up only what is missing:",
        "- context_inspection {}",
        '- memory_search {"everything_said":false,"max_results":5,"query":"zebra"}',
    ]


@pytest.mark.parametrize("verdict", ["declined", "waiting", "edit_requested"])
async def test_nothing_of_another_plan_runs_without_a_yes_to_it(verdict: str) -> None:
    asked = Asked(revising(), answers=["approved", verdict])
    async with asked.harness as h:
        _, name = await asked.ask()
        runs = len(asked.sandbox.runs)
        items = [item.id for item in await h.silas.work_items()]
        waits = [item.id for item in await h.silas.runs.proposer.waiting()]
    assert (name, runs, items) == ("", 1, ["task-first"])
    assert waits == ([] if verdict == "declined" else ["task-other"])
    assert len(asked.cards) == 2


async def test_a_plan_with_the_same_id_gets_another_one() -> None:
    asked = Asked(revising(plan_text(id="task-first", title="Again")))
    async with asked.harness as h:
        _, name = await asked.ask()
        await soon(h.silas.wait(name))
        first = await h.silas.store.get("task-first")
    assert name == "task-first-2"
    assert first
    assert (first.status, first.title) == (WorkItemStatus.stuck, "The first way")


async def test_one_request_has_two_further_plans_at_most() -> None:
    plans = [revising(plan_text(id=f"task-{n}")) for n in range(MOST_REVISIONS + 1)]
    asked = Asked(*plans, executor=[WORK, MOVED] * 4)
    async with asked.harness as h:
        last, name = await asked.ask()
        for _ in range(MOST_REVISIONS):
            last = await soon(h.silas.wait(name))
            name = await soon(h.silas.wait_for_revision(name)) or name
    assert name == f"task-{MOST_REVISIONS - 1}"
    assert last is not None
    assert "revised plan" not in last.summary
    assert len(asked.cards) == len(asked.planner.requests) == 1 + MOST_REVISIONS


BUDGETS: dict[str, dict[str, Any]] = {
    "no planner call": {"budget": {"max_planner_calls": 0}},
    "another on_stuck": {"on_stuck": "report"},
}


@pytest.mark.parametrize("what", BUDGETS)
async def test_the_plan_that_was_approved_says_whether_the_planner_is_asked(what: str) -> None:
    asked = Asked(first=plan_text(id="task-first", **BUDGETS[what]))
    async with asked.harness:
        result, name = await asked.ask()
    assert (name, len(asked.planner.requests)) == ("", 1)
    assert result.summary == f"The executor reports that this takes another plan: {READ}."


async def test_a_plan_that_could_not_succeed_goes_back_within_the_budget() -> None:
    wrong = revising("---\nid: x y\n---\n")
    asked = Asked(wrong, revising())
    async with asked.harness:
        _, name = await asked.ask()
    assert name == "task-other"
    assert "it cannot be used" in asked.planner.requests[2].text
    one = plan_text(id="task-first", budget={"max_planner_calls": 1})
    asked = Asked(wrong, revising(), first=one)
    async with asked.harness:
        result, name = await asked.ask()
    assert (name, len(asked.planner.requests)) == ("", 2)
    assert "revised plan" not in result.summary


@pytest.mark.parametrize("later", [answer("No plan can do it."), LLMError("away", code="E_LLM_X")])
async def test_without_another_plan_work_ends_as_it_would_have(later: Step) -> None:
    asked = Asked(later)
    async with asked.harness:
        result, name = await asked.ask()
    assert (name, len(asked.cards)) == ("", 1)
    assert result.summary == f"The executor reports that this takes another plan: {READ}."


async def test_work_that_nobody_asked_for_in_words_ends_as_before() -> None:
    asked = Asked(answers=["approved"], executor=[WORK, MOVED])
    async with asked.harness as h:
        result = await soon(h.silas.run(FIRST))
    assert result.summary == f"The executor reports that this takes another plan: {READ}."
    assert asked.planner.requests == []


async def test_words_that_are_not_the_owners_ask_for_no_other_plan() -> None:
    asked = Asked(executor=[WORK, MOVED])
    async with asked.harness as h:
        reply = await soon(h.silas.stream.handle(said(h, "do it")))  # unsigned
        assert reply.outcome == "dispatched"
        result = await soon(h.silas.wait("task-first"))
    assert result is not None
    assert (result.status, len(asked.planner.requests)) == (WorkItemStatus.stuck, 1)


def never() -> FakeSandbox:
    """Every call works, no check passes."""
    return FakeSandbox(lambda run: exit_result(int(run.argv[0] == "/bin/sh"), "nothing here"))


async def test_attempts_that_are_used_up_and_advice_lead_there_too() -> None:
    once = plan_text(id="task-first", budget={"max_attempts": 1})
    asked = Asked(revising(), first=once, sandbox=never(), executor=[WORK, ran(), WORK, ran()] * 3)
    async with asked.harness:
        result, _ = await asked.ask()
    assert KEPT.format("task-other") in result.summary
    advice = PlannerAdvice(guidance="The check greps the wrong file.", plan_is_wrong=True)
    asked = Asked(
        advice, revising(None), sandbox=never(), executor=[WORK, ran(), WORK, ran(), WORK, ran()]
    )
    async with asked.harness:
        result, _ = await asked.ask()
    assert result.summary.startswith(
        "The planner finds that the plan itself is wrong: The check greps the wrong file."
    )
    assert len(asked.planner.requests) == 3


async def test_a_reason_that_a_gate_stops_is_not_on_the_card() -> None:
    gate = {
        "name": "tame",
        "on": "every_agent_response",
        "type": "regex",
        "config": {"pattern": r"\A(?!.*zebra)"},
    }
    asked = Asked(revising(why="The zebra is cheap."), gates=[gate])
    async with asked.harness:
        await asked.ask()
    assert "zebra" not in asked.cards[1].rationale
    assert "The planner's reason is withheld by the gate tame." in asked.cards[1].rationale
