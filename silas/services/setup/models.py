"""`silas setup`: what can answer on this machine, one try, and the `models:` section (spec 1.5)."""

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from silas.agents.choice import RUNBOOK, ModelChoice, OutputSetting
from silas.agents.providers.factory import server_of
from silas.agents.providers.hosted import HostedProvider, hosted_by, keys_present, missing_package
from silas.agents.providers.known_names import provider_fault
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.config.edit import ModelsEdit, plan_models
from silas.errors import ConfigError
from silas.home.data_directory import unusable_home
from silas.home.key_vault import key_exists, open_vault, unlock_file
from silas.home.signer_client import is_apart
from silas.keys.files import make_key_file
from silas.services.doctor.reachability import TriedModel, proxy_for, try_choice
from silas.services.doctor.readiness import ROLES
from silas.services.setup.model_servers import (
    USUAL,
    ModelServer,
    find_servers,
    is_model_name,
    named_ports,
)

NO_MODEL = ModelChoice(name=RUNBOOK)
"""What is chosen where nothing else is: the built-in runbook."""

_CODE = "E_CFG_MODEL"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*\Z")
_SHOWN = "your messages, file contents and outputs that the model is shown"


class ModelOffer(NamedTuple):
    """One model that can be chosen, and in a clause where it is and who sees what it is shown."""

    choice: ModelChoice
    words: str

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        named = self.choice.model_dump(include={"name", "base_url", "api_key_env"})
        return {**{key: value for key, value in named.items() if value}, "words": self.words}


class ModelsFound(NamedTuple):
    """What was found: servers on the loopback, names of variables that hold a key, and offers."""

    servers: tuple[ModelServer, ...]
    keys: tuple[HostedProvider, ...]
    offers: tuple[ModelOffer, ...]

    @property
    def notes(self) -> list[str]:
        """What listens and offers nothing."""
        return [f"{one.base_url} {one.fault}." for one in self.servers if one.fault]

    def document(self) -> dict[str, Any]:
        """As `--json` prints it; of a key there is only its variable's name."""
        return {
            "offers": [one.document() for one in self.offers],
            "keys": [one.variable for one in self.keys],
            "notes": self.notes,
        }


async def find_models(ports: Sequence[int], environ: Mapping[str, str]) -> ModelsFound:
    """Ask the loopback ports (the usual ones where none is named) and look for keys' names."""
    servers = await find_servers(named_ports(ports) if ports else USUAL)
    keys = keys_present(environ)
    return ModelsFound(servers, keys, (*offers_of(servers), *map(_hosted_offer, keys)))


def offers_of(servers: Sequence[ModelServer]) -> list[ModelOffer]:
    """Every model that servers on the loopback have."""
    return [_local_offer(server, model) for server in servers for model in server.models]


def _local_offer(server: ModelServer, model: Any) -> ModelOffer:
    choice = ModelChoice(name=model.name, base_url=server.base_url)
    words = f"{server.label} at {server.base_url}"
    return ModelOffer(choice, f"{words}, which passes it on" if model.elsewhere else words)


def _hosted_offer(key: HostedProvider) -> ModelOffer:
    words = f"{key.company} over the internet, key in {key.variable}"
    if line := missing_package(key.model):
        words += f"; first: {line}"
    return ModelOffer(ModelChoice(name=key.model, api_key_env=key.variable), words)


def named_choice(
    found: ModelsFound,
    name: str,
    *,
    base_url: str = "",
    api_key_env: str = "",
    output: OutputSetting = "auto",
    environ: Mapping[str, str],
) -> ModelChoice:
    """The model that the owner names; a server's own name without an address is looked up.

    Raises:
        ConfigError: Nobody serves it, several do, or the address or variable cannot be used.
    """
    _refuse_unfit(name, base_url, api_key_env, environ)
    choice = ModelChoice.model_validate(
        {"name": name, "base_url": base_url, "api_key_env": api_key_env, "output": output}
    )
    if name == RUNBOOK or name.startswith("python:") or base_url:
        return choice
    offers = [one.choice for one in found.offers if one.choice.name == name]
    if provider_fault(choice) and not offers:
        raise ConfigError(
            f"No server here has the model {name!r}: {provider_fault(choice)}.", code=_CODE
        )
    if len(offers) > 1:
        where = ", ".join(one.base_url for one in offers)
        raise ConfigError(
            f"Several servers have the model {name!r}; name one with --base-url: {where}.",
            code=_CODE,
        )
    if offers:
        wanted = {"output": output, "api_key_env": api_key_env or offers[0].api_key_env}
        return offers[0].model_copy(update=wanted)
    keys = [one.variable for one in found.keys if name.startswith(f"{one.prefix}:")]
    return choice.model_copy(update={"api_key_env": api_key_env or next(iter(keys), "")})


def _refuse_unfit(name: str, base_url: str, variable: str, environ: Mapping[str, str]) -> None:
    if not is_model_name(name):
        raise ConfigError("The model's name must be one short line of plain text.", code=_CODE)
    if variable and not (_VARIABLE.match(variable) and environ.get(variable, "").strip()):
        # what was typed is not repeated: it may be the key itself
        raise ConfigError(
            "--api-key-env takes the name of a variable that is set, in capitals, such as "
            "OPENAI_API_KEY; export it first.",
            code=_CODE,
        )
    unfit = not base_url.startswith(("http://", "https://")) or "${" in base_url
    if base_url and (unfit or not base_url.isprintable() or "@" in urlsplit(base_url).netloc):
        raise ConfigError(
            "--base-url takes an address such as http://127.0.0.1:8080/v1, without a user or "
            "password in it.",
            code=_CODE,
        )
    if base_url and (name == RUNBOOK or name.startswith("python:")):
        raise ConfigError(f"The model {name!r} takes no --base-url.", code=_CODE)


def leaves(choice: ModelChoice, found: ModelsFound, address: str) -> str:
    """Who gets what the model is shown, in one sentence; what is not known to be here is outside.

    Args:
        choice: The model.
        found: What its server said of it.
        address: Where it was asked.
    """
    if choice.name == RUNBOOK:
        return "Nothing leaves this machine."
    server = server_of(choice)
    if server and is_loopback(server):
        passed_on = {model.name for one in found.servers for model in one.models if model.elsewhere}
        if choice.name in passed_on:
            return f"{_SHOWN.capitalize()} go through {server} to another machine."
        if (proxy := proxy_for(urlsplit(server))) is not None:
            return (
                f"{_SHOWN.capitalize()} go to the proxy {proxy.hostname}, because the environment "
                "names it for this address too; set NO_PROXY=127.0.0.1,localhost to keep them here."
            )
        return f"Nothing leaves this machine, unless the server at {server} itself passes it on."
    key = f"; the key stays in {choice.api_key_env}" if choice.api_key_env else ""
    provider = hosted_by(choice)
    company = f"{provider.company}, " if provider else ""
    whom = f"{company}{address or server or choice.name}"
    return f"{_SHOWN.capitalize()} go to {whom}{key}."


def is_loopback(url: str) -> bool:
    """Whether an address is this machine's own: by its number, or `localhost`."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def try_once(config: SilasConfig, choice: ModelChoice) -> TriedModel:
    """One tiny request, as `silas doctor --deep` makes; the runbook needs none.

    Raises:
        ConfigError: It does not answer, with the reason.
    """
    if choice.name == RUNBOOK:
        return TriedModel(ok=True, words="The runbook is built in.", address="")
    tried = await try_choice(config, choice, SystemClock())
    if not tried.ok:
        raise ConfigError(f"Nothing was written: {tried.words.rstrip('.')}.", code=_CODE)
    return tried


def plan_setup(file: Path, choice: ModelChoice) -> ModelsEdit:
    """The file with one model for every role. Raises `ConfigError` as `plan_models`."""
    return plan_models(file, dict.fromkeys(ROLES, choice))


def chooses_unlock(config: SilasConfig) -> bool:
    """Whether the key that is still to be made can be unlocked by a passphrase or by a file."""
    return needs_key(config) and not is_apart(config) and open_vault(config).asks_for_passphrase


def take_key_file(config: SilasConfig) -> None:
    """Make the file that unlocks the key which is made next, so that no passphrase is asked."""
    path = unlock_file(config)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        make_key_file(path)
    except OSError as error:
        raise unusable_home(config, error) from error


def needs_key(config: SilasConfig) -> bool:
    """Whether this home has no owner's key yet."""
    return not key_exists(config, open_vault(config))
