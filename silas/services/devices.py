"""The cockpit's door: made for the server, and alone for the commands about devices."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from silas.approval.nonces import NonceStore, SqlNonceStore
from silas.audit import Audit
from silas.audit.log import AuditLog
from silas.channels.web.hosts import WebHosts
from silas.channels.web.limits import WebLimits
from silas.channels.web.pairing import WebDoor
from silas.channels.web.sessions import WebSessions
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import Stopped
from silas.home.cockpit_address import where_it_runs
from silas.home.database import open_existing_database
from silas.home.effective_clock import effective_time
from silas.home.keyless import NoKey
from silas.keys import verify_with
from silas.keys.devices import DeviceKeys
from silas.services.phone.state import open_for_phone
from silas.services.record import require_whole_record


def web_door(
    config: SilasConfig, db: Database, nonces: NonceStore, clock: Clock, audit: Audit
) -> WebDoor:
    """Who may come in and what counts as the owner's, over these stores."""
    hosts = WebHosts.of(config.channels.web)
    time = effective_time(db, clock, audit)
    sessions, devices = WebSessions(db, time), DeviceKeys(db, clock)
    return WebDoor(sessions, devices, verify_with, nonces, clock, audit, hosts)


async def offer_link(door: WebDoor, base: str) -> tuple[str, str]:
    """A fresh pairing link and nothing, or nothing and why nobody may be paired now."""
    try:
        return await door.link(base), ""
    except Stopped as error:
        return "", error.message


def web_limits(config: SilasConfig, clock: Clock) -> WebLimits:
    """How much may come in, from the configuration."""
    limits = config.limits
    return WebLimits(
        limits.ws_messages_per_minute_per_scope, limits.ws_messages_per_minute_per_ip, clock
    )


@asynccontextmanager
async def open_door(config: SilasConfig) -> "AsyncGenerator[WebDoor]":
    """The door of an initialised Silas, beside a running one or without any.

    What is changed here counts there at once: both ask the database each time. No key is unlocked:
    a lost phone is revoked without a passphrase.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        config = where_it_runs(config)
        audit = AuditLog(db, clock, NoKey())
        nonces = SqlNonceStore(db, effective_time(db, clock, audit), config.nonce_store)
        yield web_door(config, db, nonces, clock, audit)


async def pairing_link(config: SilasConfig, *, phone: bool) -> str:
    """A fresh pairing link for the cockpit as it runs, or would run.

    Args:
        config: The configuration.
        phone: For a phone, at the address that `silas start --phone` opened for it.

    Raises:
        ConfigError: Silas was not set up here.
        Stopped: The record was changed outside Silas; nobody is let in before the owner looked.
    """
    async with open_door(config) as door:
        with open_existing_database(config, SystemClock()) as db:
            require_whole_record(config, db)
        return await door.link(open_for_phone(config) if phone else door.base)
