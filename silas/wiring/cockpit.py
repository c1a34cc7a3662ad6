"""What stands behind the cockpit's HTTP endpoints, made of an open Silas."""

from collections.abc import Mapping
from functools import partial

from silas.audit.reader import AuditReader
from silas.config.place import ConfigPlace
from silas.home.web_tools import record_connections
from silas.plans.card_preview import PlanLook
from silas.services.attachments.service import AttachmentService
from silas.services.cockpit.ahead import CockpitAhead
from silas.services.cockpit.announcements import announced_on
from silas.services.cockpit.answering import AnsweringDoor
from silas.services.cockpit.batches import CockpitBatches
from silas.services.cockpit.connections import CockpitConnections
from silas.services.cockpit.memory import CockpitMemory
from silas.services.cockpit.overview import OverviewRoom
from silas.services.cockpit.record import RecordRoom
from silas.services.cockpit.reminders import CockpitReminders
from silas.services.cockpit.rooms import Configuration, Rooms
from silas.services.cockpit.settings import SettingsDoor
from silas.services.cockpit.setup import SetupRoom
from silas.services.cockpit.showing import CockpitShowing
from silas.services.cockpit.work import WorkRoom
from silas.services.emergency_stop import StopService
from silas.services.mcp_servers.configuration import ConfiguredServers
from silas.services.mcp_servers.management import ServerManagement
from silas.services.persona import OwnersPersona
from silas.services.schedules.standing import standing_limit
from silas.services.setup.provider_key import ProviderKey, tried_at_openrouter
from silas.services.setup.saved_settings import AskedSettings, SettingsService
from silas.services.setup.who_answers import ModelSwitch
from silas.services.tools.look_tools import shown_by_work
from silas.stream.owner import Owner
from silas.stream.session import Session
from silas.tools.web.client import WebClient
from silas.wiring.parts import Parts


def cockpit_of(
    parts: Parts, session: Session, place: ConfigPlace, absent: Mapping[str, str]
) -> Rooms:
    """The rooms of a Silas that is open; `rooms.close()` ends what they wait for.

    What pages must hear of at once, such as an undo, is told to the channel if it can show it.

    Args:
        parts: What they are made of.
        session: The Silas.
        place: Where its configuration is, for what changes it.
        absent: Why a channel is not there, by its name.
    """
    config, clock, redact = parts.config, parts.runtime.clock, parts.secrecy.redact
    stop, channel = parts.stop, parts.channel
    answering = _who_answers(parts, session, place)
    setup = _setup(parts, answering)
    look = _look(parts)
    return Rooms(
        record=RecordRoom(
            AuditReader(parts.db),
            parts.entry_words(),
            parts.nonces,
            clock,
            redact,
            look,
            parts.context_services.work.result,
        ),
        work=WorkRoom(
            session,
            parts.store,
            parts.nonces,
            StopService(stop.sentinel, stop.epochs, parts.store, parts.audit, clock),
            announced_on(channel),
            redact,
            config.data_dir / "undo",
            parts.context_services.work,
            look,
        ),
        overview=OverviewRoom(
            config,
            parts.models.choices,
            parts.registry,
            parts.sandbox.name,
            clock,
            redact,
            parts.audit,
        ),
        memory=CockpitMemory(parts.context_services.search, parts.memory_service, redact),
        reminders=CockpitReminders(parts.reminder_service, redact),
        ahead=CockpitAhead(parts.ahead_service, parts.narrowing, redact),
        conversations=parts.conversation_service(),
        batches=CockpitBatches(parts.batches, parts.shown_batches, parts.sandbox, redact),
        attachments=AttachmentService(
            parts.context_services.conversations.attachments,
            parts.context_services.conversations.store,
            parts.audit,
            parts.sandbox,
        ),
        configuration=Configuration(
            persona=OwnersPersona(parts.context_services.persona),
            answering=AnsweringDoor(answering, setup),
            showing=CockpitShowing(session, redact),
            connections=_connections(parts, absent, place),
            settings=_settings(parts, place),
            setup=setup,
        ),
    )


def _setup(parts: Parts, answering: ModelSwitch) -> SetupRoom:
    secrets, channel, servers = parts.runtime.secrets, parts.channel, parts.servers
    told, clock, place = announced_on(channel), parts.runtime.clock, parts.config.data_dir
    secrecy, audit = parts.secrecy, parts.audit
    return SetupRoom(place, answering, secrets, servers, secrecy, channel, told, audit, clock)


def _look(parts: Parts) -> PlanLook:
    return PlanLook(
        parts.tools,
        shown_by_work(parts.models.choices, parts.workers, parts.server_entries),
        partial(standing_limit, parts.config, parts.db),
    )


def _who_answers(parts: Parts, session: Session, place: ConfigPlace) -> ModelSwitch:
    config, runtime, channel = parts.config, parts.runtime, parts.channel
    client = WebClient(runtime.web.outside, runtime.web.make_tls, record_connections(parts.audit))
    return ModelSwitch(
        place,
        config.data_dir,
        parts.models,
        session.busy,
        ProviderKey(config.data_dir, runtime.secrets, tried_at_openrouter(client), runtime.clock),
        runtime.make_model,
        Owner(channel, parts.audit, runtime.clock),
        announced_on(channel),
        parts.audit,
        runtime.clock,
    )


def _connections(parts: Parts, absent: Mapping[str, str], place: ConfigPlace) -> CockpitConnections:
    owner = Owner(parts.channel, parts.audit, parts.runtime.clock)
    running, secrets = parts.stop.sentinel.require_running, parts.runtime.secrets
    saved = ConfiguredServers(place, parts.audit, running, secrets)
    asked = ServerManagement(saved, parts.servers, owner)
    file, redact = str(place.file), parts.secrecy.redact
    registry = parts.registry
    return CockpitConnections(parts.config, parts.servers, asked, registry, absent, file, redact)


def _settings(parts: Parts, place: ConfigPlace) -> SettingsDoor:
    service = SettingsService(place, parts.audit)
    owner = Owner(parts.channel, parts.audit, parts.runtime.clock)
    return SettingsDoor(parts.config, service, AskedSettings(service, owner))
