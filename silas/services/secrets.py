"""The secrets alone, for the commands about them."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from silas.agents.choice import PROVIDER_KEY
from silas.audit import Audit
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.home.secret_store import secrets_of
from silas.keys.secrets import SecretFacts, SecretVault
from silas.language import tr
from silas.services.record import open_audit
from silas.services.setup.provider_key import note_provider_key
from silas.tools.mcp.settings import users_of


@dataclass(frozen=True)
class SecretsDesk:
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
        added = self.vault.add(name, value, self.clock.now())
        try:
            await self.audit.log("secret.added", ref_id=added.ref_id)
        except Exception:
            self.vault.remove(added.ref_id)
            raise
        if added.name == PROVIDER_KEY:
            note_provider_key(self.folder, stored=True)
        return added

    async def remove(self, name: str) -> SecretFacts:
        """Forget a secret, by name or reference.

        Raises:
            ConfigError: There is none, or it cannot be removed.
        """
        removed = self.vault.remove(name)
        await self.audit.log("secret.removed", ref_id=removed.ref_id)
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
async def open_secrets_desk(config: SilasConfig) -> "AsyncGenerator[SecretsDesk]":
    """The secrets of an initialised Silas, without starting anything else."""
    async with open_audit(config) as desk:
        yield SecretsDesk(config.data_dir, secrets_of(config), desk.log, SystemClock())
