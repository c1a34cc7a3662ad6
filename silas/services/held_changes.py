"""Changes of finished work that wait for the owner's yes: asking, and telling at a start."""

from collections.abc import Awaitable, Callable

from silas.cards.models import HeldCard
from silas.stream.ask import OwnerQuestions
from silas.stream.held_card import held_card
from silas.stream.scope_work import ScopeWork
from silas.tools import RunApprovalMode
from silas.work.authority.run_policy import RunPolicies
from silas.work.changes.held_store import HeldAnswer, HeldChanges, HeldStore


class HeldQuestion:
    """What asks about held changes (`AskHeld`): a run that asks nobody asks nobody about these.

    Args:
        policies: How each run asks.
        work: Leaves out of a result what rests on something that was forgotten.
        questions: Asks the owner.
    """

    def __init__(self, policies: RunPolicies, work: ScopeWork, questions: OwnerQuestions) -> None:
        self._policies = policies
        self._work = work
        self._questions = questions

    async def __call__(self, held: HeldChanges, diff: str) -> HeldAnswer:
        """Ask about the changes, with their diff."""
        if self._policies.of(held.work_item_id).mode is RunApprovalMode.reject_all:
            return "keep"
        result = await self._work.as_shown(held.result)
        return await self._questions.ask_about_held(held._replace(result=result), diff)


def card_of_held(held: HeldChanges) -> HeldCard:
    """The card of changes that wait, with their diff."""
    return held_card(held, held.result.diff)


async def tell_held(held: HeldStore, tell: Callable[[str], Awaitable[None]]) -> None:
    """Say at a start that changes wait, so that they are not forgotten."""
    waiting = held.ids()
    if waiting:
        await tell(
            f"Changes of {len(waiting)} finished work item(s) wait for your yes: "
            "`silas approvals list`."
        )
