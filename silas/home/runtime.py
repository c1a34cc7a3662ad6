"""What a Silas stands on: clock, key, sandbox and models; the real ones, or a test's."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from silas.agents.choice import PROVIDER_KEY
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.errors import ConfigError
from silas.home.passphrases import Passphrases, someone_can_type
from silas.home.sandbox_tools import tool_search
from silas.home.secret_store import open_secrets
from silas.home.signer_client import is_apart, remote_signer
from silas.home.web_tools import Web, real_web
from silas.keys import KeyRing, KeysConfig, Signer
from silas.keys.lazy import LazySigner
from silas.keys.oskeyring import system_keyring
from silas.keys.secrets import SecretVault
from silas.keys.vault import Vault
from silas.plans import PlanLibrary, shipped_plans
from silas.plans.requires import Equipment
from silas.sandbox import RefusingSandbox, Sandbox, SandboxUnavailable, default
from silas.stop import RunRegister, Sentinel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ModelChoice

MIGRATED = (
    "silas.audit",
    "silas.stop",
    "silas.approval",
    "silas.plans",
    "silas.tools",
    "silas.context",
    "silas.keys",
    "silas.memory",
    "silas.persona",
    "silas.autonomy",
    "silas.stream",
    "silas.channels.web",
)
"""The domains that keep tables, in the order in which they are brought up to date."""


@dataclass(frozen=True)
class Ground:
    """What everything stands on; tests replace it, nothing else is replaceable."""

    clock: Clock
    signer: Signer
    ring: KeyRing
    secrets: SecretVault
    sandbox: Sandbox
    make_model: "Callable[[ModelChoice], Model]"
    web: Web


def ground(config: SilasConfig) -> Ground:
    """The real thing: system clock, the owner's key, the strongest sandbox, real models."""
    passphrases = Passphrases()
    signer, ring = owner_keys(config, vault_asking(config, passphrases), unlock=True)
    secrets = open_secrets(config, passphrases, someone_can_type)  # tries what was typed before
    sandbox = sandbox_of(config)
    return Ground(
        clock=SystemClock(),
        signer=signer,
        ring=ring,
        secrets=secrets,
        sandbox=sandbox,
        make_model=lambda choice: model_of(config, choice, secret_named(secrets), sandbox),
        web=real_web(),
    )


def sandbox_of(config: SilasConfig) -> Sandbox:
    """The strongest sandbox of this machine; where there is none, one that refuses and says why."""
    from silas.sandbox.network.internet import Internet  # noqa: PLC0415 - `silas --help` needs no asyncio

    try:
        return default(
            config.sandbox,
            # a Unix socket can be reached through any mount that shows it
            forbidden=(config.data_dir, config.keys.socket),
            allowed=(config.data_dir / "scratch",),
            outside=Internet(),
            register=RunRegister(Sentinel(config.data_dir)),
        )
    except SandboxUnavailable as error:
        return RefusingSandbox(error)


SecretNamed = Callable[[str], str]
"""The value of a secret by its name; empty where there is none."""


def secret_named(secrets: SecretVault) -> SecretNamed:
    """What looks a secret up when it is needed."""

    def value(name: str) -> str:
        refs = [fact.ref_id for fact in secrets.facts() if fact.name == name]
        return secrets.values(frozenset(refs))[refs[0]][1] if refs else ""

    return value


def model_of(
    config: SilasConfig, choice: "ModelChoice", secret: SecretNamed, sandbox: Sandbox
) -> "Model":
    """The model a choice names; the built-in one follows the owner's and the shipped runbooks.

    Args:
        config: Where plans are.
        choice: The choice.
        secret: Where the provider's key is, if its variable is not set.
        sandbox: Where it is looked for what runbooks need.
    """
    from silas.agents.output_modes import ModeFile  # noqa: PLC0415 - beside the next
    from silas.agents.providers import make_model  # noqa: PLC0415 - PydanticAI
    from silas.agents.runbook import RunbookModel  # noqa: PLC0415 - PydanticAI

    library, environ = PlanLibrary([*config.plans_dirs, shipped_plans()]), dict(os.environ)
    zone = config.scheduler.zone

    def keyed(one: "ModelChoice") -> "ModelChoice":
        keyless = one.name.startswith("openrouter:") and not one.api_key_env
        if (
            not keyless
            or os.environ.get(PROVIDER_KEY, "").strip()
            or not (key := secret(PROVIDER_KEY))
        ):
            return one
        environ[PROVIDER_KEY] = key
        return one.model_copy(update={"api_key_env": PROVIDER_KEY})

    other = None if choice.fallback is None else keyed(choice.fallback)
    choice = keyed(choice).model_copy(update={"fallback": other})
    return make_model(
        choice,
        runbook=lambda: RunbookModel(library, equipment(config, sandbox).found, zone),
        environ=environ,
        modes=ModeFile(config.data_dir / "models" / "output-modes.json"),
    )


def equipment(config: SilasConfig, sandbox: Sandbox) -> Equipment:
    """What looks for what runbooks need, with the tools that their work will have."""
    return Equipment(sandbox, tool_search(config), config.data_dir / "scratch" / "masks")


def owner_keys(config: SilasConfig, vault: Vault, *, unlock: bool) -> tuple[Signer, KeyRing]:
    """The owner's key and its ring, which the caller releases when all is over.

    Args:
        config: Whether the key is apart.
        vault: Where it is.
        unlock: Now, where a person is there; otherwise when something is signed, if ever.

    Raises:
        ConfigError: Silas was not set up here, its directory cannot be used, or the key is locked.
    """
    if not key_exists(config, vault):
        raise not_initialised(config)
    ring = vault.ring(config.owner_id)
    if is_apart(config):
        return remote_signer(config, ring.current), ring
    if unlock:
        return vault.load(config.owner_id), ring
    return LazySigner(ring.current, lambda: vault.load(config.owner_id)), ring


def not_initialised(config: SilasConfig) -> ConfigError:
    """The sentence about a data directory without a key."""
    return ConfigError(
        f"Silas is not set up in {config.data_dir} yet; run `silas init`.",
        code="E_CFG_NOT_INITIALISED",
    )


def key_exists(config: SilasConfig, vault: Vault) -> bool:
    """Whether the owner has a key. Raises `ConfigError` where the directory cannot be read."""
    try:
        return vault.exists(config.owner_id)
    except OSError as error:
        raise unusable_home(config, error) from error


def unusable_home(config: SilasConfig, error: OSError) -> ConfigError:
    """The sentence about a data directory that the operating system refuses."""
    return ConfigError(
        f"Silas cannot use its directory {config.data_dir} ({error.strerror}); make it yours and "
        "writable, or set SILAS_HOME to another one.",
        code="E_CFG_HOME",
    )


def open_vault(config: SilasConfig) -> Vault:
    """Where the key is; see `vault_asking`."""
    return vault_asking(config, Passphrases())


def unlock_file(config: SilasConfig) -> Path:
    """The key file beside the key; where it is, it unlocks the key and nobody is asked."""
    return config.data_dir / "keys" / "unlock.key"


def vault_asking(config: SilasConfig, passphrases: Passphrases) -> Vault:
    """Where the key is. A new key made without a terminal is unlocked by a key file beside it,
    openly so; a key that a passphrase unlocks stays locked where nobody can type it.
    """
    directory = config.data_dir / "keys"
    beside = unlock_file(config)
    keys, typing, ask = config.keys, someone_can_type(), passphrases.ask
    if keys.key_file is None:
        vault = Vault(keys, directory, ask, system_keyring)
        if beside.exists() or not (typing or key_exists(config, vault)):
            keys = KeysConfig(backend=keys.backend, key_file=beside, create_key_file=True)
    return Vault(keys, directory, ask, system_keyring)


def secrets_of(config: SilasConfig) -> SecretVault:
    """Where the owner's secrets are; opened when the first one is needed."""
    return open_secrets(config, Passphrases(), someone_can_type)
