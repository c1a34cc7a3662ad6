"""The whole configuration: each domain's own section, and the rules between sections (spec 11)."""

import stat
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator

from silas.agents.choice import ModelsConfig
from silas.approval.models import ApprovalConfig, NonceConfig
from silas.audit.settings import AuditConfig
from silas.autonomy import AutonomyConfig, BehaviorPreferencesConfig, SuggestionsConfig
from silas.channels.models import ChannelsConfig
from silas.connections import BatchReviewConfig, ConnectionsConfig
from silas.context.models import ContextConfig
from silas.errors import ConfigError
from silas.gates.settings import GatesConfig
from silas.keys.models import KeysConfig
from silas.memory import MemoryConfig
from silas.persona import PersonalityConfig
from silas.sandbox.models import SandboxConfig
from silas.sandbox.network.names import EgressRefused, host_name
from silas.schedule import SchedulerConfig
from silas.skills import SkillsConfig
from silas.stream.modes import InteractionConfig
from silas.tools.mcp.settings import MCPEntry, MCPHandling, MCPServer, ServerName, entries
from silas.tools.plugins.names import BUILT_IN, check_allow, class_path_of
from silas.tools.plugins.spec import EXTENDS, read_spec
from silas.tools.policy import QuietHoursConfig
from silas.types import FrozenModel


class SearchConfig(FrozenModel):
    """The `search:` section; without provider and key there is no web search.

    Attributes:
        provider: Who searches.
        api_key: The provider's key; the secret `SEARCH_API_KEY` counts where it is not set.
        timeout_seconds: Elapsed time of one search.
        max_results: Results of one search.
        max_query_chars: Longest query.
        allowed_domains: Only these and what is below them; empty means all.
    """

    provider: Literal["brave", "tavily"] | None = "tavily"
    api_key: SecretStr | None = None
    timeout_seconds: float = Field(default=8, gt=0)
    max_results: int = Field(default=5, ge=1, le=20)
    max_query_chars: int = Field(default=300, ge=1)
    allowed_domains: tuple[str, ...] = ()

    @field_validator("allowed_domains")
    @classmethod
    def _plain_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(map(host_name, value))
        except EgressRefused as error:
            raise ValueError(error.message) from error

    @property
    def enabled(self) -> bool:
        """Whether a provider and its key are set here."""
        return bool(self.provider and self.api_key and self.api_key.get_secret_value().strip())


class RehydrationConfig(FrozenModel):
    """How much of a conversation comes back after a restart."""

    max_chronicle_entries: int = Field(default=50, ge=0)


class LimitsConfig(FrozenModel):
    """How much may happen in a minute, an hour, a week or a turn (spec 18.5)."""

    ws_messages_per_minute_per_scope: int = Field(default=60, ge=1)
    ws_messages_per_minute_per_ip: int = Field(default=240, ge=1)
    llm_calls_per_minute_per_scope: int = Field(default=30, ge=1)
    web_search_calls_per_minute_per_scope: int = Field(default=20, ge=0)
    memory_ops_per_minute_per_scope: int = Field(default=120, ge=0)
    max_memory_ops_per_turn: int = Field(default=10, ge=0)
    max_gate_evals_per_turn: int = Field(default=32, ge=1)
    max_delegation_depth: int = Field(default=3, ge=0)
    suggestions_per_hour_per_scope: int = Field(default=6, ge=0)
    autonomy_proposals_per_week_per_scope: int = Field(default=3, ge=0)


class BackpressureConfig(FrozenModel):
    """How many turns may wait, and how long a shutdown does (spec 18.2, 18.6)."""

    max_pending_turns_per_scope: int = Field(default=20, ge=1)
    max_pending_turns_total: int = Field(default=500, ge=1)
    shutdown_grace_seconds: float = Field(default=30, ge=0)


class SilasConfig(FrozenModel):
    """Everything there is to set. `load_config` makes it from file and environment.

    Relative paths are meant from `data_dir` and are absolute here.

    Attributes:
        data_dir: Where everything is kept.
        owner_id: The owner's name for connections and scopes.
        language: What cards, results and the cockpit are written in; null for the language of this
            machine's locale, where Silas speaks it.
        active_goal: The plan file of a goal to keep running; null for none.
        mcpServers: Programs and addresses that serve tools, as every MCP client has them.
        mcp: What Silas does with each of them.
        skills_dir: Where installed skills live; bundled ones ship in the package (decision A13).
        plans_dirs: Directories with plans of the owner's own, searched before the bundled ones.
        toolsets: Toolsets of others by class path, alias or entry point, each with its settings as
            they are written: `${NAME}` in them is filled in where a toolset is made.
        toolset_profiles: Named mappings like `toolsets`, for `extends`.
        toolset_allow: What may be loaded: class paths, packages with a dot at their end, names of
            entry points. Empty means nothing.
        workers_dir: Where the `.worker` files are; null for `workers` in `data_dir`. `load_config`
            sets it to `workers` beside the configuration file, where that directory is there.

    Raises:
        ConfigError: A rule between sections is broken.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    data_dir: Path
    owner_id: str = Field(default="owner", min_length=1)
    language: Literal["en", "de"] | None = None
    models: ModelsConfig = ModelsConfig()
    keys: KeysConfig = KeysConfig()
    search: SearchConfig = SearchConfig()
    context: ContextConfig = ContextConfig()
    rehydration: RehydrationConfig = RehydrationConfig()
    memory: MemoryConfig = MemoryConfig()
    personality: PersonalityConfig = PersonalityConfig()
    interaction: InteractionConfig = InteractionConfig()
    suggestions: SuggestionsConfig = SuggestionsConfig()
    behavior_preferences: BehaviorPreferencesConfig = BehaviorPreferencesConfig()
    channels: ChannelsConfig = ChannelsConfig()
    limits: LimitsConfig = LimitsConfig()
    backpressure: BackpressureConfig = BackpressureConfig()
    sandbox: SandboxConfig = SandboxConfig()
    audit: AuditConfig = AuditConfig()
    approval: ApprovalConfig = ApprovalConfig()
    nonce_store: NonceConfig = NonceConfig()
    connections: ConnectionsConfig = ConnectionsConfig()
    batch_review: BatchReviewConfig = BatchReviewConfig()
    autonomy: AutonomyConfig = AutonomyConfig()
    quiet_hours: QuietHoursConfig = QuietHoursConfig()
    gates: GatesConfig = GatesConfig()
    active_goal: Path | None = None
    scheduler: SchedulerConfig = SchedulerConfig()
    skills: SkillsConfig = SkillsConfig()
    mcpServers: dict[ServerName, MCPServer] = Field(  # noqa: N815 - the name every client has
        default_factory=dict[ServerName, MCPServer]
    )
    mcp: dict[ServerName, MCPHandling] = Field(default_factory=dict[ServerName, MCPHandling])
    skills_dir: Path = Path("skills")
    plans_dirs: tuple[Path, ...] = ()
    toolsets: dict[str, Any] = Field(default_factory=dict[str, Any])
    toolset_profiles: dict[str, Any] = Field(default_factory=dict[str, Any])
    toolset_allow: tuple[str, ...] = ()
    workers_dir: Path | None = None

    @field_validator("data_dir")
    @classmethod
    def _from_here(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @field_validator("active_goal", "skills_dir", "workers_dir")
    @classmethod
    def _from_data_dir(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        return None if value is None else _absolute(value, info)

    @field_validator("plans_dirs")
    @classmethod
    def _each_from_data_dir(cls, value: tuple[Path, ...], info: ValidationInfo) -> tuple[Path, ...]:
        return tuple(_absolute(path, info) for path in value)

    @field_validator("sandbox")
    @classmethod
    def _sandbox_paths(cls, value: SandboxConfig, info: ValidationInfo) -> SandboxConfig:
        names = ("verify_dir", "customer_context_dir")
        return value.model_copy(update={n: _absolute(getattr(value, n), info) for n in names})

    @field_validator("context")
    @classmethod
    def _archive_path(cls, value: ContextConfig, info: ValidationInfo) -> ContextConfig:
        return value.at(lambda path: _absolute(path, info))

    @field_validator("mcp")
    @classmethod
    def _mcp_paths(
        cls, value: dict[ServerName, MCPHandling], info: ValidationInfo
    ) -> dict[ServerName, MCPHandling]:
        base = info.data.get("data_dir", Path("/"))
        return {name: handling.at(base) for name, handling in value.items()}

    @field_validator("audit")
    @classmethod
    def _witness_paths(cls, value: AuditConfig, info: ValidationInfo) -> AuditConfig:
        return value.at(lambda path: _absolute(path, info))

    @field_validator("memory")
    @classmethod
    def _embedding_path(cls, value: MemoryConfig, info: ValidationInfo) -> MemoryConfig:
        if value.embedding_path is None:
            return value
        return value.model_copy(update={"embedding_path": _absolute(value.embedding_path, info)})

    @field_validator("keys")
    @classmethod
    def _key_paths(cls, value: KeysConfig, info: ValidationInfo) -> KeysConfig:
        value = value.model_copy(update={"socket": _absolute(value.socket, info)})
        if value.key_file is None:
            return value
        return value.model_copy(update={"key_file": _absolute(value.key_file, info)})

    @field_validator("channels")
    @classmethod
    def _certificate_paths(cls, value: ChannelsConfig, info: ValidationInfo) -> ChannelsConfig:
        tls = value.web.tls
        if tls is None:
            return value
        paths = {"certificate": tls.certificate, "key": tls.key}
        tls = tls.model_copy(update={n: _absolute(path, info) for n, path in paths.items()})
        return value.model_copy(update={"web": value.web.model_copy(update={"tls": tls})})

    @field_validator("toolset_allow")
    @classmethod
    def _means_one_thing(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        check_allow(value)
        return value

    @model_validator(mode="after")
    def _toolsets_are_readable(self) -> "SilasConfig":
        for one in read_spec(self.toolsets, self.toolset_profiles):
            class_path_of(one.name, self.toolset_allow, BUILT_IN, "toolsets")
        for profile in self.toolset_profiles:
            read_spec({EXTENDS: profile}, self.toolset_profiles, f"toolset_profiles.{profile}")
        return self

    @property
    def worker_files(self) -> Path:
        """The directory with the `.worker` files."""
        return self.data_dir / "workers" if self.workers_dir is None else self.workers_dir

    @property
    def mcp_entries(self) -> tuple[MCPEntry, ...]:
        """Every MCP server with what is said about it."""
        return entries(self.mcpServers, self.mcp)

    @model_validator(mode="after")
    def _sections_agree(self) -> "SilasConfig":
        for code, holds, sentence in _rules(self):
            if not holds:
                raise ConfigError(sentence, code=code)
        return self


def _absolute(path: Path, info: ValidationInfo) -> Path:
    # where data_dir itself is invalid, its own error is the one that is reported
    base = info.data.get("data_dir", Path("/"))
    return base / path.expanduser()


def _rules(config: SilasConfig) -> tuple[tuple[str, bool, str], ...]:
    """The start-up rules of spec 11 that look at more than one section: code, holds, sentence."""
    verify = config.sandbox.verify_dir.resolve()
    customer = config.sandbox.customer_context_dir.resolve()
    data = config.data_dir.resolve()
    return (
        (
            "E_CFG_SANDBOX_DIRS",
            verify != customer,
            f"sandbox.verify_dir and sandbox.customer_context_dir are both {verify}; "
            "give them different directories.",
        ),
        (
            "E_CFG_CUSTOMER_DIR",
            customer != data and customer.is_relative_to(data),
            f"sandbox.customer_context_dir is {customer}, which is not inside data_dir {data}.",
        ),
        (
            "E_CFG_CUSTOMER_DIR",
            not _world_writable(customer),
            f"Everyone may write to sandbox.customer_context_dir; run `chmod 700 {customer}`.",
        ),
        (
            "E_CFG_WITNESS",
            not any(p.resolve().is_relative_to(data) for p in config.audit.witness_paths),
            f"A witness of the audit log must not be inside data_dir {data}, where it would fall "
            "with the log; give audit.witness another place.",
        ),
        (
            "E_CFG_BATCH_SIZE",
            config.autonomy.max_batch_review_size >= config.batch_review.default_size,
            f"autonomy.max_batch_review_size is {config.autonomy.max_batch_review_size}, less than "
            f"batch_review.default_size, which is {config.batch_review.default_size}.",
        ),
        (
            "E_CFG_MCP",
            config.mcp.keys() <= config.mcpServers.keys(),
            "mcp names a server that is not in mcpServers; its name must be the same in both.",
        ),
        (
            "E_CFG_MCP",
            not any(
                e.server.url and (h := e.handling) and (h.network or h.read or h.write)
                for e in config.mcp_entries
            ),
            "mcp gives network, read or write to a server with a url; they are for a command, "
            "which runs in the sandbox.",
        ),
        (
            "E_CFG_SUGGESTIONS",
            config.scheduler.enabled or not config.suggestions.enabled,
            "suggestions.enabled needs scheduler.enabled; turn both on or suggestions off.",
        ),
    )


def _world_writable(directory: Path) -> bool:
    return directory.exists() and bool(directory.stat().st_mode & stat.S_IWOTH)
