"""A whole Silas in a temporary home, wired as the real one, with a clock that waits to be told."""

import ssl
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from silas.agents.choice import ModelsConfig
from silas.cards import Channel
from silas.config import SilasConfig, load_config
from silas.config.place import ConfigPlace
from silas.config.servers_file import ReadServers, ServersFile, never_again
from silas.home.runtime import Runtime, equipment
from silas.home.web_tools import Web
from silas.keys import KeyRing, Signer
from silas.keys.secrets import SecretVault
from silas.plans import PlanLibrary
from silas.sandbox import Sandbox, default
from silas.sandbox.network.outside import NO_OUTSIDE
from silas.stop import RunRegister, Sentinel
from silas.stream.session import Session
from silas.testing.approval import a_signer
from silas.testing.channels import ScriptedChannel
from silas.testing.clock import MockClock
from silas.testing.ports import Ports
from silas.wiring.build import Beside, Silas, alone
from silas.wiring.parts import Parts

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ModelChoice

NO_WEB = Web(NO_OUTSIDE, ssl.create_default_context)
"""A web without any server."""


def _sandbox(config: SilasConfig) -> Sandbox:
    """The real one, which an emergency stop reaches; tests may mount what they like."""
    return default(config.sandbox, forbidden=(), register=RunRegister(Sentinel(config.data_dir)))


def _secrets(config: SilasConfig) -> SecretVault:
    """Real ones in encrypted files, unlocked by what nobody has to type."""
    place = config.data_dir / "keys" / "secrets"
    return SecretVault("file", place, lambda _: b"nobody has to type this", lambda: None)


class Harness:
    """`async with Harness() as h`: a wired Silas; its ports are attributes.

    Args:
        channel: Who answers; by default a `ScriptedChannel` that declines everything.
        models: A model per role name; the built-in runbook model for the others. A worker's file
            names one that is here under another name as `python:harness:NAME`.
        settings: Overrides of the configuration, section by section.
        sandbox: The real one of this machine by default.
        home: Where its data lives; a temporary directory by default. Give one to restart in it.
        clock: A clock to share with another harness; its own by default.
        web: The web that tools reach; none by default.
        ports: What takes the place of ports of a turn, and what they are; all as wired by default.
        resume: Whether interrupted work is picked up.
        beside: What is open as long as Silas is.
    """

    silas: Silas

    def __init__(
        self,
        channel: Channel | None = None,
        *,
        models: "Mapping[str, Model] | None" = None,
        settings: Mapping[str, Any] | None = None,
        sandbox: Sandbox | None = None,
        home: Path | None = None,
        clock: MockClock | None = None,
        web: Web = NO_WEB,
        ports: Ports | None = None,
        resume: bool = True,
        beside: Beside = alone,
    ) -> None:
        self._beside = beside
        self._stack = AsyncExitStack()
        self.clock = clock or MockClock()
        self.channel = channel if channel is not None else ScriptedChannel()
        self._models = dict(models or {})
        self._settings = dict(settings or {})
        self._sandbox = sandbox
        self._given_home = home
        self.ports = Ports() if ports is None else ports
        self._web = web
        self._resume = resume
        self.signer: Signer = a_signer()

    async def __aenter__(self) -> Self:
        self.home = self._given_home or Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(prefix="silas-"))
        )
        self.config = self._config()
        self.secrets = _secrets(self.config)
        self.silas = await self._stack.enter_async_context(
            Silas.open(
                self.config,
                channel=self.channel,
                resume=self._resume,
                runtime=self._runtime,
                exchange=self.ports,
                beside=self._note_wiring,
                read_servers=self._read_servers(),
            )
        )
        try:
            self.ports.require_used()
        except LookupError:
            await self._stack.aclose()
            raise
        self.approval, self.audit = self.silas.approval, self.silas.audit
        self.store = self.silas.store
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._stack.aclose()

    @asynccontextmanager
    async def _note_wiring(self, parts: Parts, session: Session) -> "AsyncGenerator[None]":
        """Note what is wired, as long as what stands beside it does."""
        self.gates, self.tools, self.db = parts.gates, parts.door, parts.db
        self.context, self.memory = (
            parts.context_services.context,
            parts.context_services.remembered.store,
        )
        async with self._beside(parts, session):
            yield

    def _runtime(self, config: SilasConfig) -> Runtime:
        return Runtime(
            clock=self.clock,
            signer=self.signer,
            ring=KeyRing.alone(self.signer.public_key),
            secrets=self.secrets,
            sandbox=self._sandbox or _sandbox(config),
            make_model=self._role_models(config),
            web=self._web,
        )

    def _config(self) -> SilasConfig:
        path = self.home / "config.yaml"
        if not path.exists():
            # the tools and the zone of the machine that a test runs on are none of its business
            # its clock stands still, so that a minute never ends
            fixed = (
                "sandbox: { tools: { discover: false } }, scheduler: { timezone: Europe/Vienna }, "
                "limits: { llm_calls_per_minute_per_scope: 100000, "
                "memory_ops_per_minute_per_scope: 100000 }"
            )
            path.write_text(f"silas: {{ {fixed} }}\n", encoding="utf-8")
        loaded = load_config(path, environ={"SILAS_HOME": str(self.home)})
        roles = ModelsConfig.model_fields
        names = {role: f"python:harness:{role}" for role in self._models if role in roles}
        changed = {"models": names, **self._settings} if names else self._settings
        if not changed:
            return loaded
        merged: dict[str, Any] = loaded.model_dump(mode="json")
        for section, values in changed.items():
            known = merged.get(section)
            merged[section] = {**known, **values} if isinstance(known, dict) else values
        return SilasConfig.model_validate(merged)

    def _read_servers(self) -> ReadServers:
        """Those of its file, unless a test gives them."""
        place = ConfigPlace(self.home / "config.yaml", {"SILAS_HOME": str(self.home)})
        return (
            never_again
            if "mcpServers" in self._settings
            else ServersFile(place, self.config.mcp_entries)
        )

    def _role_models(self, config: SilasConfig) -> "Callable[[ModelChoice], Model]":
        @cache  # each role that is the built-in model reads the same runbooks
        def library() -> PlanLibrary:
            return PlanLibrary.of_owner(config.plans_dirs)

        def make(choice: "ModelChoice") -> "Model":
            from silas.agents.runbook.model import RunbookModel  # noqa: PLC0415 - PydanticAI

            prefix, _, role = choice.name.rpartition(":")
            if prefix == "python:harness":
                return self._models[role]
            equip = equipment(config, self._sandbox or _sandbox(config)).find_tools
            caps = config.autonomy.standing_caps
            return RunbookModel(library(), equip, config.scheduler.zone, caps)

        return make
