"""What a Silas stands on: clock, key, sandbox and models; the real ones, or a test's."""

import getpass
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.keys import KeysConfig, Signer
from silas.keys.oskeyring import system_keyring
from silas.keys.vault import Vault, refuse_to_prompt
from silas.plans import PlanLibrary, shipped_plans
from silas.sandbox import RefusingSandbox, Sandbox, SandboxUnavailable, default

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ModelChoice

MIGRATED = ("silas.audit", "silas.approval", "silas.plans", "silas.tools")
"""The domains that keep tables, in the order in which they are brought up to date."""


@dataclass(frozen=True)
class Ground:
    """What everything stands on; tests replace it, nothing else is replaceable."""

    clock: Clock
    signer: Signer
    sandbox: Sandbox
    make_model: "Callable[[ModelChoice], Model]"


def ground(config: SilasConfig) -> Ground:
    """The real thing: system clock, the owner's key, the strongest sandbox, real models."""
    return Ground(
        clock=SystemClock(),
        signer=open_vault(config).load(config.owner_id),
        sandbox=_sandbox(config),
        make_model=lambda choice: model_of(config, choice),
    )


def _sandbox(config: SilasConfig) -> Sandbox:
    try:
        return default(
            config.sandbox, forbidden=(config.data_dir,), allowed=(config.data_dir / "scratch",)
        )
    except SandboxUnavailable as error:
        return RefusingSandbox(error)


def model_of(config: SilasConfig, choice: "ModelChoice") -> "Model":
    """The model a choice names; the built-in one follows the owner's and the shipped runbooks."""
    from silas.agents.providers import make_model  # noqa: PLC0415 - PydanticAI
    from silas.agents.runbook import RunbookModel  # noqa: PLC0415 - PydanticAI

    library = PlanLibrary([*config.plans_dirs, shipped_plans()])
    return make_model(choice, runbook=lambda: RunbookModel(library))


def open_vault(config: SilasConfig) -> Vault:
    """Where the key is. Without a terminal a key file beside it unlocks it, openly so."""
    directory = config.data_dir / "keys"
    default_file = directory / "unlock.key"
    keys = config.keys
    if keys.key_file is None and (default_file.exists() or not sys.stdin.isatty()):
        keys = KeysConfig(backend=keys.backend, key_file=default_file, create_key_file=True)
    prompt = getpass.getpass if sys.stdin.isatty() else refuse_to_prompt
    return Vault(keys, directory, prompt, system_keyring)
