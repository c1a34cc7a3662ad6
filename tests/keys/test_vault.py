"""Where the private key lives: created once, never overwritten, refused where it is exposed."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from keyring.backends import chainer, fail, null
from pydantic import ValidationError

from silas.errors import ConfigError
from silas.keys import KeysConfig, Vault
from silas.keys.oskeyring import Keyring, real_member
from silas.keys.vault import refuse_to_prompt

PASSPHRASE = "correct horse"


class MemoryKeyring:
    """A key store in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


class LockedKeyring(MemoryKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        raise RuntimeError(f"cannot show {self.kept}")


class ForgetfulKeyring(MemoryKeyring):
    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep nothing, as a null store does."""


class Prompt:
    """Answers with the given texts in turn, the last for ever; counts the questions."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def __call__(self, words: str) -> str:
        self.asked.append(words)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class Home(NamedTuple):
    """A place for one owner's keys; every `vault` is a new process."""

    path: Path

    @property
    def record(self) -> Path:
        return self.path / "keys" / "owner.key.json"

    @property
    def key_file(self) -> Path:
        return self.path / "stick" / "silas.key"

    def vault(
        self,
        prompt: Callable[[str], str] = refuse_to_prompt,
        store: Keyring | None = None,
        **config: Any,
    ) -> Vault:
        return Vault(KeysConfig(**config), self.path / "keys", prompt, lambda: store)

    def by_key_file(self, **config: Any) -> Vault:
        return self.vault(key_file=self.key_file, **config)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(ConfigError) as raised:
        call()
    assert raised.value.message.endswith(".")
    return raised.value.code


@pytest.mark.proves("A19-UNLOCKED")
def test_a_passphrase_unlocks_the_file(home: Home) -> None:
    made = home.vault(Prompt(PASSPHRASE)).create("owner")
    prompt = Prompt(PASSPHRASE)
    vault = home.vault(prompt)
    assert vault.exists("owner")
    assert vault.load("owner").public_key == made.public_key == vault.public_key("owner")
    assert vault.load("owner").verify(b"data", made.sign(b"data"))
    assert len(prompt.asked) == 1  # unlocked once, then kept in memory


@pytest.mark.proves("A19-UNLOCKED")
def test_a_key_file_unlocks_without_a_question(home: Home) -> None:
    made = home.by_key_file(create_key_file=True).create("owner")
    assert home.by_key_file().load("owner").public_key == made.public_key
    assert home.key_file.stat().st_mode & 0o777 == 0o600
    assert len(home.key_file.read_bytes()) == 32


@pytest.mark.proves("A19-UNLOCKED")
def test_a_key_file_is_only_made_where_the_owner_asked(home: Home) -> None:
    assert code_of(lambda: home.by_key_file().create("owner")) == "E_CFG_KEY_MISSING"
    assert not home.key_file.exists()
    assert not home.by_key_file().exists("owner")


def test_an_existing_key_file_is_used_as_it_is(home: Home) -> None:
    home.key_file.parent.mkdir()
    home.key_file.write_bytes(b"k" * 64)
    home.key_file.chmod(0o600)
    made = home.by_key_file(create_key_file=True).create("owner")
    assert home.key_file.read_bytes() == b"k" * 64
    assert home.by_key_file().load("owner").public_key == made.public_key


@pytest.mark.proves("A19-ENCRYPTED-FILE", "S5.8-KEY-NEVER-SHOWN")
def test_the_files_are_the_owners_alone_and_hold_no_plain_key(home: Home) -> None:
    signer = home.by_key_file(create_key_file=True).create("owner")
    assert home.record.stat().st_mode & 0o777 == 0o600
    assert home.record.parent.stat().st_mode & 0o777 == 0o700
    assert signer.seed_for_vault().hex() not in home.record.read_text()
    assert [p.name for p in home.record.parent.iterdir()] == ["owner.key.json"]


def test_creating_again_returns_the_same_key(home: Home) -> None:
    vault = home.by_key_file(create_key_file=True)
    keys = {vault.create("owner").public_key for _ in range(2)}
    keys.add(home.by_key_file(create_key_file=True).create("owner").public_key)
    assert len(keys) == 1
    assert home.by_key_file(create_key_file=True).create("other").public_key not in keys


def test_of_two_creations_at_once_one_key_remains(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = home.by_key_file(create_key_file=True).create("owner")
    late = home.by_key_file()
    # The other process created its key after this one had looked.
    seen = iter([False])
    look = Vault.exists

    def exists(self: Vault, owner_id: str) -> bool:
        return next(seen, look(self, owner_id))

    monkeypatch.setattr(Vault, "exists", exists)
    assert late.create("owner").public_key == first.public_key


@pytest.mark.proves("A19-UNLOCKED")
def test_a_wrong_passphrase_and_a_wrong_key_file_are_said_to_be_wrong(home: Home) -> None:
    home.vault(Prompt(PASSPHRASE)).create("owner")
    wrong = home.vault(Prompt("incorrect horse"))
    assert code_of(lambda: wrong.load("owner")) == "E_CFG_KEY_LOCKED"
    home.key_file.parent.mkdir()
    home.key_file.write_bytes(b"x" * 32)
    home.key_file.chmod(0o600)
    assert code_of(lambda: home.by_key_file().load("owner")) == "E_CFG_KEY_LOCKED"


def test_after_a_wrong_passphrase_the_right_one_works(home: Home) -> None:
    home.vault(Prompt(PASSPHRASE)).create("owner")
    vault = home.vault(Prompt("incorrect horse", PASSPHRASE))
    assert code_of(lambda: vault.load("owner")) == "E_CFG_KEY_LOCKED"
    assert vault.load("owner").public_key == vault.public_key("owner")


@pytest.mark.parametrize("answers", [("short",), ("",), (PASSPHRASE, "correct hose")])
def test_a_short_or_mistyped_passphrase_writes_nothing(
    home: Home, answers: tuple[str, ...]
) -> None:
    vault = home.vault(Prompt(*answers))
    assert code_of(lambda: vault.create("owner")) == "E_CFG_KEY_LOCKED"
    assert not vault.exists("owner")


def test_without_a_terminal_nobody_is_asked(home: Home) -> None:
    assert code_of(lambda: home.vault().create("owner")) == "E_CFG_KEY_LOCKED"


DAMAGE: dict[str, Callable[[str], str]] = {
    "cut off": lambda text: text[:-20],
    "emptied": lambda text: "",
    "no JSON": lambda text: "owner",
    "a list": lambda text: "[]",
    "another salt": lambda text: text.replace('"salt":"', '"salt":"00'),
    "another box": lambda text: text.replace('"box":"', '"box":"00'),
    "another public key": lambda text: text.replace('"public_key":"', '"public_key":"0'),
    "huge cost": lambda text: re.sub(r'"memory":\d+', '"memory":99999999999', text),
    "no text": lambda text: "\x00\xff" * 10,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_said_to_be_damaged(home: Home, name: str) -> None:
    home.by_key_file(create_key_file=True).create("owner")
    home.record.write_text(DAMAGE[name](home.record.read_text()))
    vault = home.by_key_file()
    assert code_of(lambda: vault.load("owner")) == "E_CFG_KEY_DAMAGED"
    assert code_of(lambda: vault.create("owner")) == "E_CFG_KEY_DAMAGED"


def resealed(record: Path, **changes: Any) -> None:
    """What an attacker writes: the checksum is right, because it is no secret."""
    from silas.canonical import canonical_json, digest

    document = {**json.loads(record.read_text()), **changes}
    document.pop("checksum")
    record.write_text(canonical_json({**document, "checksum": digest(document)}))


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"memory": 2**40}, "E_CFG_KEY_DAMAGED"),
        ({"operations": 10**9}, "E_CFG_KEY_DAMAGED"),
        ({"operations": 0}, "E_CFG_KEY_DAMAGED"),
        ({"salt": ""}, "E_CFG_KEY_DAMAGED"),
        ({"salt": 7}, "E_CFG_KEY_DAMAGED"),
        ({"box": "00" * 72}, "E_CFG_KEY_LOCKED"),
        ({"box": ""}, "E_CFG_KEY_LOCKED"),
        ({"public_key": "ab" * 32}, "E_CFG_KEY_MISMATCH"),
        ({"owner": "other"}, "E_CFG_KEY_MISMATCH"),
    ],
)
def test_a_forged_record_gives_no_key(home: Home, changes: dict[str, Any], code: str) -> None:
    home.by_key_file(create_key_file=True).create("owner")
    resealed(home.record, **changes)
    assert code_of(lambda: home.by_key_file().load("owner")) == code


@pytest.mark.proves("A19-ENCRYPTED-FILE")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
@pytest.mark.parametrize("which", ["record", "key_file"])
def test_a_file_that_others_may_read_is_refused(home: Home, which: str, mode: int) -> None:
    home.by_key_file(create_key_file=True).create("owner")
    getattr(home, which).chmod(mode)
    assert code_of(lambda: home.by_key_file().load("owner")) == "E_CFG_KEY_EXPOSED"


def test_what_is_no_ordinary_file_is_refused(home: Home) -> None:
    home.by_key_file(create_key_file=True).create("owner")
    home.key_file.unlink()
    os.mkfifo(home.key_file, 0o600)
    assert code_of(lambda: home.by_key_file().load("owner")) == "E_CFG_KEY_EXPOSED"


def test_a_key_file_of_a_few_bytes_is_refused(home: Home) -> None:
    home.key_file.parent.mkdir()
    home.key_file.write_bytes(b"short")
    home.key_file.chmod(0o600)
    assert code_of(lambda: home.by_key_file().create("owner")) == "E_CFG_KEY_LOCKED"


@pytest.mark.parametrize("owner", ["", "../owner", "a/b", ".hidden", "a b", "x" * 65, "ü"])
def test_an_owner_id_is_no_path(home: Home, owner: str) -> None:
    assert code_of(lambda: home.vault().load(owner)) == "E_CFG_OWNER"


def test_no_key_is_an_error_that_says_how_to_make_one(home: Home) -> None:
    assert code_of(lambda: home.vault().load("owner")) == "E_CFG_KEY_MISSING"
    assert code_of(lambda: home.vault().public_key("owner")) == "E_CFG_KEY_MISSING"
    assert not home.vault().exists("owner")


@pytest.mark.proves("A19-UNLOCKED", "S5.8-KEY-NEVER-SHOWN")
def test_the_configuration_has_no_place_for_a_passphrase() -> None:
    for name in ("passphrase", "passphrase_env"):
        with pytest.raises(ValidationError):
            KeysConfig.model_validate({name: "SILAS_PASSPHRASE"})


# ── The operating system's key store ─────────────────────────────────────────────────────────────


@pytest.mark.proves("S5.8-PRIVATE-IN-KEY-STORE")
@pytest.mark.parametrize("backend", ["auto", "keyring"])
def test_a_key_store_keeps_the_key_and_the_record_only_the_public_half(
    home: Home, backend: str
) -> None:
    store = MemoryKeyring()
    made = home.vault(store=store, backend=backend).create("owner")
    assert home.vault(store=store, backend=backend).load("owner").public_key == made.public_key
    assert list(store.kept) == [("silas", "owner")]
    assert set(json.loads(home.record.read_text())) == {
        "backend",
        "checksum",
        "owner",
        "public_key",
    }


def test_a_configured_file_is_not_put_into_the_key_store(home: Home) -> None:
    store = MemoryKeyring()
    home.vault(store=store, backend="file", key_file=home.key_file, create_key_file=True).create(
        "owner"
    )
    assert store.kept == {}


@pytest.mark.proves("S5.8-PRIVATE-IN-KEY-STORE")
def test_a_key_store_that_went_away_is_no_reason_for_a_second_identity(home: Home) -> None:
    home.vault(store=MemoryKeyring()).create("owner")
    for gone in (home.vault(), home.vault(store=MemoryKeyring()), home.vault(Prompt(PASSPHRASE))):
        assert code_of(lambda: gone.load("owner")) == "E_CFG_KEYRING"  # noqa: B023 - called at once
        assert code_of(lambda: gone.create("owner")) == "E_CFG_KEYRING"  # noqa: B023


def test_a_lost_record_is_made_again_around_the_stored_key(home: Home) -> None:
    store = MemoryKeyring()
    made = home.vault(store=store).create("owner")
    home.record.unlink()
    assert home.vault(store=store).create("owner").public_key == made.public_key


def test_another_key_in_the_store_is_not_the_owners(home: Home) -> None:
    store = MemoryKeyring()
    home.vault(store=store).create("owner")
    store.kept["silas", "owner"] = "ab" * 32
    assert code_of(lambda: home.vault(store=store).load("owner")) == "E_CFG_KEY_MISMATCH"
    store.kept["silas", "owner"] = "no key"
    assert code_of(lambda: home.vault(store=store).load("owner")) == "E_CFG_KEY_DAMAGED"


def test_no_key_store_is_an_error_where_one_is_demanded(home: Home) -> None:
    assert code_of(lambda: home.vault(backend="keyring").create("owner")) == "E_CFG_KEYRING"


@pytest.mark.parametrize("store", [LockedKeyring(), ForgetfulKeyring()])
def test_a_key_store_that_fails_is_an_error_and_leaves_no_record(
    home: Home, store: Keyring
) -> None:
    assert code_of(lambda: home.vault(store=store).create("owner")) == "E_CFG_KEYRING"
    assert not home.vault().exists("owner")


@pytest.mark.proves("S5.8-KEY-NEVER-SHOWN")
def test_an_error_of_the_key_store_does_not_repeat_what_it_says(home: Home) -> None:
    store = LockedKeyring()
    store.kept["silas", "owner"] = "secret"
    with pytest.raises(ConfigError) as raised:
        home.vault(store=store).create("owner")
    assert "secret" not in str(raised.value)


class PlaintextKeyring(MemoryKeyring):
    """As `keyrings.alt.file.PlaintextKeyring`: anything that is not on the list."""


@pytest.mark.parametrize("found", [fail.Keyring(), null.Keyring(), PlaintextKeyring()])
def test_a_store_that_protects_nothing_counts_as_none(found: object) -> None:
    assert real_member(found) is None


def test_of_a_chain_only_a_real_member_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    real = type("Keyring", (MemoryKeyring,), {"__module__": "keyring.backends.SecretService"})()
    chain = chainer.ChainerBackend()
    monkeypatch.setattr(
        chainer.ChainerBackend, "backends", [PlaintextKeyring(), null.Keyring(), real]
    )
    assert real_member(chain) is real
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [PlaintextKeyring()])
    assert real_member(chain) is None


# ── What `silas doctor` says ─────────────────────────────────────────────────────────────────────


def test_the_vault_says_what_is_in_force_and_what_it_does_not_protect_against(home: Home) -> None:
    by_passphrase = home.vault(Prompt(PASSPHRASE)).describe("owner")
    by_key_file = home.by_key_file().describe("owner")
    by_store = home.vault(store=MemoryKeyring()).describe("owner")
    assert "your passphrase" in by_passphrase
    assert str(home.key_file) in by_key_file
    assert "key store" in by_store
    for words in (by_passphrase, by_key_file, by_store):
        assert "does not protect against" in words


def test_the_vault_describes_where_the_key_is_not_where_it_would_be_put_now(home: Home) -> None:
    home.by_key_file(create_key_file=True).create("owner")
    assert "key file" in home.by_key_file(backend="auto").describe("owner")
    with_store = home.vault(store=MemoryKeyring(), key_file=home.key_file)
    assert "encrypted file" in with_store.describe("owner")
