"""The tools that ask the web: always a page by its address, a search where the owner has a key."""

import ssl
from typing import Final, NamedTuple

from silas.audit import Audit
from silas.clock import Clock
from silas.config import SilasConfig
from silas.keys.secrets import SecretVault
from silas.sandbox import Outside, RecordTraffic
from silas.tools import RiskLevel, ToolConfig, ToolRegistry
from silas.tools.web.client import MakeTls, RecordOf, WebClient
from silas.tools.web.fetch import WebFetchTool
from silas.tools.web.search import ReadKey, WebSearchTool
from silas.work.authority.allowed_hosts import NetworkRecord

SEARCH_KEY: Final = "SEARCH_API_KEY"
"""The secret that holds the provider's key, where `search.api_key` does not."""


class Web(NamedTuple):
    """The web as tools reach it: a network, and what verifies certificates."""

    outside: Outside
    make_tls: MakeTls


def real_web() -> Web:
    """The network of this machine, and the authorities that model providers use, too."""
    from silas.sandbox.network.internet import Internet  # noqa: PLC0415 - `silas --help` needs no asyncio

    return Web(Internet(), _verified_context)


def _verified_context() -> ssl.SSLContext:
    import httpx  # noqa: PLC0415 - costs a tenth of a second

    return httpx.create_ssl_context()


def record_connections(audit: Audit) -> RecordOf:
    """Connections of a tool go into the audit as those of a sandbox do."""

    def of(whose: str, tool: str) -> RecordTraffic:
        return NetworkRecord(audit, whose, tool)

    return of


def add_web_tools(
    registry: ToolRegistry,
    config: SilasConfig,
    clock: Clock,
    web: Web,
    secrets: SecretVault,
    record_of: RecordOf,
) -> None:
    """Register them. Without a provider and its key there is no search (spec 9.2)."""
    client = WebClient(web.outside, web.make_tls, record_of)
    registry.register(
        WebFetchTool(client), ToolConfig(connector_id="web", risk_default=RiskLevel.low)
    )
    key = _search_key(config, secrets)
    if config.search.provider is None or key is None:
        return
    registry.register(
        WebSearchTool(
            config.search.provider,
            key,
            config.search,
            config.limits.web_search_calls_per_minute_per_scope,
            client,
            clock,
        ),
        ToolConfig(connector_id="web", risk_default=RiskLevel.low, config_ref="config:search"),
    )


def _search_key(config: SilasConfig, secrets: SecretVault) -> ReadKey | None:
    """What reads the key when a search is made; it is not read here."""
    given = config.search.api_key
    if config.search.enabled and given is not None:
        return given.get_secret_value
    refs = [fact.ref_id for fact in secrets.facts() if fact.name == SEARCH_KEY]
    if not refs:
        return None
    (ref_id, *_) = refs
    return lambda: secrets.values(frozenset({ref_id}))[ref_id][1]
