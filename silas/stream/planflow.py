"""Step 12: a plan in an answer becomes a card, a decision and background work (5.1, 5.1.2)."""

from silas.agents import AgentResponse, PlanAction, PlanActionType
from silas.plans import PlanError, WorkItem
from silas.stream.models import Outcome
from silas.stream.rooms import TurnRooms
from silas.stream.routing import Router
from silas.stream.state import Turn, need
from silas.types import OWNER

_OUTCOMES: dict[str, Outcome] = {"refused": "blocked", "waiting": "waiting"}
"""How a turn ends whose plan was neither approved nor declined."""

_PROPOSALS = frozenset({PlanActionType.propose, PlanActionType.revise})


class PlanFlow:
    """Takes what an agent wants to do with a plan as far as the owner lets it go."""

    def __init__(self, rooms: TurnRooms, router: Router) -> None:
        self._rooms = rooms
        self._router = router

    async def run(self, turn: Turn, turn_number: int) -> str:
        """The text of the answer; what the agent says about approval never counts."""
        response = need(turn.response, "step 7")
        action = response.plan_action
        if action is None:
            return response.message
        if action.action not in _PROPOSALS or action.plan_markdown is None:
            return await self._nothing_to_propose(turn, response.message, action.action)
        item = self._rooms.proposer.parse(action.plan_markdown)
        if isinstance(item, PlanError):
            turn.outcome = "blocked"
            await self._rooms.audit.log("plan_unreadable", turn_id=turn.id, reason=str(item))
            return f"{response.message}\n\nThe plan cannot be read: {item}. Nothing was run."
        if not response.needs_approval:
            await self._rooms.audit.log(
                "needs_approval_overridden", turn_id=turn.id, work_item_id=item.id
            )
        turn.plan = item = self._finished(turn, item, action)
        self._rooms.context.add(
            turn.scope_id,
            kind="plan",
            text=action.plan_markdown,
            taint=turn.response_taint,
            source=turn.speaker,
            turn=turn_number,
        )
        return await self._proposed(turn, item, response)

    async def _proposed(self, turn: Turn, item: WorkItem, response: AgentResponse) -> str:
        proposal = await self._rooms.proposer.propose(
            item, turn.channel, OWNER, _rationale(turn, response.message)
        )
        if proposal.verdict == "approved":
            turn.outcome = "dispatched"
            self._rooms.dispatch(item, turn.send)
            return f"{response.message}\n\nApproved: {item.title}. Working on it."
        turn.outcome = _OUTCOMES.get(proposal.verdict, "declined")
        return proposal.words

    async def _nothing_to_propose(self, turn: Turn, message: str, wanted: PlanActionType) -> str:
        turn.outcome = "blocked"
        await self._rooms.audit.log("plan_action_refused", turn_id=turn.id, action=wanted.value)
        return (
            f"{message}\n\nNothing was run: the answer asks to {wanted.value} a plan "
            "and brings none that could be proposed."
        )

    def _finished(self, turn: Turn, item: WorkItem, action: PlanAction) -> WorkItem:
        """The item with its deepening link and its resolved mode (step 12)."""
        prior = action.continuation_of or need(turn.route, "step 7").continuation_of
        if prior is not None:
            wanted = item.input_artifacts_from or ["*"]
            item = item.model_copy(update={"follow_up_of": prior, "input_artifacts_from": wanted})
        return item.model_copy(update={"interaction_mode": self._router.mode(turn, item)})


def _rationale(turn: Turn, message: str) -> str:
    """Why a plan is proposed; for a plan that the owner did not ask for, who did."""
    why = message.strip() or "The agent gives no reason."
    if turn.incoming.connection_id == OWNER:
        return why
    sender = turn.incoming.message.sender_id
    return f"{sender} on {turn.incoming.message.channel} ({turn.taint}) asked for this. {why}"
