"""Questions about work outside of a turn: plans that wait, and changes that do (spec 5.1.2)."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from silas.errors import SilasError
from silas.plans import WaitingPlan, WorkItem, WorkItemResult
from silas.stop.halt import StoppableWork
from silas.stream.channel_sender import ChannelSender
from silas.stream.closing import ClosingChannel
from silas.stream.dispatch import Dispatcher
from silas.stream.propose import Proposer
from silas.stream.turn_place import somebody_looks
from silas.stream.turn_tasks import TurnTasks
from silas.types import OWNER, address_of

_AGAIN = "Silas ended before you answered this."

AskHeldChanges = Callable[[], Coroutine[Any, Any, WorkItemResult]]
"""Shows the card of changes that wait, and does what the owner says."""


class PlanQuestions:
    """Asks the owner beside his conversations, and hands on what he approves.

    Whoever asks names the dispatcher that runs what is approved.

    Args:
        proposer: Asks; nothing else makes an approval.
        channel: Where the owner is asked.
        sender: Says there what came of it.
        halt: Ends the question when Silas is stopped.
        tasks: Runs the questions beside whoever asks.
    """

    def __init__(
        self,
        proposer: Proposer,
        channel: ClosingChannel,
        sender: ChannelSender,
        halt: StoppableWork,
        tasks: TurnTasks,
    ) -> None:
        self._proposer = proposer
        self._channel = channel
        self._sender = sender
        self._halt = halt
        self._tasks = tasks
        self._asking: set[str] = set()
        self._questions: dict[str, asyncio.Task[None]] = {}

    def ask_about(self, waiting: WaitingPlan, dispatcher: Dispatcher) -> bool:
        """Ask about a plan that waits, and go on after a yes; False where that is under way."""
        if waiting.item.id in self._asking:
            return False
        self._asking.add(waiting.item.id)
        asking = self._ask(waiting, dispatcher)
        self._questions[waiting.item.id] = self._tasks.begin(asking)
        return True

    def ask_again(self, waiting: tuple[WaitingPlan, ...], dispatcher: Dispatcher) -> None:
        """Ask the questions that a crash left open, one after the other (5.1.3)."""
        if waiting:
            self._tasks.begin(self._ask_one_by_one(waiting, dispatcher))

    async def wait_for_answer(self, work_item_id: str) -> None:
        """Wait until a plan that `ask_about` asks about was answered."""
        asked = self._questions.get(work_item_id)
        if asked is not None:
            await asyncio.wait([asked])

    def ask_held(self, item: WorkItem, ask: AskHeldChanges, dispatcher: Dispatcher) -> bool:
        """Ask about changes that wait, and show how their work ends; False where that is under way.

        Args:
            item: Whose changes.
            ask: Shows the card and does what the owner says.
            dispatcher: Shows how the work ended.
        """
        if item.id in self._asking:
            return False
        self._asking.add(item.id)
        self._tasks.begin(self._ask_held(item, ask, dispatcher))
        return True

    async def _ask_one_by_one(
        self, waiting: tuple[WaitingPlan, ...], dispatcher: Dispatcher
    ) -> None:
        for one in waiting:
            why = one.rationale
            words = why if why.startswith(_AGAIN) else f"{_AGAIN} {why}"
            told = somebody_looks(self._channel)
            await self._ask(one._replace(rationale=words), dispatcher, told=told)

    async def _ask_held(self, item: WorkItem, ask: AskHeldChanges, dispatcher: Dispatcher) -> None:
        send = self._sender.to(dispatcher.address_of(item.id))
        try:
            await dispatcher.tell(item, send, await self._halt.run_unless_stopped(ask))
        except SilasError as error:  # they go on waiting
            await send(self._sender.put(str(error)))
        finally:
            self._asking.discard(item.id)

    async def _ask(
        self, waiting: WaitingPlan, dispatcher: Dispatcher, *, told: bool = True
    ) -> None:
        """Ask, and go on after a yes; that it still waits is `told`, or was told before."""
        item, by = waiting.item, waiting.asked_by
        asker = address_of(OWNER, by.conversation)
        to = asker if any(by) else dispatcher.address_of(item.id)
        send = self._sender.to(to, by.message)
        self._asking.add(item.id)
        ask = partial(
            self._proposer.propose, item, self._channel, to, waiting.rationale, asked_by=by
        )
        try:
            proposal = await self._halt.run_unless_stopped(ask)
        except SilasError as error:  # it stays among the open questions
            await send(self._sender.put(str(error)))
            return
        finally:
            self._asking.discard(item.id)
            self._questions.pop(item.id, None)
        if proposal.verdict == "approved":
            dispatcher.dispatch(item, send)
        elif told or proposal.verdict != "waiting":
            await send(proposal.words)
