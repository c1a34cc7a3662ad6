"""The configuration as a person may see it."""

import re
from collections.abc import Mapping
from typing import Any, cast

import yaml

from silas.config.models import SilasConfig

_A_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}\Z")
_STARS = "**********"


def dump_config(config: SilasConfig) -> str:
    """Everything that is in force, as YAML that `load_config` reads; secrets show as stars."""
    return yaml.safe_dump(shown_config(config), sort_keys=False, allow_unicode=True, width=100)


def shown_config(config: SilasConfig) -> dict[str, Any]:
    """The same as plain data."""
    shown = config.model_dump(mode="json", by_alias=True)
    for section in ("toolsets", "toolset_profiles"):
        shown[section] = _mask_settings(shown[section])
    for other in shown["channels"]["others"].values():
        other["config"] = _mask_settings(other["config"])
    for name, server in config.mcpServers.items():
        kind = "env" if server.url is None else "headers"
        shown["mcpServers"][name][kind] |= {use.name: use.shown for use in server.uses}
    return {"silas": shown}


def _mask_settings(settings: Any) -> Any:
    """Settings of a toolset or channel without their texts: only its code knows which are secret.

    What the owner says about its tools, names, numbers and variables are shown.
    """
    if isinstance(settings, str):
        return settings if _A_VARIABLE.match(settings) else _STARS
    if isinstance(settings, Mapping):
        members = cast(Mapping[str, Any], settings).items()
        return {
            k: v if k == "extends" or k.startswith("_") else _mask_settings(v) for k, v in members
        }
    if isinstance(settings, list):
        return [_mask_settings(member) for member in cast(list[Any], settings)]
    return settings
