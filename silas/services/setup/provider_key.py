"""OpenRouter's key: tried before it is kept, and what is known of the one that is (spec 1.5)."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

from silas.agents.choice import PROVIDER_KEY
from silas.clock import Clock
from silas.config.firstrun import keep_first_run, read_first_run
from silas.errors import ConfigError
from silas.keys.files import replace
from silas.keys.secrets import SecretVault
from silas.language import tr_later
from silas.tools.web.client import HttpRequestNotSent, HttpResponse, WebClient, address


class KeyVerdict(NamedTuple):
    """What OpenRouter says of a key.

    Attributes:
        fault: Why it will not do, as a sentence; empty where it does, or nobody could be asked.
        checked: Whether OpenRouter said that it knows it.
    """

    fault: str
    checked: bool


TryKey = Callable[[str], Awaitable[KeyVerdict]]
"""Asks about a key."""

_KEY_OF: Final = "https://openrouter.ai/api/v1/key"
_SECONDS: Final = 8.0
_MOST: Final = 4096  # bytes of the answer, of which only the status is looked at
_REFUSED: Final = frozenset({401, 403})
_OK: Final = 200

_NO_KEY: Final = tr_later(
    "OpenRouter does not know this key; copy it again from openrouter.ai/keys."
)
_NO_WORD: Final = tr_later("A key is one word of plain letters, digits and dashes; copy it again.")

_CHECKED: Final = "provider-key.json"
"""In `models` in the data directory: which key was checked, and when."""


class KeyStanding(NamedTuple):
    """Where the key is.

    Attributes:
        place: In the environment, in the key store, or nowhere.
        ref_id: Of the secret; empty elsewhere.
        checked_at: When OpenRouter said that it knows it, in ISO 8601; empty where it never did.
        refused: OpenRouter was asked, and does not know it.
    """

    place: Literal["environment", "stored", "none"]
    ref_id: str = ""
    checked_at: str = ""
    refused: bool = False


class ProviderKey:
    """The key of the provider that the page offers; its value stays in the vault."""

    def __init__(
        self,
        folder: Path,
        vault: SecretVault,
        try_key: TryKey,
        clock: Clock,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Touch nothing yet.

        Args:
            folder: The data directory.
            vault: Where it is kept.
            try_key: Asks about it.
            clock: When it was checked.
            environ: Where its variable may be set, which wins.
        """
        self._file = folder / "models" / _CHECKED
        self._vault = vault
        self._try = try_key
        self._clock = clock
        self._environ = environ

    def standing(self) -> KeyStanding:
        """Where it is; nothing is opened."""
        if self._environ.get(PROVIDER_KEY, "").strip():
            return KeyStanding("environment")
        refs = [one.ref_id for one in self._vault.facts() if one.name == PROVIDER_KEY]
        if not refs:
            return KeyStanding("none")
        known = self._read_known()
        if known.get("ref_id") != refs[0]:
            return KeyStanding("stored", refs[0])
        at, refused = str(known.get("checked_at", "")), known.get("refused") is True
        return KeyStanding("stored", refs[0], at, refused)

    async def try_new(self, value: str) -> KeyVerdict:
        """What is said of one that is not kept yet."""
        return await self._try(value)

    def note(self, ref_id: str, verdict: KeyVerdict) -> None:
        """Keep what was said of the one under this reference.

        Raises:
            ConfigError: It cannot be kept.
        """
        at = self._clock.now().isoformat() if verdict.checked else ""
        refused = bool(verdict.fault)
        text = json.dumps({"ref_id": ref_id, "checked_at": at, "refused": refused})
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace(self._file, text.encode())
        except OSError as error:
            raise ConfigError(
                f"{self._file} cannot be written ({error.strerror}); make it writable.",
                code="E_CFG_HOME",
            ) from error

    async def check(self) -> KeyVerdict:
        """Ask about the one that is there, and keep what was said.

        Raises:
            ConfigError: There is none.
        """
        now = await asyncio.to_thread(self.standing)
        if now.place == "none":
            raise ConfigError("There is no key to check; enter one first.", code="E_CFG_SECRET")
        verdict = await self._try(await asyncio.to_thread(self._value, now))
        if now.ref_id:
            await asyncio.to_thread(self.note, now.ref_id, verdict)
        return verdict

    def _value(self, now: KeyStanding) -> str:
        if now.place == "environment":
            return self._environ[PROVIDER_KEY].strip()
        return self._vault.values(frozenset({now.ref_id}))[now.ref_id][1]

    def _read_known(self) -> dict[str, Any]:
        try:
            found: object = json.loads(self._file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def tried_at_openrouter(client: WebClient) -> TryKey:
    """Asks OpenRouter about the key itself, which goes nowhere else and costs nothing.

    Whatever is no clear no is none: without a network a key can be entered as well, unchecked.
    """

    async def try_key(key: str) -> KeyVerdict:
        if not (key.isascii() and key.isprintable() and " " not in key):
            return KeyVerdict(_NO_WORD, checked=False)
        answer = await _ask_openrouter(client, key)
        if answer is not None and answer.status in _REFUSED:
            return KeyVerdict(_NO_KEY, checked=False)
        return KeyVerdict("", checked=answer is not None and answer.status == _OK)

    return try_key


def note_provider_key(folder: Path, *, stored: bool) -> None:
    """Keep with the choices of the first run whether the key is there: from the next start on the
    provider answers, or does not. Nothing happens where nothing was chosen.

    Args:
        folder: The data directory.
        stored: Whether the secret is in the vault now.

    Raises:
        ConfigError: The choices could not be kept.
    """
    chosen = read_first_run(folder)
    if chosen is not None and chosen.key is not stored:
        keep_first_run(folder, chosen.model_copy(update={"key": stored}))


async def _ask_openrouter(client: WebClient, key: str) -> HttpResponse | None:
    import h11  # noqa: PLC0415 - only a request needs it

    try:
        return await client.ask(
            address(_KEY_OF),
            whose=("first-run", "openrouter"),
            seconds=_SECONDS,
            most=_MOST,
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
        )
    except (TimeoutError, HttpRequestNotSent, OSError, h11.ProtocolError):
        return None
