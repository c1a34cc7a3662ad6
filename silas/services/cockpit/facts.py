"""The settings that matter, in words; a secret is in none of them, because none is read here."""

from silas.agents.choice import RUNBOOK
from silas.channels.web.views import Fact, Facts, Settings
from silas.config import SilasConfig
from silas.language import tr, tr_later
from silas.language.titles import gate_title
from silas.tools import AutonomyLevel

_NO_MODEL = tr_later("built in: follows runbooks, is no language model")
_AUTONOMY = AutonomyLevel.A2  # what runs are given, as in `Parts`


def settings_in_force(config: SilasConfig, sandbox: str) -> Settings:
    """What the configuration comes to.

    Args:
        config: The one in force.
        sandbox: The name of the sandbox that was found.
    """
    return Settings(
        parts=(
            Facts(heading=tr("Who answers"), facts=_models(config)),
            Facts(heading=tr("What Silas may do"), facts=_limits(config, sandbox)),
            Facts(heading=tr("What others offer it"), facts=_others(config)),
            Facts(heading=tr("Keys and record"), facts=_keys(config)),
            Facts(heading=tr("Places"), facts=_places(config)),
        ),
        words=tr("What is not above is changed in the configuration file."),
    )


def answering_name(model: str) -> str:
    """A model's name as its owner reads it."""
    return tr("Silas's built-in answers") if model == RUNBOOK else model


def _models(config: SilasConfig) -> tuple[Fact, ...]:
    models = config.models
    roles = (
        (tr("talks with you"), models.proxy.name),
        (tr("makes plans"), models.planner.name),
        (tr("does approved work"), models.executor.name),
    )
    return tuple(
        Fact(name=role, value=answering_name(name), words=tr(_NO_MODEL) if name == RUNBOOK else "")
        for role, name in roles
    )


def _limits(config: SilasConfig, sandbox: str) -> tuple[Fact, ...]:
    given, limits = config.sandbox, config.limits
    return (
        Fact(name=tr("autonomy"), value=_AUTONOMY.name, words=tr("harmless calls run, others ask")),
        Fact(name="sandbox", value=sandbox, words=tr("where everything runs")),
        Fact(
            name=tr("memory and time"),
            value=tr(
                "{memory} MB, {seconds} s of processor",
                memory=given.default_memory_mb,
                seconds=given.default_cpu_seconds,
            ),
            words=tr("for one run"),
        ),
        Fact(
            name=tr("delegation"),
            value=str(limits.max_delegation_depth),
            words=tr("how often work may be handed on"),
        ),
        Fact(
            name=tr("gates"),
            value=", ".join(gate_title(gate.name) for gate in config.gates.system) or tr("none"),
            words=tr("rules that look at every turn and call"),
        ),
    )


def _others(config: SilasConfig) -> tuple[Fact, ...]:
    return (
        Fact(name=tr("toolsets"), value=", ".join(config.toolsets) or tr("none")),
        Fact(name=tr("MCP servers"), value=", ".join(config.mcpServers) or tr("none")),
        Fact(
            name=tr("web search"),
            value=str(config.search.provider) if config.search.enabled else tr("off"),
            words=tr("needs a provider and its key"),
        ),
    )


_KEY_STORES = {
    "auto": tr_later("the system's where there is one, else a file"),
    "keyring": tr_later("the operating system's"),
    "file": tr_later("an encrypted file"),
}


def _keys(config: SilasConfig) -> tuple[Fact, ...]:
    witnesses = [str(path) for path in config.audit.witness_paths]
    return (
        Fact(name=tr("key store"), value=tr(_KEY_STORES[config.keys.backend])),
        Fact(
            name=tr("checkpoints"),
            value=tr("every {count} minutes", count=config.audit.checkpoint_minutes),
            words=tr("the record is signed"),
        ),
        Fact(
            name=tr("witnesses"),
            value=", ".join(witnesses) or tr("none"),
            words=tr("who keeps a copy"),
        ),
    )


def _places(config: SilasConfig) -> tuple[Fact, ...]:
    return (
        Fact(name=tr("data"), value=str(config.data_dir)),
        Fact(
            name=tr("plans"),
            value=", ".join(map(str, config.plans_dirs)) or tr("the bundled ones"),
        ),
        Fact(name=tr("workers"), value=str(config.worker_files)),
    )
