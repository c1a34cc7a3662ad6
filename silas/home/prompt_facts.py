"""What a turn can choose from, as this configuration and this machine have it."""

from silas.config import SilasConfig


def profiles(config: SilasConfig) -> tuple[str, ...]:
    """The default first, the rest in their order."""
    default_profile = config.context.default_profile
    return (default_profile, *(p for p in config.context.profiles if p != default_profile))


USUAL = {
    "runs_there": "coreutils, awk, grep, sed, tar, "
    "gcc 12.2.0, git 2.39.5, jq, make 4.3, node 20.20.2, npm, npx, perl, pip, "
    "pytest 9.0.3, python 3.11.7 (also python3), ruff 0.17.6, sqlite3, zip",
    "not_there": "cargo, go",
}
"""What plans are told of an ordinary machine; for what it costs in every prompt."""

UNASKED = {"runs_there": "python3, or .venv/bin/python of the workspace where it has one"}
"""The same where nothing was asked inside the sandbox."""
