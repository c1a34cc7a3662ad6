"""Whether the servers that the configuration names are there, and whether models answer."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from socket import gaierror
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from silas.agents.choice import RUNBOOK, ModelChoice
from silas.clock import Clock
from silas.config import SilasConfig
from silas.errors import SilasError
from silas.home.findings import DoctorFinding
from silas.home.runtime import model_of, sandbox_of
from silas.home.secret_store import secret_named, secrets_of
from silas.language import tr
from silas.services.doctor.readiness import EMBEDDER_PART, MODEL_PART, models_used

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_CONNECT_SECONDS = 3.0
_LONGEST_ANSWER_SECONDS = 30.0  # a model that is being loaded from a disk takes so long
_PORTS = {"http": 80, "https": 443}


async def check_reachability(
    config: SilasConfig, findings: Sequence[DoctorFinding]
) -> list[DoctorFinding]:
    """The findings about models and memory search, with what became of a connection to each server.

    Connects to servers that the configuration names itself, and sends them nothing. A server of
    its provider's own (`openrouter:...`) is asked by `answered` alone.
    """
    named = {part: url for part, url in _servers(config) if url}
    asked = {one.part for one in findings if one.ok} & named.keys()
    urls = sorted({named[part] for part in asked})
    faults = dict(zip(urls, await asyncio.gather(*map(why_unreachable, urls)), strict=True))
    return [
        one._replace(state="failed", words=f"{one.words}: {fault}")
        if one.part in asked and (fault := faults[named[one.part]])
        else one
        for one in findings
    ]


async def check_models(
    config: SilasConfig, findings: Iterable[DoctorFinding], clock: Clock
) -> list[DoctorFinding]:
    """`silas doctor --deep`: one tiny request to each distinct model that nothing else fails."""
    failed = {one.part for one in findings if not one.ok}
    roles: dict[ModelChoice, list[str]] = {}
    for role, choice in models_used(config).items():
        if choice.name != RUNBOOK and MODEL_PART.format(role) not in failed:
            roles.setdefault(choice, []).append(role)
    return [await _ask_model(config, choice, names, clock) for choice, names in roles.items()]


async def _ask_model(
    config: SilasConfig, choice: ModelChoice, roles: list[str], clock: Clock
) -> DoctorFinding:
    tried = await try_choice(config, choice, clock)
    return DoctorFinding.of(f"answer {', '.join(roles)}", tried.ok, tried.words)


class TriedModel(NamedTuple):
    """How one tiny request to a model went, and at which address it was; empty where unknown."""

    ok: bool
    words: str
    address: str


async def try_choice(config: SilasConfig, choice: ModelChoice, clock: Clock) -> TriedModel:
    """Make the model that a choice names and ask it for one word."""
    secret, sandbox = secret_named(secrets_of(config)), sandbox_of(config)
    return await try_made(lambda one: model_of(config, one, secret, sandbox), choice, clock)


async def try_made(
    make: "Callable[[ModelChoice], Model]", choice: ModelChoice, clock: Clock
) -> TriedModel:
    """The same with what makes models."""
    from silas.agents.providers.model_probe import address_of, try_model  # noqa: PLC0415 - PydanticAI

    try:
        model = make(choice)
    except SilasError as error:
        return TriedModel(ok=False, words=error.message, address="")
    limit = min(choice.timeout_seconds, _LONGEST_ANSWER_SECONDS)
    async with model:
        trial = await try_model(model, clock, limit)
    place = address_of(model)
    who = f"{choice.name} at {place}" if place else choice.name
    words = f"{who}: {trial.fault}" if trial.fault else f"{who} answered in {trial.seconds:.1f} s"
    return TriedModel(not trial.fault, words, place)


def unasked_servers(config: SilasConfig) -> str:
    """What `silas config validate` did not look at, in one clause; empty where that is nothing."""
    urls = sorted({url for _, url in _servers(config) if url})
    named = tr(" and ").join(urls)
    return tr("whether {urls} answers, `silas doctor` says", urls=named) if urls else ""


def _servers(config: SilasConfig) -> Iterable[tuple[str, str]]:
    """Each part with the server that it is asked at; empty where it has none of its own."""
    from silas.agents.providers.factory import server_of  # noqa: PLC0415 - PydanticAI

    for role, choice in models_used(config).items():
        yield MODEL_PART.format(role), server_of(choice)
    memory = config.memory
    yield EMBEDDER_PART, memory.embedding_base_url if memory.embedder == "endpoint" else ""


class _Place(NamedTuple):
    host: str
    port: int


async def why_unreachable(url: str, setting: str = "`base_url`") -> str:
    """Why no connection to a server is possible, in one clause; empty where it is."""
    parts = urlsplit(url)
    place = _place(proxy_for(parts) or parts)
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(place.host, place.port)
    except TimeoutError:
        return f"{place.host}:{place.port} takes no connection within {_CONNECT_SECONDS:g} seconds"
    except gaierror:
        return f"there is no host named {place.host}; correct {setting}"
    except (OSError, OverflowError) as error:
        why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "no port"
        return (
            f"nothing answers at {place.host}:{place.port} ({why}); start the server, or correct "
            f"{setting}"
        )
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return ""


def _place(parts: SplitResult) -> _Place:
    return _Place(parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443))


def proxy_for(parts: SplitResult) -> SplitResult | None:
    """The proxy through which model clients reach a server, as the environment names it."""
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")
