"""The provider's key: trying it the moment it is entered, and noting that it is there (1.5)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from silas.config.firstrun import keep_first_run, read_first_run
from silas.tools.web.client import HttpRequestNotSent, HttpResponse, WebClient, address

TryKey = Callable[[str], Awaitable[str]]
"""Why a key will not do, as a sentence; nothing where it does, or where nobody can be asked."""

_KEY_OF: Final = "https://openrouter.ai/api/v1/key"
_SECONDS: Final = 8.0
_MOST: Final = 4096  # bytes of the answer, of which only the status is looked at
_REFUSED: Final = frozenset({401, 403})

_NO_KEY: Final = "OpenRouter does not know this key; copy it again from openrouter.ai/keys."
_NO_WORD: Final = "A key is one word of plain letters, digits and dashes; copy it again."


def tried_at_openrouter(client: WebClient) -> TryKey:
    """Asks OpenRouter about the key itself, which goes nowhere else and costs nothing.

    Whatever is no clear no is none: without a network a key can be entered as well.
    """

    async def fault(key: str) -> str:
        if not (key.isascii() and key.isprintable() and " " not in key):
            return _NO_WORD
        answer = await _asked(client, key)
        return _NO_KEY if answer is not None and answer.status in _REFUSED else ""

    return fault


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


async def _asked(client: WebClient, key: str) -> HttpResponse | None:
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
