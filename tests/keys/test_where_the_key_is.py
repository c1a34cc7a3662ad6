"""Where the private key can be found afterwards: sealed in its one file, and nowhere else."""

import asyncio
import json
import logging
import os
from pathlib import Path

import pytest
from nacl.pwhash import argon2id
from nacl.secret import SecretBox

from silas import Silas, load_config
from silas.config import SilasConfig
from silas.keys import KeysConfig, Vault
from silas.keys.vault import refuse_to_prompt
from silas.services.setup.initialise import initialise
from silas.testing import ScriptedChannel
from tests.support.waits import SECONDS


def no_keyring() -> None:
    """A machine without a key store."""


@pytest.mark.proves("A19-ENCRYPTED-FILE")
def test_the_file_is_argon2id_around_a_secret_box_and_nothing_more(tmp_path: Path) -> None:
    """Opened here with libsodium alone, from what the file itself says."""
    keys = KeysConfig(backend="auto", key_file=tmp_path / "unlock", create_key_file=True)
    signer = Vault(keys, tmp_path / "keys", refuse_to_prompt, no_keyring).create("owner")
    (record,) = (tmp_path / "keys").iterdir()
    assert record.stat().st_mode & 0o777 == 0o600
    said = json.loads(record.read_text())
    assert said["kdf"] == "argon2id13"
    # what an owner's costs is held by `tests/base/test_made_once.py`: a test's is cheap
    assert said["operations"] >= argon2id.OPSLIMIT_MIN
    assert said["memory"] >= argon2id.MEMLIMIT_MIN
    unlocks = (tmp_path / "unlock").read_bytes()
    salt, box = bytes.fromhex(said["salt"]), bytes.fromhex(said["box"])
    key = argon2id.kdf(SecretBox.KEY_SIZE, unlocks, salt, said["operations"], said["memory"])
    assert SecretBox(key).decrypt(box) == signer.seed_for_vault()


def a_home(home: Path, unlock: Path) -> SilasConfig:
    home.mkdir()
    path = home / "config.yaml"
    keys = {"backend": "file", "key_file": str(unlock), "create_key_file": True}
    path.write_text(f"silas: {json.dumps({'keys': keys})}\n", encoding="utf-8")
    return load_config(path, environ={"SILAS_HOME": str(home)})


@pytest.mark.proves("S5.8-KEY-NEVER-SHOWN")
async def test_after_a_whole_session_the_private_key_is_in_no_file_and_no_word_of_silas(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    home, unlock = tmp_path / "home", tmp_path / "unlock"
    config, channel = a_home(home, unlock), ScriptedChannel()
    with caplog.at_level(logging.DEBUG):
        said = await initialise(config)
        async with asyncio.timeout(SECONDS), Silas.open(config, channel=channel) as silas:
            await silas.ask("what are you?")
            shown = "\n".join([*said, *channel.texts, repr(silas), repr(config)])
            await silas.audit.write_checkpoint()
    vault = Vault(config.keys, config.data_dir / "keys", refuse_to_prompt, no_keyring)
    signer = vault.load(config.owner_id)
    seed = signer.seed_for_vault()
    files = [path for path in home.rglob("*") if path.is_file()]
    everything = b"\n".join(path.read_bytes() for path in files)
    words = f"{shown}\n{caplog.text}\n{capfd.readouterr()}\n{dict(os.environ)}"
    assert signer.public_key[:16] in words  # so that what was searched is what Silas says
    assert signer.public_key.encode() in everything
    for form in (seed, unlock.read_bytes()):
        assert form not in everything
        assert form.hex().encode() not in everything
        assert form.hex() not in words
        assert repr(form) not in words
