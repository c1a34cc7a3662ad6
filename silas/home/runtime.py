"""The runtime of a Silas: clock, key, sandbox and models; the real ones, or a test's."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from silas.agents.choice import PROVIDER_KEY
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.home.key_vault import owner_keys, vault_asking
from silas.home.passphrases import Passphrases, someone_can_type
from silas.home.sandbox_tools import tool_search
from silas.home.secret_store import SecretNamed, open_secrets, secret_named
from silas.home.web_tools import Web, real_web
from silas.keys import KeyRing, Signer
from silas.keys.secrets import SecretVault
from silas.plans import PlanLibrary
from silas.plans.runbooks.requirements import Equipment
from silas.sandbox import RefusingSandbox, Sandbox, SandboxUnavailable, default
from silas.stop import RunRegister, Sentinel

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ModelChoice


@dataclass(frozen=True)
class Runtime:
    """What everything stands on; tests replace it, nothing else is replaceable."""

    clock: Clock
    signer: Signer
    ring: KeyRing
    secrets: SecretVault
    sandbox: Sandbox
    make_model: "Callable[[ModelChoice], Model]"
    web: Web


def real_runtime(config: SilasConfig) -> Runtime:
    """The real thing: system clock, the owner's key, the strongest sandbox, real models."""
    passphrases = Passphrases()
    signer, ring = owner_keys(config, vault_asking(config, passphrases), unlock=True)
    secrets = open_secrets(config, passphrases, someone_can_type)  # tries what was typed before
    sandbox = sandbox_of(config)
    return Runtime(
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
            forbidden=(config.data_dir, *config.keys.places),
            allowed=(config.data_dir / "scratch", config.data_dir / "attachments"),
            outside=Internet(),
            register=RunRegister(Sentinel(config.data_dir, config.scheduler.zone)),
        )
    except SandboxUnavailable as error:
        return RefusingSandbox(error)


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
    from silas.agents.providers.factory import make_model  # noqa: PLC0415 - PydanticAI
    from silas.agents.providers.output_modes import ModeFile  # noqa: PLC0415 - beside the next
    from silas.agents.runbook.model import RunbookModel  # noqa: PLC0415 - PydanticAI

    environ = dict(os.environ)

    def runbook() -> "Model":  # where no role is the built-in model, no runbook is read
        library = PlanLibrary.of_owner(config.plans_dirs)
        find, zone = equipment(config, sandbox).find_tools, config.scheduler.zone
        return RunbookModel(library, find, zone, config.autonomy.standing_caps)

    def add_key(one: "ModelChoice") -> "ModelChoice":
        keyless = one.name.startswith("openrouter:") and not one.api_key_env
        if (
            not keyless
            or os.environ.get(PROVIDER_KEY, "").strip()
            or not (key := secret(PROVIDER_KEY))
        ):
            return one
        environ[PROVIDER_KEY] = key
        return one.model_copy(update={"api_key_env": PROVIDER_KEY})

    other = None if choice.fallback is None else add_key(choice.fallback)
    choice = add_key(choice).model_copy(update={"fallback": other})
    return make_model(
        choice,
        runbook=runbook,
        environ=environ,
        modes=ModeFile(config.data_dir / "models" / "output-modes.json"),
    )


def equipment(config: SilasConfig, sandbox: Sandbox) -> Equipment:
    """What looks for what runbooks need, with the tools that their work will have."""
    return Equipment(sandbox, tool_search(config), config.data_dir / "scratch" / "masks")
