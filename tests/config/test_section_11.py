"""Section 11 of the specification, key by key: all are there, and default as it says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from silas.config import load_config
from silas.errors import ConfigError

SECTION = Path(__file__).with_name("section_11.yaml")
"""The configuration file that section 11 prints, word for word."""

DIFFERENT = {
    "data_dir": "the data home of the user, or SILAS_HOME, instead of the working directory",
    "sandbox.verify_dir": "below data_dir, as there; paths are meant from data_dir",
    "sandbox.customer_context_dir": "below data_dir, as there",
    "skills_dir": "A13: installed skills do not live inside the package",
    "scheduler.timezone": "local, the zone that this machine is set to",
    "keys.socket": "D48: a signer apart is reached below data_dir",
    "models.planner": "D425: the model that is named there ends on 2026-11-30",
    "gates.system": "A14: the gates there need validators that the base install does not have",
    "approval.scope_min_strength": "every scope is tap without being listed, and nothing else",
}
"""Where the default is another one, and why."""


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict) and value and path not in DIFFERENT:
        for key, inner in cast(dict[str, Any], value).items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    else:
        yield path, value


def _settings(file: Path | None, tmp_path: Path) -> dict[str, Any]:
    environ = {"HOME": str(tmp_path), "OPENROUTER_API_KEY": "k"}
    config = load_config(file, environ)
    return dict(_leaves(config.model_dump(mode="json", by_alias=True)))


@pytest.mark.proves("S11-KEYS")
def test_every_key_is_accepted_and_has_its_default_where_no_decision_changes_it(
    tmp_path: Path,
) -> None:
    specified, ours = _settings(SECTION, tmp_path), _settings(None, tmp_path)
    assert specified.keys() == ours.keys()
    assert {key for key in ours if ours[key] != specified[key]} == set(DIFFERENT)


@pytest.mark.proves("S11-KEYS")
def test_the_directories_are_below_the_data_directory_as_there(tmp_path: Path) -> None:
    config = load_config(environ={"HOME": str(tmp_path)})
    assert config.sandbox.verify_dir == config.data_dir / "verify"
    assert config.sandbox.customer_context_dir == config.data_dir / "customer_context"
    assert config.skills_dir == config.data_dir / "skills"


@pytest.mark.parametrize("value", ["slide", "biometric", ""])
def test_tap_is_the_only_strength_there_is(tmp_path: Path, value: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"silas: {{approval: {{scope_min_strength: {{self_update: '{value}'}}}}}}")
    with pytest.raises(ConfigError, match="tap"):
        load_config(file, {"HOME": str(tmp_path)})
