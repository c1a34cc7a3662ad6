"""What the owner chose at the first run, in a file of its own (spec 1.5). No key is in it."""

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from silas.errors import ConfigError
from silas.keys.files import replace
from silas.types import FrozenModel

NAME = "first-run.json"
"""Of the file, in the data directory."""

ProviderKind = Literal["openrouter", "local", "runbook"]


class FirstRun(FrozenModel):
    """Who is to answer, and who the owner is; empty where nothing was said.

    Attributes:
        key: Whether the provider's key was stored among the secrets, so that it can answer.
    """

    provider: ProviderKind
    name: str = Field(default="", max_length=200)
    email: str = Field(default="", max_length=200)
    phone: str = Field(default="", max_length=200)
    key: bool = False


def read_first_run(folder: Path) -> FirstRun | None:
    """What was chosen; None where nothing was yet, or where it cannot be read any more."""
    try:
        return FirstRun.model_validate_json((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError):
        return None


def keep_first_run(folder: Path, chosen: FirstRun) -> None:
    """Replace the file whole, readable by its owner alone.

    Raises:
        ConfigError: The directory cannot be written.
    """
    text = json.dumps(chosen.model_dump(), indent=2, ensure_ascii=False, sort_keys=True)
    try:
        replace(folder / NAME, f"{text}\n".encode())
    except OSError as error:
        raise ConfigError(
            f"Your choices could not be kept in {folder} ({error.strerror}); make it writable.",
            code="E_CFG_HOME",
        ) from error
