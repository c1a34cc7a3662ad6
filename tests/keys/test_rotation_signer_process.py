"""A key that is with a signer apart is not replaced behind its back."""

from pathlib import Path

import pytest

from silas import load_config
from silas.errors import ConfigError
from silas.services.owner_key import key_facts, rotate_key
from silas.services.setup.initialise import initialise
from tests.support.command import environment


async def test_a_key_with_a_signer_apart_is_not_replaced_from_here(tmp_path: Path) -> None:
    home = tmp_path / "home"
    inside = load_config(environ=environment(home))
    await initialise(inside)
    before = key_facts(inside).ring.current
    apart = load_config(environ=environment(home, SILAS_KEYS__SIGNER="apart"))
    with pytest.raises(ConfigError, match="with a signer apart and is not replaced from here"):
        await rotate_key(apart, stolen=False)
    assert key_facts(inside).ring.current == before
