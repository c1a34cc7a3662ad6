"""From agents to the Stream: the session over the parts of a Silas (spec 5.1, 12).

Every part is made before those that use it, and none is completed afterwards.
"""

from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from silas.config import SilasConfig
from silas.memory.meter import MeteredRetriever
from silas.plans import PlanParser
from silas.services.schedules.standing import standing_limit
from silas.services.tools.prompt_overhead import overhead_of
from silas.stream.channel_sender import ChannelSender
from silas.stream.closing import ClosingChannel
from silas.stream.dispatch import Dispatcher
from silas.stream.look_answers import LookAnswers
from silas.stream.owner_messages import OwnerMessages
from silas.stream.plan_questions import PlanQuestions
from silas.stream.plan_runs import PlanRuns
from silas.stream.plan_tokens import PlanTokens
from silas.stream.propose import Proposer
from silas.stream.revising import Revising
from silas.stream.session import Session, WithoutAsking
from silas.stream.stream import Backpressure, Stream
from silas.stream.tidying import Tidying
from silas.stream.turn_tasks import TurnTasks
from silas.wiring.models import agents_of
from silas.wiring.tasks import entry_check, executor_of, undo_of, worker_runner_of
from silas.wiring.turn import PortReplacement, TurnWiring
from silas.work.entry import EntryCheck, FirstRefusal
from silas.work.executor import WorkItemExecutor

if TYPE_CHECKING:
    from silas.wiring.parts import Parts

SessionT = TypeVar("SessionT", bound=Session)


async def session_of(
    parts: "Parts", kind: type[SessionT], stack: AsyncExitStack, exchange: PortReplacement
) -> SessionT:
    """The whole, from agents to the Stream; every tool must be registered by now."""
    from silas.tools.toolset import build_chain  # noqa: PLC0415 - PydanticAI

    services, agents = parts.context_services, agents_of(parts)
    chain = build_chain(parts.door, parts.registry)
    worker_runner = worker_runner_of(parts, agents.executor, chain)
    overhead = overhead_of(parts.config, parts.registry, parts.skills.catalogue())
    services.context.reserve(overhead.reserved)
    stack.push_async_callback(services.review.stop)
    entry = entry_check(parts, worker_runner)
    proposer = proposer_of(parts, entry)
    turns = TurnWiring(parts, agents.proxy, agents.planner, proposer, chain, exchange)
    revising = turns.revising()
    executor = executor_of(parts, worker_runner, agents.planner, entry, revising)
    channel = ClosingChannel(parts.channel)
    sender = ChannelSender(channel, parts.audit)
    tasks = turn_tasks(parts)
    questions = PlanQuestions(proposer, channel, sender, parts.stop.halt, tasks)
    dispatcher = Dispatcher(
        executor,
        parts.telling.show,
        revising.end_work,
        questions.ask_about,
        services.work.address_of,
    )
    stream = Stream(
        partial(turns.processor, turns.steps(dispatcher.dispatch, revising)),
        executor,
        dispatcher,
        questions,
        channel,
        sender,
        backpressure(parts.config),
        services.conversations.arrivals,
        parts.audit,
        tasks,
        parts.stop.halt,
        parts.drafts,
    )
    return kind(
        stream=stream,
        messages=OwnerMessages(
            parts.channel.channel_name,
            parts.sign_message,
            parts.runtime.clock,
            services.conversations.store,
        ),
        runs=plan_runs(parts, proposer, dispatcher, executor, revising, stream),
        executor=executor,
        store=parts.store,
        undoing=undo_of(parts),
        unasked=WithoutAsking(
            parts.ahead_service,
            parts.narrowing,
            parts.goals,
            LookAnswers(parts.db, parts.runtime.clock),
        ),
        tidying=tidying_of(parts),
        approval=parts.approval,
        audit=parts.audit,
        registry=parts.registry,
        retriever=MeteredRetriever(services.remembered.retriever, services.remembered.meter),
    )


def plan_runs(
    parts: "Parts",
    proposer: Proposer,
    dispatcher: Dispatcher,
    executor: WorkItemExecutor,
    revising: Revising,
    stream: Stream,
) -> PlanRuns:
    """What runs plans that a program gives, and asks again about what waits."""
    return PlanRuns(
        proposer=proposer,
        dispatcher=dispatcher,
        executor=executor,
        store=parts.store,
        holding=parts.holding,
        policies=parts.policies,
        stream=stream,
        channel=parts.channel,
        halt=parts.stop.halt,
        audit=parts.audit,
        replacing=revising.replacing,
        work=parts.context_services.work,
    )


def proposer_of(parts: "Parts", entry: EntryCheck) -> Proposer:
    """What asks about plans, and issues their approvals."""
    return Proposer(
        PlanParser(),
        PlanTokens(parts.approval, parts.binding, partial(standing_limit, parts.config, parts.db)),
        parts.store,
        parts.waiting,
        parts.audit,
        parts.runtime.clock,
        parts.preconditions.require_able,
        FirstRefusal(
            entry.ability.unable, parts.goals_when_needed.unable, tidying_of(parts).unable
        ),
        parts.db.write,
        parts.goals_when_needed.begin_approved,
        parts.context_services.work.begin_rest,
    )


def tidying_of(parts: "Parts") -> Tidying:
    """What asks about the files of folders."""
    return Tidying(parts.batches, parts.channel, parts.audit, parts.runtime.clock)


def backpressure(config: SilasConfig) -> Backpressure:
    """How many turns may wait, as configured."""
    limits = config.backpressure
    return Backpressure(limits.max_pending_turns_per_scope, limits.max_pending_turns_total)


def turn_tasks(parts: "Parts") -> TurnTasks:
    """The turns and questions that a stop waits for, as long as is configured."""
    grace = parts.config.backpressure.shutdown_grace_seconds
    return TurnTasks(parts.audit, parts.runtime.clock, grace)
