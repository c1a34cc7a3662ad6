"""What a turn can choose from, as this configuration and this machine have it."""

from silas.config import SilasConfig


def profiles(config: SilasConfig) -> tuple[str, ...]:
    """The default first, the rest in their order."""
    default_profile = config.context.default_profile
    return (default_profile, *(p for p in config.context.profiles if p != default_profile))


def machine_facts() -> dict[str, str]:
    """What plans may need to know about this machine."""
    return {"interpreter": "python3, or .venv/bin/python of the workspace where it has one"}
