"""Which language models servers on this machine's loopback have (`silas setup`)."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

import httpx

SECONDS: Final = 2.0
"""How long one server may take to say which models it has."""

_MOST_BYTES: Final = 1 << 20
_MOST_MODELS: Final = 40
_LONGEST_NAME: Final = 200  # characters
_OK: Final = 200
_REFUSES: Final = frozenset({401, 403})
_OPENAI, _OLLAMA = "/v1/models", "/api/tags"


class UsualServer(NamedTuple):
    """A program that serves models, and the port where it listens unless told otherwise."""

    label: str
    port: int
    paths: tuple[str, ...] = (_OPENAI,)


USUAL: Final = (
    UsualServer("Ollama", 11434, (_OLLAMA,)),
    UsualServer("llama.cpp", 8080),
    UsualServer("llama.cpp", 8081),
    UsualServer("llama.cpp", 8099),
    UsualServer("LM Studio", 1234),
    UsualServer("vLLM", 8000),
)


class ServedModel(NamedTuple):
    """A model as its server names it.

    Attributes:
        name: As it is written in the configuration.
        elsewhere: Whether the server says that it passes requests on to another machine.
    """

    name: str
    elsewhere: bool


class ModelServer(NamedTuple):
    """What listens on a port: models, or why none are known; both empty where nothing listens."""

    label: str
    base_url: str
    models: tuple[ServedModel, ...]
    fault: str


def named_ports(ports: Iterable[int]) -> tuple[UsualServer, ...]:
    """Ports that the owner names: whichever program listens there."""
    return tuple(UsualServer("server", port, (_OPENAI, _OLLAMA)) for port in ports)


async def find_servers(
    places: Sequence[UsualServer], seconds: float = SECONDS
) -> tuple[ModelServer, ...]:
    """Ask each port of 127.0.0.1 which models it has, all at once; a silent one is left out.

    No proxy, no redirect and no key: nothing leaves the machine by this.

    Args:
        places: The ports.
        seconds: For all requests to one port.
    """
    # variables of the environment would send this through a proxy
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False) as client:
        found = await asyncio.gather(*(_ask(client, one, seconds) for one in places))
    return tuple(one for one in found if one.models or one.fault)


class _KeyWanted(Exception):
    """The server says nothing to who has no key."""


async def _ask(client: httpx.AsyncClient, place: UsualServer, seconds: float) -> ModelServer:
    address = f"http://127.0.0.1:{place.port}"
    empty = ModelServer(place.label, f"{address}/v1", (), "")
    try:
        async with asyncio.timeout(seconds):
            for path in place.paths:
                if names := _names(await _body(client, f"{address}{path}"), path):
                    return empty._replace(models=names)
    except _KeyWanted:
        return empty._replace(
            fault="wants a key: say which with `silas setup --model NAME --base-url "
            f"{address}/v1 --api-key-env VARIABLE`"
        )
    except (TimeoutError, httpx.TimeoutException):
        return empty._replace(fault=f"did not say within {seconds:g} seconds which models it has")
    except httpx.ConnectError:
        return empty
    except (httpx.HTTPError, OSError):
        return empty._replace(fault="broke the connection off")
    return empty._replace(fault="names no language model")


async def _body(client: httpx.AsyncClient, url: str) -> bytes:
    content = bytearray()
    async with client.stream("GET", url, timeout=None) as answer:  # bounded by who calls
        if answer.status_code in _REFUSES:
            raise _KeyWanted
        if answer.status_code != _OK:
            return b""
        async for piece in answer.aiter_bytes():
            content += piece
            if len(content) > _MOST_BYTES:
                return b""
    return bytes(content)


def _names(body: bytes, path: str) -> tuple[ServedModel, ...]:
    """The models of an answer; whatever does not have the published form is none."""
    try:
        said: object = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    listed, name_key = ("data", "id") if path == _OPENAI else ("models", "name")
    rows = cast(dict[str, Any], said).get(listed) if isinstance(said, dict) else None
    if not isinstance(rows, list):
        return ()
    prefix = "ollama:" if path == _OLLAMA else ""
    named = (
        (
            cast(dict[str, Any], row).get(name_key),
            bool(cast(dict[str, Any], row).get("remote_host")),
        )
        for row in cast(list[object], rows)
        if isinstance(row, dict)
    )
    usable = [
        ServedModel(f"{prefix}{name}", elsewhere or name.endswith("cloud"))
        for name, elsewhere in named
        if isinstance(name, str) and is_model_name(name) and "embed" not in name.lower()
    ]
    return tuple(dict.fromkeys(usable))[:_MOST_MODELS]


def is_model_name(text: str) -> bool:
    """Whether a name can be shown and written: one short line without a variable in it."""
    return (
        bool(text.strip())
        and len(text) <= _LONGEST_NAME
        and text.isprintable()
        and "${" not in text
    )
