"""The Stream: connections with their locks and queues, turns in order, start and stop (5.1)."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from silas.agents.call_scope import calls_of
from silas.agents.runbook.undo_and_stop import asks_to_stop
from silas.audit import Audit
from silas.errors import ApprovalError, DatabaseError, from_foreign
from silas.plans import WaitingPlan, WorkItem
from silas.stop.halt import StoppableWork
from silas.stream.channel_sender import ChannelSender
from silas.stream.closing import ClosingChannel
from silas.stream.dispatch import Dispatcher
from silas.stream.drafts import Drafts, TurnVoice
from silas.stream.inbox import Inbox
from silas.stream.models import Incoming, Reply
from silas.stream.plan_questions import PlanQuestions
from silas.stream.stop_answer import STOPPED_WORDS, RunningAnswers
from silas.stream.stopping import stop_on_request
from silas.stream.turn import TurnProcessor
from silas.stream.turn_place import TurnPlace
from silas.stream.turn_tasks import TurnTasks
from silas.types import OWNER
from silas.work.executor import WorkItemExecutor

_BUSY = "I'm still busy with what you said before; please try again in a moment."
_BROKEN = "Something in Silas itself failed while it worked on this; `silas audit show` has more."

Failed = Callable[[Exception], Awaitable[None]]
"""Tells whoever said it that a turn failed."""

MakeProcessor = Callable[[str], TurnProcessor]
"""Makes the processor of the conversation at an address."""


class Backpressure:
    """Bounded queues (spec 18.6): how many turns may wait, per scope and in all."""

    def __init__(self, per_scope: int, total: int) -> None:
        self._per_scope = per_scope
        self._total = total
        self._waiting: dict[str, int] = {}

    def enter(self, scope_id: str) -> bool:
        """Take a place; False when the scope's or the whole queue is full."""
        mine = self._waiting.get(scope_id, 0)
        if mine >= self._per_scope or (self.waiting >= self._total and scope_id != OWNER):
            return False
        self._waiting[scope_id] = mine + 1
        return True

    @property
    def waiting(self) -> int:
        """How many turns are under way or wait."""
        return sum(self._waiting.values())

    def leave(self, scope_id: str) -> None:
        """Give the place back."""
        left = self._waiting[scope_id] - 1
        if left:
            self._waiting[scope_id] = left
        else:
            del self._waiting[scope_id]


Attest = Callable[[Incoming], Incoming]
"""Gives a message the owner's signature where it is known to be his; else it is as it came."""


def as_it_came(incoming: Incoming) -> Incoming:
    """Only what was signed where it was said is the owner's."""
    return incoming


class Stream:
    """Serialises turns per connection; different connections run side by side."""

    def __init__(
        self,
        make_processor: MakeProcessor,
        executor: WorkItemExecutor,
        dispatcher: Dispatcher,
        questions: PlanQuestions,
        channel: ClosingChannel,
        sender: ChannelSender,
        backpressure: Backpressure,
        arrivals: Inbox,
        audit: Audit,
        tasks: TurnTasks,
        halt: StoppableWork,
        drafts: Drafts,
    ) -> None:
        self._make_processor = make_processor
        self._executor = executor
        self._dispatcher = dispatcher
        self.questions = questions
        self._channel = channel
        self._sender = sender
        self._backpressure = backpressure
        self._arrivals = arrivals
        self._audit = audit
        self._tasks = tasks
        self._halt = halt
        self._drafts = drafts
        self._answers = RunningAnswers()
        self._ask_again: tuple[WaitingPlan, ...] = ()
        self._processors: dict[str, TurnProcessor] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def start(self, resume: tuple[WorkItem, ...], ask: tuple[WaitingPlan, ...]) -> None:
        """Record the start and resume work that a restart interrupted.

        Args:
            resume: What goes on at once.
            ask: What is asked about again as soon as somebody listens.
        """
        self._ask_again = ask
        await self._audit.log("stream_started", channel=self._channel.channel_name)
        for item in resume:
            send = self._sender.to(self._dispatcher.address_of(item.id))
            self._dispatcher.dispatch(item, send)

    async def listen(self, workspace: str | None, attest: Attest) -> None:
        """Serve the channel until it closes; one bad turn never ends the Stream.

        Args:
            workspace: The directory that requests are about where they name none.
            attest: Signs what the owner says at a place that is his alone.
        """
        waiting, self._ask_again = self._ask_again, ()
        self.questions.ask_again(waiting, self._dispatcher)
        async for arrived, connection_id in self._channel.listen():
            incoming = Incoming.of(arrived, connection_id, workspace)
            turn = self._tasks.begin(self._receive(attest(incoming)))
            if self._channel.heard_in_turn:
                await asyncio.wait({turn})
        await self._tasks.wait()

    async def _receive(self, incoming: Incoming) -> None:
        """Stop what runs where that is all that the owner says; else one turn."""
        send = self._sender.to(incoming.address, incoming.message.id)
        if words := await stop_on_request(incoming, self._executor, asks_to_stop):
            await send(words)
            return

        async def tell(error: Exception) -> None:
            known = from_foreign(error)
            await send(self._sender.put(_BROKEN if known is None else str(known)))

        async def report_stop() -> None:
            await self._audit.log("answer_stopped", scope_id=incoming.connection_id)
            await send(STOPPED_WORDS)

        name = incoming.message.id
        await self._answers.run(name, partial(self._run_turn, incoming, tell), report_stop)

    def stop_answer(self, message_id: str) -> bool:
        """End the one turn that answers this message; False where none does any more.

        What it asked about is withdrawn. Work that was approved goes on, and so does all the rest.
        """
        return self._answers.stop(message_id)

    def thinks_about(self, work_item_id: str) -> bool:
        """Whether an answer is being found in the conversation that asked for this work.

        An answer that waits for its owner's word on a card is not being found.
        """
        lock = self._locks.get(self._dispatcher.address_of(work_item_id))
        return lock is not None and lock.locked()

    async def handle(self, incoming: Incoming) -> Reply:
        """Run one turn under its connection's lock.

        A full queue rejects the newest message with words to try again; nothing is lost silently.

        Raises:
            Stopped: Silas is stopped, or was while this turn was under way.
            SilasError: The turn failed; it is on record, and nothing was sent.
        """

        async def raise_error(error: Exception) -> None:
            raise error

        reply = await self._run_turn(incoming, raise_error)
        if reply is None:
            raise AssertionError("a failed turn was not raised")
        return reply

    async def _run_turn(self, incoming: Incoming, failed: Failed) -> Reply | None:
        """One turn; None where it failed and `failed` told so.

        The message is kept from here on until whoever sent it knows how its turn ended.
        """
        arrival = ""
        try:
            self._halt.require_running()
            if not self._backpressure.enter(incoming.connection_id):
                return await self._reply_busy(incoming)
            try:
                arrival = self._arrivals.save_arrival(incoming)
                return await self._run_in_order(incoming, arrival)
            finally:
                self._backpressure.leave(incoming.connection_id)
        except asyncio.CancelledError:
            if arrival and self._answers.was_stopped(incoming.message.id):
                self._arrivals.delete_done(arrival)
            raise
        except Exception as error:  # noqa: BLE001, RUF100 - one turn's bug must not end the Stream
            try:
                await failed(error)
            finally:
                if arrival:
                    self._arrivals.delete_done(arrival)
            return None

    async def _reply_busy(self, incoming: Incoming) -> Reply:
        await self._audit.log("turn_rejected_busy", scope_id=incoming.connection_id)
        await self._sender.to(incoming.address, incoming.message.id)(_BUSY)
        return Reply(text=_BUSY, outcome="busy")

    async def _run_in_order(self, incoming: Incoming, arrival: str) -> Reply:
        """The turn itself, when those before it in the same conversation are over."""
        address, name = incoming.address, incoming.message.id
        lock = self._locks.setdefault(address, asyncio.Lock())
        leaves = incoming.connection_id == OWNER and self._channel.asks_beside
        try:
            async with TurnPlace(lock, leaves=leaves) as place:
                processor = self._processors.get(address)
                if processor is None:
                    processor = self._processors[address] = self._make_processor(address)
                voice = TurnVoice(self._sender.to(address, name), place.aside)
                whose_turn = incoming.connection_id
                door = incoming.door(self._channel.channel_name)
                calls = calls_of(whose_turn, first=whose_turn == OWNER, door=door)
                with calls, self._drafts.turn(address, voice, name) as (say, aside):
                    run = partial(processor.run, incoming, arrival, self._channel, say, aside)
                    return await self._halt.run_unless_stopped(run)
        except Exception as error:  # recorded whatever it is, and raised again
            known = from_foreign(error)
            code = "E_SILAS_UNEXPECTED" if known is None else known.code
            kind = type(error).__name__
            whose_turn = incoming.connection_id
            await self._audit.log("turn_failed", scope_id=whose_turn, code=code, kind=kind)
            raise

    @property
    def pressure(self) -> int:
        """How many turns are under way or wait (18.6)."""
        return self._backpressure.waiting

    async def stop(self) -> None:
        """Answer open questions safely, let turns end, stop work, leave a checkpoint (18.2)."""
        self._channel.close()
        await self._tasks.stop()
        await self._executor.stop()
        await self._audit.log("stream_stopped")
        try:
            await self._audit.write_checkpoint()
        except (ApprovalError, DatabaseError) as error:
            # A signer apart is away, and the next checkpoint covers this; or the record does not
            # hold, which was said.
            if isinstance(error, DatabaseError) and error.code != "E_DB_CORRUPT":
                raise
            await self._audit.log("checkpoint_missed", code=error.code)
