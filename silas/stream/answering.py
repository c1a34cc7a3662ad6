"""Steps 8, 11 to 13 and 16: what is answered, kept before it is sent, and sent once (spec 5.1).

Known secrets are taken out after the gates and before step 11, so the sent, kept, remembered and
shown text is one. Cards are not touched: they show signed bytes.
"""

from collections.abc import Callable

from silas.audit import Audit
from silas.gates import GateTrigger
from silas.stream.escalate import AGAIN
from silas.stream.inbox import Inbox
from silas.stream.models import Reply
from silas.stream.ports import Together
from silas.stream.routing import Router
from silas.stream.state import Turn, need
from silas.stream.turn_gates import GatedContext
from silas.stream.turn_writer import TurnWriter
from silas.types import TaintLevel


class Answering:
    """Takes an answer past the output gates, and to whoever asked.

    Args:
        router: Asks once more where a gate wants other words.
        keeper: Writes what is answered.
        arrivals: Messages that are not answered yet.
        audit: Where the end of the turn is recorded.
        together: Makes one transaction of several writes.
        discreet: A text without any known secret.
    """

    def __init__(
        self,
        router: Router,
        keeper: TurnWriter,
        arrivals: Inbox,
        audit: Audit,
        together: Together,
        discreet: Callable[[str], str],
    ) -> None:
        self._router = router
        self._keeper = keeper
        self._arrivals = arrivals
        self._audit = audit
        self._together = together
        self._discreet = discreet

    # 8
    async def output_gates(self, turn: Turn) -> str | None:
        """What is sent instead, if a gate blocks; asked again as often as the escalation says."""
        tries = 0
        while True:
            passed = await self._check(turn)
            if passed.stopped is None:
                return None
            action = passed.stopped.escalation.action
            if action.action not in AGAIN or tries >= action.max_retries:
                return await turn.gates.last_words(passed.stopped)
            tries += 1
            await self._router.again(turn, action.instruction or "")

    async def _check(self, turn: Turn) -> GatedContext:
        response = need(turn.answer.response, "step 7")
        context = {
            "response": response.message,
            "sender_id": turn.message.incoming.message.sender_id,
        }
        passed = await turn.gates.check(GateTrigger.every_agent_response, context)
        turn.proposal.asked = turn.proposal.asked or passed.asked
        if (message := str(passed.context["response"])) != response.message:
            turn.answer.response = response.model_copy(update={"message": message})
        return passed

    # 11, 11.5
    def keep(self, turn: Turn) -> None:
        """The answer as it stands, written before a card is asked or anything is sent."""
        response = need(turn.answer.response, "step 7")
        text = self._discreet("\n\n".join((response.message, *turn.answer.notes)))
        turn.answer.response = response.model_copy(update={"message": text})
        self._keeper.answer(turn, text, said=turn.answer.outcome != "failed")
        if response.plan_action is not None:
            self._keeper.flush(turn)
        else:  # this is what will be sent
            self._keeper.flush(turn, lambda: self._arrivals.answering(turn.message.arrival, text))

    # 13
    async def send(self, turn: Turn, text: str) -> str:
        """Send it, and tell what was sent; what became of a plan is kept before."""
        response, text = need(turn.answer.response, "step 7"), self._discreet(text)
        if response.plan_action is not None:
            became = text.removeprefix(response.message).strip()
            if became:
                # it names the plan, whose words are the model's
                rests_on = tuple(
                    dict.fromkeys((*turn.proposal.made_from, *self._keeper.sources(turn)))
                )
                self._keeper.reply(turn, became, turn.response_taint, "silas", rests_on)
            self._keeper.flush(turn, lambda: self._arrivals.answering(turn.message.arrival, text))
        rest = text.removeprefix(turn.answer.said).strip() if turn.answer.said else text
        if rest:
            await turn.seat.send(rest)
        return text

    async def end_blocked(self, turn: Turn, words: str) -> Reply:
        """The turn ends with these words; nothing of the answer is kept."""
        turn.answer.outcome, words = "blocked", self._discreet(words)
        if turn.message.message_id:
            self._keeper.reply(turn, words, TaintLevel.owner, "silas")
        self._keeper.flush(turn, lambda: self._arrivals.answering(turn.message.arrival, words))
        await turn.seat.send(words)
        return await self.finish_turn(turn, words)

    # 16
    async def finish_turn(self, turn: Turn, text: str) -> Reply:
        """Count the turn; from here on a restart has nothing to say about it."""
        turn.count()
        with self._together():
            self._arrivals.delete_done(turn.message.arrival)
            self._audit.log_now(
                "turn_finished",
                turn_id=turn.id,
                scope_id=turn.scope_id,
                outcome=turn.answer.outcome,
            )
        return Reply(
            text=text, outcome=turn.answer.outcome, plan=turn.proposal.plan, turn_id=turn.id
        )
