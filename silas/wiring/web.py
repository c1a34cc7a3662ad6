"""`silas start`: the cockpit around a running Silas, from the socket to the last page's goodbye."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from silas.approval.nonces import SqlNonceStore
from silas.audit.log import AuditLog
from silas.channels.hub import ChannelFaults, ChannelHub
from silas.channels.proofs import ChoiceProofs
from silas.channels.web.app import SocketSplit, StartingApp, create_app
from silas.channels.web.channel import WebChannel
from silas.channels.web.conversations import ConversationPlaces
from silas.channels.web.fatigue import FatigueWatch
from silas.channels.web.forgotten_content import ForgottenContent
from silas.channels.web.guard import RequestGuard
from silas.channels.web.hosts import WebHosts
from silas.channels.web.page_files import face_dir
from silas.channels.web.pairing import WebDoor
from silas.channels.web.proofs import Prover
from silas.channels.web.record_rule import refused_while_changed
from silas.channels.web.routes import cockpit_routes
from silas.channels.web.routes_phone import phone_routes
from silas.channels.web.serve import PlainHttp, run_server
from silas.channels.web.shown_changes import show_changes
from silas.channels.web.shutdown import end_conversation
from silas.channels.web.socket import Sockets
from silas.channels.web.static import StaticDirectory
from silas.channels.web.transcript import Transcript
from silas.channels.web.undone_work import UndoneResults
from silas.channels.web.waiting_plans import announce_waiting_plans
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.config.place import ConfigPlace
from silas.config.servers_file import ServersFile
from silas.context.chronicle import SqlChronicleStore
from silas.context.conversation_store import ConversationStore
from silas.home.background_tasks import running
from silas.home.cockpit_address import listening_at, served_at
from silas.home.database import open_database
from silas.home.effective_clock import effective_time
from silas.home.keyless import NoKey
from silas.home.runtime import Runtime, real_runtime
from silas.keys.devices import DeviceKeys
from silas.memory.forgotten import ForgottenLog
from silas.services.channels import (
    LoadedChannel,
    external_channels,
    learn_values,
    load_channels,
    tell_unloaded,
    why_absent,
)
from silas.services.cockpit.connect_facts import ConnectFacts
from silas.services.cockpit.forgotten import PagesForgotten, PagesMadeOf
from silas.services.cockpit.undone import UndoneEntries
from silas.services.devices import offer_link, web_door, web_limits
from silas.services.phone.service import PhoneService
from silas.services.phone.tailscale import Tailscale
from silas.services.work import scope_work
from silas.stream.scope_work import NOT_SHOWN
from silas.stream.session import Session
from silas.stream.stream import as_it_came
from silas.wiring.build import Silas, build
from silas.wiring.cockpit import cockpit_of
from silas.wiring.parts import Parts


@dataclass(frozen=True)
class RunningCockpit:
    """A cockpit that is being served.

    Attributes:
        silas: What it is the cockpit of.
        channel: Its pages.
        door: Who may come in.
        link: Pairs one browser, once; empty where nobody may be paired now.
        refused: Why nobody may, in words.
        address: Where paired browsers find it.
        phone: Opens it for a phone, too.
    """

    silas: Silas
    channel: WebChannel
    door: WebDoor
    link: str
    refused: str
    address: str
    phone: PhoneService


@asynccontextmanager
async def open_cockpit(
    config: SilasConfig,
    place: ConfigPlace,
    workspace: str | None,
    overdue: Callable[[], None],
    *,
    runtime: Callable[[SilasConfig], Runtime] = real_runtime,
) -> AsyncGenerator[RunningCockpit]:
    """Serve first, then wire Silas behind it; at the end the other way round (18.2, A25).

    Args:
        config: From `listening_at`.
        place: Where it was read from, for what changes it.
        workspace: The directory that requests are about where they name none.
        overdue: See `Silas.open`.
        runtime: See `Silas.open`.

    Raises:
        ConfigError: The address or the configuration cannot be used.
    """
    web, front = config.channels.web, StartingApp()
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(
            run_server(front, web.host, web.port, SystemClock(), front.knows, PlainHttp())
        )
        config = listening_at(config, None, port)
        standing = runtime(config)
        clock = standing.clock
        db = stack.enter_context(open_database(config, clock))
        audit = AuditLog(db, clock, NoKey())
        nonces = SqlNonceStore(db, effective_time(db, clock, audit), config.nonce_store)
        door = web_door(config, db, nonces, clock, audit)
        signed = DeviceKeys(db, clock).verify
        attention = FatigueWatch(audit)
        said = SqlChronicleStore(db, clock, config.context.chronicle)
        transcript = Transcript(db, PagesMadeOf(db, said))
        asked_by = scope_work(db, clock).asked_by
        places = ConversationPlaces(ConversationStore(db, clock), asked_by)
        channel = WebChannel(transcript, door.prove, signed, audit, attention, clock, places)
        stack.push_async_callback(channel.leave)
        loaded = load_channels(config, clock)
        proofs, faults = ChoiceProofs(signed, nonces, clock), ChannelFaults(channel, audit)
        others = external_channels(config, loaded, proofs.objection, faults.note, audit, clock)
        hub = ChannelHub(channel, others, faults, clock)
        await stack.enter_async_context(hub.serving())
        phone = PhoneService(config, door.link, audit, clock, Tailscale.find_program())
        served = stack.enter_context(served_at(config))
        stack.push_async_callback(phone.end)
        serve = partial(
            _open_application, config, place, front, channel, door, loaded, phone, served
        )
        silas = await stack.enter_async_context(
            build(
                config,
                standing,
                hub,
                overdue=overdue,
                beside=serve,
                read_servers=ServersFile(place, config.mcp_entries),
            )
        )
        await tell_unloaded(loaded, faults.note)
        listening = asyncio.create_task(silas.stream.listen(workspace, as_it_came))
        stack.push_async_callback(end_conversation, channel, listening)
        base = WebHosts.of(config.channels.web).base
        link, refused = await offer_link(door, base)
        yield RunningCockpit(silas, channel, door, link, refused, base, phone)


@asynccontextmanager
async def _open_application(
    config: SilasConfig,
    place: ConfigPlace,
    front: StartingApp,
    channel: WebChannel,
    door: WebDoor,
    loaded: Sequence[LoadedChannel],
    phone: PhoneService,
    served: Callable[[str], None],
    parts: Parts,
    silas: Session,
) -> AsyncGenerator[None]:
    """The application behind its guard, for as long as Silas is open."""
    learn_values(loaded, parts.secrecy.learn)
    rooms = cockpit_of(parts, silas, place, why_absent(loaded))
    facts = ConnectFacts(
        config,
        silas,
        rooms.configuration.setup,
        parts.audit,
        parts.models.choices,
        parts.holding.held,
        channel,
    )
    clock = parts.runtime.clock
    forgotten = PagesForgotten(ForgottenLog(parts.db), parts.context_services.work)
    withholding = ForgottenContent(channel.transcript, channel.pages, forgotten, NOT_SHOWN)
    routes = cockpit_routes(rooms, door, parts.audit)
    refused = refused_while_changed(parts.audit)
    routes.routes.extend(phone_routes(phone, Prover(door), refused).routes)
    app = create_app(
        door,
        channel,
        StaticDirectory(face_dir()),
        routes,
        facts.turns_waiting,
        withholding,
    )
    show_changes(channel.pages, door, parts.audit, parts.context_services.conversations.store)
    inside, limits = (
        SocketSplit(app, Sockets(channel, facts, withholding, clock)),
        web_limits(config, clock),
    )
    phone.serve(partial(RequestGuard, inside, door, limits=limits), served)
    front.open(RequestGuard(inside, door, WebHosts.of(config.channels.web), limits))
    undoings = UndoneEntries(parts.audit, parts.undoing, parts.store)
    undone = UndoneResults(channel.transcript, channel.pages, undoings, channel.announce_undo)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(rooms.close)
        following = running(
            undone.follow(clock),
            announce_waiting_plans(facts.waiting, channel.pages, clock),
            withholding.follow(clock),
        )
        await stack.enter_async_context(following)
        stack.callback(front.close)
        yield
