"""The newest signed head in the operating system's key store, as the `keyring` library finds it."""

import json
import shutil
from collections.abc import Generator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringLocked

from silas import Silas, SilasConfig, load_config
from silas.errors import ConfigError, SilasError, Stopped
from silas.services.record import open_audit
from silas.services.setup.initialise import initialise
from silas.testing import ScriptedChannel
from silas.testing.approval import a_decision, a_subject
from tests.support.command import environment

SECRET = "the backend's own words"


class Store(KeyringBackend):
    """A key store that is chosen as the desktop's is, in a dictionary; `refuses` with an error."""

    priority = 1.0  # pyright: ignore[reportAssignmentType] - the library computes it per class
    refuses: Exception | None = None

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        if self.refuses is not None:
            raise self.refuses
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]

    @property
    def account(self) -> tuple[str, str]:
        """Under which name it has a head."""
        (found,) = [each for each in self.kept if ":head:" in each[1]]
        return found


Store.__module__ = "keyring.backends.SecretService"  # one of those that count as real


@pytest.fixture
def store() -> Generator[Store]:
    """The key store of this machine for as long as a test takes."""
    before, made = keyring.get_keyring(), Store()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
async def config(tmp_path: Path, store: Store) -> SilasConfig:
    """A home whose key is in the key store, with a record."""
    env = {**environment(tmp_path / "home"), "SILAS_KEYS__BACKEND": "keyring"}
    config = load_config(environ=env)
    await initialise(config)
    await live(config, "number 0")
    assert list(store.kept)
    return config


async def live(config: SilasConfig, words: str) -> None:
    """One session that says something."""
    async with Silas.open(config, channel=ScriptedChannel(), resume=False) as silas:
        await silas.audit.log("turn_finished", outcome=words)


async def fault(config: SilasConfig) -> str:
    """What is wrong with the record, by a command that only looks."""
    async with open_audit(config) as service:
        return (await service.verify_chain()).reason


def seq_in(text: str) -> int:
    return int(json.loads(text)["seq"])


def file_of(config: SilasConfig) -> Path:
    return config.data_dir / "keys" / "owner.kept-head.json"


async def test_the_head_is_kept_in_the_key_store_and_moves_on_with_the_record(
    config: SilasConfig, store: Store
) -> None:
    first = store.kept[store.account]
    assert first == file_of(config).read_text()
    await live(config, "number 1")
    assert seq_in(store.kept[store.account]) > seq_in(first)
    assert store.kept[store.account] == file_of(config).read_text()
    assert await fault(config) == ""


async def test_a_record_and_a_file_that_went_back_are_missed_by_the_key_store_alone(
    config: SilasConfig, tmp_path: Path
) -> None:
    shutil.copytree(config.data_dir, tmp_path / "copy")
    await live(config, "number 1")
    shutil.rmtree(config.data_dir)
    shutil.copytree(tmp_path / "copy", config.data_dir)
    assert "key store" in await fault(config)
    async with Silas.open(config, channel=ScriptedChannel(), resume=False) as silas:
        with pytest.raises(Stopped, match="The record was changed outside Silas"):
            await silas.approval.issue_token(a_subject(), a_decision())


async def test_a_head_in_the_key_store_that_fell_behind_alarms_nobody_and_is_brought_up(
    config: SilasConfig, store: Store
) -> None:
    behind = store.kept[store.account]
    await live(config, "number 1")
    store.kept[store.account] = behind  # killed between the two places, or restored with a login
    assert await fault(config) == ""
    await live(config, "number 2")
    assert store.kept[store.account] == file_of(config).read_text()
    assert await fault(config) == ""


async def test_a_head_that_is_gone_or_damaged_in_the_key_store_is_missed(
    config: SilasConfig, store: Store
) -> None:
    account, kept = store.account, store.kept[store.account]
    store.kept[account] = "{}"
    assert "key store is damaged" in await fault(config)
    del store.kept[account]
    assert "is gone from the operating system's key store" in await fault(config)
    store.kept[account] = kept
    assert await fault(config) == ""


REFUSALS = {
    "locked": KeyringLocked(SECRET),
    "raises": RuntimeError(SECRET),
    "no backend": None,
}


@pytest.mark.parametrize("how", REFUSALS)
async def test_a_key_store_that_does_not_answer_refuses_until_it_does_in_its_own_words(
    config: SilasConfig, store: Store, how: str
) -> None:
    def away() -> None:
        if REFUSALS[how] is None:
            keyring.set_keyring(fail.Keyring())
        store.refuses = REFUSALS[how]

    async with Silas.open(config, channel=ScriptedChannel(), resume=False) as silas:
        await silas.approval.issue_token(a_subject(), a_decision())
        away()
        with pytest.raises(SilasError) as raised:
            await silas.audit.write_checkpoint()
        with pytest.raises(Stopped) as stopped:
            await silas.approval.issue_token(a_subject(), a_decision())
        for words in (str(raised.value), stopped.value.message):
            assert SECRET not in words
            assert "unlock it, or log in to the session that has it" in words
        assert "The record cannot be compared with its newest signed head" in stopped.value.message
        assert "was changed outside Silas" not in stopped.value.message
        assert "does not answer" in await fault(config)
        with pytest.raises(ConfigError) as opened:
            async with Silas.open(config, channel=ScriptedChannel(), resume=False):
                pass
        assert opened.value.code == "E_CFG_KEYRING"
        keyring.set_keyring(store)
        store.refuses = None
        assert await silas.approval.issue_token(a_subject(), a_decision())
    assert await fault(config) == ""
