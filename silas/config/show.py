"""The configuration as a person may see it."""

import yaml

from silas.config.models import SilasConfig


def dump_config(config: SilasConfig) -> str:
    """Everything that is in force, as YAML that `load_config` reads; secrets show as stars."""
    data = {"silas": config.model_dump(mode="json", by_alias=True)}
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
