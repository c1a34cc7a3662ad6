"""Secrets that are waited for: a place for each, filled once, on a path outside the agent (0.5)."""

import asyncio
from typing import Literal

from silas.clock import Clock
from silas.errors import ConfigError
from silas.keys.secrets import SecretFacts, SecretVault, new_ref

Standing = Literal["pending", "storing", "stored"]

MOST_PENDING = 20
"""Inputs that wait at once; more are somebody's mistake."""


class SecretInputs:
    """Which secrets were asked for. A value that was not asked for has no place to go.

    Holds names and references; a value passes through `store` and stays in the vault alone.
    """

    def __init__(self, vault: SecretVault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock
        self._labels: dict[str, str] = {}
        self._standing: dict[str, Standing] = {}
        self._replacing: set[str] = set()

    def awaits(self, label: str) -> bool:
        """Whether a secret of this name is waited for."""
        return any(
            self._labels[ref] == label and standing != "stored"
            for ref, standing in self._standing.items()
        )

    def label(self, ref_id: str) -> str:
        """The name that a secret is waited for under; empty where it is not."""
        waits = self._standing.get(ref_id) == "pending"
        return self._labels[ref_id] if waits else ""

    def open(self, label: str, *, replaces: bool = False) -> str:
        """Wait for a secret that is to have this name; returns its reference.

        Args:
            label: The name.
            replaces: Whether it may take the place of the one that has it.

        Raises:
            ConfigError: The name is taken or no name, or too many are waited for.
        """
        if not replaces:
            self._vault.refuse_name(label)
        waiting = sum(standing != "stored" for standing in self._standing.values())
        if self.awaits(label) or waiting >= MOST_PENDING:
            raise ConfigError(
                f"Silas is waiting for the secret {label} already; use the card that is open.",
                code="E_CFG_SECRET_STORED",
            )
        ref_id = new_ref()
        self._labels[ref_id], self._standing[ref_id] = label, "pending"
        if replaces:
            self._replacing.add(ref_id)
        return ref_id

    def close(self, ref_id: str) -> None:
        """Wait no longer; what is being stored is stored."""
        if self._standing.get(ref_id) == "pending":
            del self._standing[ref_id], self._labels[ref_id]

    def is_stored(self, ref_id: str) -> bool:
        """Whether this input has its value."""
        return self._standing.get(ref_id) == "stored"

    async def store(self, ref_id: str, value: str) -> SecretFacts:
        """Put the value into the vault, beside the event loop; of two at once one is refused.

        Raises:
            ConfigError: `E_CFG_SECRET_UNKNOWN`: nobody waits for it; `E_CFG_SECRET_STORED`: it is
                there already; another code: it cannot be kept, and can be sent again.
        """
        standing = self._standing.get(ref_id)
        if standing in ("storing", "stored") or ref_id in self._vault.refs():
            raise ConfigError(
                "This secret was stored already; to change it, remove it first.",
                code="E_CFG_SECRET_STORED",
            )
        if standing is None:
            raise ConfigError(
                "Nobody is waiting for this secret; ask for it again.", code="E_CFG_SECRET_UNKNOWN"
            )
        self._standing[ref_id] = "storing"
        try:
            facts = await asyncio.to_thread(
                self._vault.keep,
                ref_id,
                self._labels[ref_id],
                value,
                self._clock.now(),
                replaces=ref_id in self._replacing,
            )
        except BaseException:
            self._standing[ref_id] = "pending"
            raise
        self._standing[ref_id] = "stored"
        return facts
