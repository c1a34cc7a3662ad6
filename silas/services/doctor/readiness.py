"""What the configuration names, held against what `Silas.open` will use; nothing is connected to.

`silas config validate`, `silas doctor` and the cockpit's page say the same, because they ask here,
and each answer comes from the code that uses the part.
"""

import asyncio
from collections.abc import Iterator

from silas.agents.choice import RUNBOOK, ModelChoice
from silas.config import SilasConfig
from silas.errors import SilasError
from silas.home.findings import DoctorFinding
from silas.home.runtime import model_of, sandbox_of
from silas.home.secret_store import secrets_of
from silas.home.signer_client import is_apart, signer_uid
from silas.home.unsupported import refuse_unable, require_mcp
from silas.services.channels import channel_findings, examine_channels
from silas.services.doctor.places import place_findings
from silas.services.embedder import embedder_finding
from silas.services.gates import gate_findings
from silas.services.phone.state import phone_finding
from silas.services.tools.registry import toolset_findings
from silas.services.tools.toolsets import examine_toolsets
from silas.services.workers import worker_findings, worker_library

ROLES = ("proxy", "planner", "executor", "scorer")
MODEL_PART = "model {}"
EMBEDDER_PART = "memory search"

_RUNBOOK = "runbook built in: follows runbooks, is no language model"


def configuration_finding(config: SilasConfig) -> DoctorFinding:
    """Whether Silas starts with these settings."""
    try:
        refuse_unable(config)
        examine_toolsets(config)
        examine_channels(config)
        if config.mcpServers:
            require_mcp()
        if is_apart(config):
            signer_uid(config)
    except SilasError as error:
        return DoctorFinding("configuration", "failed", error.message)
    return DoctorFinding("configuration", "ok", "valid")


async def settings_findings(config: SilasConfig) -> list[DoctorFinding]:
    """Models, memory search, workers, channels, directories, addresses and gates, as configured."""
    findings = list(_model_findings(config))
    findings.append(DoctorFinding.of(*embedder_finding(config)))
    findings += [DoctorFinding.of(*row) for row in worker_findings(config)]
    findings += channel_findings(config)
    findings += await asyncio.to_thread(place_findings, config)
    return findings + await gate_findings(config)


async def validate(config: SilasConfig) -> list[DoctorFinding]:
    """`silas config validate`: everything that can be said without a network or a key."""
    toolsets = [DoctorFinding.of(*row) for row in await toolset_findings(config)]
    phone = await asyncio.to_thread(phone_finding, config)
    return [configuration_finding(config), *await settings_findings(config), phone, *toolsets]


def models_used(config: SilasConfig) -> dict[str, ModelChoice]:
    """Every model that may be asked, by its role; a worker's own one by the worker's name."""
    used: dict[str, ModelChoice] = {}
    for role in ROLES:
        choice: ModelChoice = getattr(config.models, role)
        used[role] = choice.model_copy(update={"fallback": None})
        if choice.fallback is not None:
            used[f"{role} fallback"] = choice.fallback
    for found in worker_library(config).all():
        if found.worker is not None and found.worker.model is not None:
            used[f"of {found.name}"] = found.worker.model
    return used


def _model_findings(config: SilasConfig) -> Iterator[DoctorFinding]:
    for role, choice in models_used(config).items():
        yield _model_finding(config, MODEL_PART.format(role), choice)


def _model_finding(config: SilasConfig, part: str, choice: ModelChoice) -> DoctorFinding:
    from silas.agents.providers.known_names import unlisted_model  # noqa: PLC0415 - PydanticAI

    try:
        known = {fact.name for fact in secrets_of(config).facts()}
        # nothing is opened
        model_of(config, choice, lambda name: "there" if name in known else "", sandbox_of(config))
    except SilasError as error:
        return DoctorFinding(part, "failed", error.message)
    if choice.name == RUNBOOK:
        return DoctorFinding(part, "ok", _RUNBOOK)
    if advice := unlisted_model(choice):
        return DoctorFinding(part, "advice", f"{advice}; `silas doctor --deep` asks it")
    return DoctorFinding(part, "ok", f"{choice.name} {choice.base_url}".strip())
