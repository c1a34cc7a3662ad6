"""`Silas.open`: what is started with the parts of a Silas, and ended with them (spec 12)."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    nullcontext,
)
from functools import partial
from typing import TYPE_CHECKING, cast

from silas.approval.pruning import prune_nonces
from silas.cards import Channel
from silas.config import SilasConfig
from silas.config.servers_file import ReadServers, never_again
from silas.context.pruning import prune_chronicle
from silas.home.background_tasks import running
from silas.home.crash_recovery import recover_after_crash, recover_unless_stopped
from silas.home.damaged_rows import tell_damaged
from silas.home.database import open_database
from silas.home.lease import Lease
from silas.home.runtime import Runtime, real_runtime
from silas.home.unsupported import refuse_unable
from silas.home.witnesses import message_to_owner
from silas.language import speak_as_configured
from silas.services.held_changes import tell_held
from silas.services.owner_key import settle_succession
from silas.services.review import plan_picked
from silas.services.tools.toolsets import mount_toolsets, tell_absent
from silas.stop.watch import never_end
from silas.stream.interrupted import left_unanswered, tell_interrupted
from silas.stream.session import Session
from silas.wiring.context_services import aftermath
from silas.wiring.models import open_models
from silas.wiring.parts import Parts
from silas.wiring.session import session_of
from silas.wiring.turn import PortReplacement, keep_port

if TYPE_CHECKING:
    from silas.services.schedules.ahead import Ahead

Beside = Callable[[Parts, Session], AbstractAsyncContextManager[object]]
"""Opens something that needs a running Silas, and closes it before Silas ends."""


def alone(parts: Parts, session: Session) -> AbstractAsyncContextManager[object]:
    """Nothing stands beside Silas."""
    del parts, session
    return nullcontext()


class Silas(Session):
    """A running Silas. See `silas.stream.session.Session` for what it does."""

    async def ahead(self, days: int = 7) -> "Ahead":
        """Reminders, goals and projects: what is to come within so many days, what may run without
        asking, what is paused, and how each project stands that runs or waits.
        """
        return cast("Ahead", await self.unasked.ahead().look(days))

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        config: SilasConfig,
        *,
        channel: Channel,
        resume: bool = True,
        overdue: Callable[[], None] = never_end,
        runtime: Callable[[SilasConfig], Runtime] = real_runtime,
        exchange: PortReplacement = keep_port,
        beside: Beside = alone,
        read_servers: ReadServers = never_again,
    ) -> "AsyncGenerator[Silas]":
        """Wire, migrate, rehydrate and start; stop and leave a checkpoint at the end.

        Args:
            config: From `load_config`.
            channel: How the owner is reached; cards come as text where it cannot show them.
            resume: Pick up work that a crash interrupted, unless another process is open on it.
                The files that a crash left half-changed are brought back in any case.
            overdue: Called from a thread where an emergency stop finds the event loop blocked or
                its work not ending; by default nothing more is done than to refuse every effect.
            runtime: What it stands on; the real clock, key, sandbox and models by default.
            exchange: Puts other ports in place of those of a turn; as wired by default.
            beside: What is open as long as Silas is, such as the cockpit's server.
            read_servers: Where servers of tools are added while it is open; nowhere by default.

        Raises:
            ConfigError: The configuration or the key is unusable.
            DatabaseError: The database is unreadable or from another version.
        """
        standing = runtime(config)
        async with build(
            config,
            standing,
            channel,
            resume=resume,
            overdue=overdue,
            exchange=exchange,
            beside=beside,
            read_servers=read_servers,
        ) as silas:
            yield silas


@asynccontextmanager
async def build(
    config: SilasConfig,
    runtime: Runtime,
    channel: Channel,
    *,
    resume: bool = True,
    overdue: Callable[[], None] = never_end,
    exchange: PortReplacement = keep_port,
    beside: Beside = alone,
    read_servers: ReadServers = never_again,
) -> "AsyncGenerator[Silas]":
    """Everything, in the order of its dependencies; closed in the opposite order."""
    refuse_unable(config)
    speak_as_configured(config.language, os.environ)
    async with AsyncExitStack() as stack:
        stack.callback(runtime.ring.release)
        db = stack.enter_context(open_database(config, runtime.clock))
        models = await open_models(config, runtime, stack)
        parts = Parts(config, runtime, db, channel, models, read_servers)
        await parts.audit.open()  # says by itself what it finds
        await settle_succession(db, parts.audit, runtime.ring)
        stack.enter_context(parts.stop.watch_stop(parts.audit, overdue))
        await mount_toolsets(config, parts.registry, parts.secrecy, stack)
        await stack.enter_async_context(parts.servers.running())
        silas = await session_of(parts, Silas, stack, exchange)
        lease = await stack.enter_async_context(Lease(config.data_dir))
        recover = partial(
            recover_after_crash,
            config.data_dir,
            parts.undoing,
            parts.store,
            parts.waiting,
            parts.outcomes,
            parts.audit,
            parts.moving.recover,
            alone=lease.alone,
            resume=resume,
        )
        found = await recover_unless_stopped(parts.stop.sentinel.stands, recover)
        left = left_unanswered(parts.context_services.conversations.arrivals, alone=lease.alone)
        lease.settle()
        await silas.stream.start(found.resume, found.ask)
        await tell_interrupted(
            left, aftermath(parts.context_services, parts.channel, db, parts.audit)
        )
        await parts.undoing.files.tell(message_to_owner(parts.channel))
        await tell_damaged(db, parts.audit, message_to_owner(parts.channel))
        if resume:  # somebody who stays; a single command was not asked about them
            await tell_held(parts.holding.held, message_to_owner(parts.channel))
        await tell_absent(parts.registry, parts.audit, message_to_owner(parts.channel))
        stack.push_async_callback(silas.stream.stop)
        await prune_nonces(parts.nonces, parts.time, config.nonce_store)
        await prune_chronicle(parts.context_services.chronicle, parts.audit)
        upkeep = running(
            plan_picked(parts.picks, silas.stream, runtime.clock),
            *(begin() for begin in parts.context_services.remembered.upkeep),
            *([parts.audit.verify_gradually()] if resume else []),  # where Silas stays
        )
        await stack.enter_async_context(upkeep)
        if resume:  # a command that ends by itself waits for nothing
            from silas.wiring.jobs import jobs_served  # noqa: PLC0415 - a process that stays

            await stack.enter_async_context(jobs_served(parts, silas))
        await stack.enter_async_context(beside(parts, silas))
        yield silas
