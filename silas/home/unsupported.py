"""What a valid configuration may ask for and this version does not do (spec 11)."""

from importlib import import_module

from silas.config import SilasConfig
from silas.errors import ConfigError

_NOT_INSTALLED = (
    "MCP servers need the protocol's own library; install it with `pip install 'silas[mcp]'`."
)


def refuse_unable(config: SilasConfig) -> None:
    """Refuse to start with what would be ignored; `silas doctor` asks here, too.

    Raises:
        ConfigError: The sentence says which setting to change.
    """
    for code, holds, sentence in _rules(config):
        if not holds:
            raise ConfigError(sentence, code=code)


def _rules(config: SilasConfig) -> tuple[tuple[str, bool, str], ...]:
    """Code, whether it holds, and the sentence where it does not."""
    return (
        (
            "E_CFG_ACTIVE_GOAL",
            config.active_goal is None,
            "Goals run once you have approved them: `silas run PLAN`; set `active_goal: null`.",
        ),
    )


def require_mcp() -> None:
    """Refuse where the package that speaks MCP is missing.

    Raises:
        ConfigError: It is (`E_CFG_MCP`).
    """
    try:
        import_module("silas.tools.mcp.transport")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("mcp"):
            raise
        raise ConfigError(_NOT_INSTALLED, code="E_CFG_MCP") from error
