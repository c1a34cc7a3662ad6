"""The secrets alone, for the commands about them."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from silas.agents.choice import PROVIDER_KEY
from silas.audit import Audit
from silas.audit.intent import ChangeEvents, record_change
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.home.secret_store import secrets_of
from silas.keys.secrets import SecretFacts, SecretVault, new_ref
from silas.language import tr
from silas.services.record import open_audit
from silas.services.setup.provider_key import note_provider_key
from silas.tools.mcp.settings import users_of

_ADDITION: Final = ChangeEvents("secret.adding", "secret.added", "secret.not_changed")
_REMOVAL: Final = ChangeEvents("secret.removing", "secret.removed", "secret.not_changed")


@dataclass(frozen=True)
class SecretsService:
    """The secrets alone, for the commands about them.

    Attributes:
        folder: The data directory, where the choices of the first run are.
    """

    folder: Path
    vault: SecretVault
    audit: Audit
    clock: Clock

    async def add(self, name: str, value: str) -> SecretFacts:
        """Keep a secret, on record; what cannot be recorded is not kept.

        Raises:
            ConfigError: See `SecretVault.add`.
            DatabaseError: It could not be recorded; nothing was kept.
            Stopped: The record was changed outside Silas; nothing was kept.
        """
        self.audit.require_whole()
        ref_id = new_ref()
        async with record_change(self.audit, _ADDITION, ref_id=ref_id):
            added = self.vault.keep(ref_id, name, value, self.clock.now())
        if added.name == PROVIDER_KEY:
            note_provider_key(self.folder, stored=True)
        return added

    async def remove(self, name: str) -> SecretFacts:
        """Forget a secret, by name or reference.

        Raises:
            ConfigError: There is none, or it cannot be removed.
            DatabaseError: It could not be recorded; nothing was removed.
        """
        known = self.vault.find(name)
        async with record_change(self.audit, _REMOVAL, ref_id=known.ref_id):
            removed = self.vault.remove(known.ref_id)
        if removed.name == PROVIDER_KEY:
            note_provider_key(self.folder, stored=False)
        return removed


def servers_given(config: SilasConfig, secret: str) -> tuple[str, ...]:
    """The servers of tools that are given a secret, by its name."""
    return users_of(config.mcp_entries, secret)


def needed_words(servers: Iterable[str]) -> list[str]:
    """What becomes of servers of tools whose secret is gone, in a sentence each."""
    return [
        tr(
            "The server of tools {server} is given it: it ends, and does not start until a secret "
            "of this name is stored again.",
            server=server,
        )
        for server in servers
    ]


def secret_facts(config: SilasConfig) -> tuple[SecretFacts, ...]:
    """Every secret by name; nothing is opened."""
    return secrets_of(config).facts()


@asynccontextmanager
async def open_secrets_service(config: SilasConfig) -> "AsyncGenerator[SecretsService]":
    """The secrets of an initialised Silas, without starting anything else."""
    async with open_audit(config) as service:
        yield SecretsService(config.data_dir, secrets_of(config), service.log, SystemClock())
