"""Secrets at rest: by opaque reference, encrypted, and in nothing that is said about them."""

import os
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import pytest

from silas.errors import ConfigError
from silas.keys.oskeyring import SERVICE
from silas.keys.secret_registry import SecretRegistry
from silas.keys.secrets import SecretVault

NOW = datetime(2030, 1, 1, tzinfo=UTC)
VALUE = "correct-horse-battery"


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


def a_vault(
    folder: Path,
    passphrase: bytes = b"a passphrase",
    store: MemoryKeyring | None = None,
    backend: Literal["auto", "keyring", "file"] = "auto",
) -> SecretVault:
    """A new process's view of the secrets in a folder."""
    return SecretVault(backend, folder / "secrets", lambda _: passphrase, lambda: store)


def value_of(vault: SecretVault, ref_id: str) -> tuple[str, str]:
    return vault.values(frozenset({ref_id}))[ref_id]


@pytest.mark.proves("S0.5-SECRETS-BY-REFERENCE")
@pytest.mark.parametrize("backend", ["file", "keyring"])
def test_a_secret_is_kept_for_the_next_process_and_forgotten_when_removed(
    tmp_path: Path, backend: Literal["keyring", "file"]
) -> None:
    store = MemoryKeyring()
    first = a_vault(tmp_path, store=store, backend=backend)
    token = first.add("TOKEN", VALUE, NOW)
    other = first.add("OTHER", "ünï-codé\nof two lines", NOW)
    vault = a_vault(tmp_path, store=store, backend=backend)
    assert vault.facts() == (other, token)
    assert value_of(vault, token.ref_id) == ("TOKEN", VALUE)
    assert value_of(vault, other.ref_id) == ("OTHER", "ünï-codé\nof two lines")
    assert token.ref_id.startswith("ref_")
    assert token.ref_id != a_vault(tmp_path / "elsewhere").add("TOKEN", VALUE, NOW).ref_id
    vault.record_use(token.ref_id, NOW)
    assert [facts.used_at for facts in vault.facts()] == ["", NOW.isoformat()]
    assert vault.remove("TOKEN").ref_id == token.ref_id
    assert vault.remove(other.ref_id).name == "OTHER"
    assert first.facts() == ()
    assert store.kept == {}
    left = {path.name for path in (tmp_path / "secrets").iterdir()}
    assert left <= {"lock.json"}


@pytest.mark.parametrize("backend", ["file", "keyring"])
def test_what_is_on_disk_holds_no_value_and_is_the_owners_alone(
    tmp_path: Path, backend: Literal["keyring", "file"]
) -> None:
    store = MemoryKeyring()
    vault = a_vault(tmp_path, store=store, backend=backend)
    token = vault.add("TOKEN", VALUE, NOW)
    vault.record_use(token.ref_id, NOW)
    for path in [tmp_path / "secrets", *(tmp_path / "secrets").iterdir()]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        if path.is_file():
            assert VALUE.encode() not in path.read_bytes()
            assert VALUE.encode().hex().encode() not in path.read_bytes()
    assert (store.kept == {(SERVICE, token.ref_id): VALUE}) is (backend == "keyring")


def test_a_passphrase_that_is_wrong_opens_nothing(tmp_path: Path) -> None:
    token = a_vault(tmp_path).add("TOKEN", VALUE, NOW)
    thief = a_vault(tmp_path, b"a guess at it")
    with pytest.raises(ConfigError, match="does not open"):
        value_of(thief, token.ref_id)
    with pytest.raises(ConfigError, match="does not open"):
        thief.add("ANOTHER", VALUE, NOW)
    assert [facts.name for facts in thief.facts()] == ["TOKEN"]


def test_a_file_that_was_damaged_or_exchanged_for_another_is_refused(tmp_path: Path) -> None:
    vault = a_vault(tmp_path)
    token, other = vault.add("TOKEN", VALUE, NOW), vault.add("OTHER", "another-value", NOW)
    one, two = (tmp_path / "secrets" / f"{facts.ref_id}.json" for facts in (token, other))
    kept = one.read_text()
    one.write_text(two.read_text())
    with pytest.raises(ConfigError, match="damaged"):
        vault.facts()
    one.write_text(kept.replace("TOKEN", "T0KEN"))
    with pytest.raises(ConfigError, match="damaged"):
        value_of(vault, token.ref_id)
    one.write_text(kept)
    one.chmod(0o644)
    with pytest.raises(ConfigError, match="Others may read"):
        vault.facts()


def test_a_box_moved_under_another_reference_is_refused(tmp_path: Path) -> None:
    from silas.keys.sealed import read_document, read_unsealed

    vault = a_vault(tmp_path)
    token, other = vault.add("TOKEN", VALUE, NOW), vault.add("OTHER", "another-value", NOW)
    one, two = (tmp_path / "secrets" / f"{facts.ref_id}.json" for facts in (token, other))
    stolen = read_document(one.read_text(), "")["box"]
    forged = {**read_document(two.read_text(), ""), "box": stolen}
    two.write_text(read_unsealed(forged))
    with pytest.raises(ConfigError, match="damaged"):
        value_of(vault, other.ref_id)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("TOKEN", "tiny", "8 characters"),
        ("TOKEN", "  tiny     ", "8 characters"),
        ("TOKEN", "", "8 characters"),
        ("TOKEN", "nul\0nul\0nul", "8 characters"),
        ("TOKEN", "\ud800" * 9, "8 characters"),
        ("TOKEN", "ends with a break\n", "8 characters"),
        ("TOKEN", "x" * 16_385, "8 characters"),
        ("my token", VALUE, "1 to 64 letters"),
        ("1TOKEN", VALUE, "1 to 64 letters"),
        ("", VALUE, "1 to 64 letters"),
        ("the_password", "PASSWORD", "must not hold its value"),
        ("TAKEN", VALUE, "named TAKEN already"),
    ],
)
def test_what_could_not_be_kept_out_of_sight_is_refused_without_being_said(
    tmp_path: Path, name: str, value: str, words: str
) -> None:
    vault = a_vault(tmp_path)
    vault.add("TAKEN", "some-other-value", NOW)
    with pytest.raises(ConfigError, match=words) as refused:
        vault.add(name, value, NOW)
    assert not value or value not in str(refused.value)
    assert [facts.name for facts in vault.facts()] == ["TAKEN"]


def test_a_key_store_that_lost_a_secret_is_an_error_and_one_that_is_absent_is_never_replaced(
    tmp_path: Path,
) -> None:
    store = MemoryKeyring()
    token = a_vault(tmp_path, store=store).add("TOKEN", VALUE, NOW)
    store.kept.clear()
    with pytest.raises(ConfigError, match="is not there now"):
        value_of(a_vault(tmp_path, store=store), token.ref_id)
    with pytest.raises(ConfigError, match="is not there now"):
        value_of(a_vault(tmp_path), token.ref_id)
    with pytest.raises(ConfigError, match="no operating system key store"):
        a_vault(tmp_path, backend="keyring").add("OTHER", VALUE, NOW)


def test_nothing_is_asked_or_written_until_there_is_a_secret(tmp_path: Path) -> None:
    def never(new: bool) -> bytes:
        raise AssertionError(new)

    vault = SecretVault("file", tmp_path / "secrets", never, lambda: None)
    secrecy = SecretRegistry(vault, lambda: NOW)
    secrecy.refresh()
    assert vault.facts() == ()
    assert secrecy.redact("anything") == "anything"
    assert vault.missing({}) == ""
    with pytest.raises(ConfigError, match="no secret named"):
        vault.remove("TOKEN")
    assert os.listdir(tmp_path) == []


def test_a_removed_secret_is_given_to_nobody_and_recognised_all_the_same(tmp_path: Path) -> None:
    vault = a_vault(tmp_path)
    token = vault.add("TOKEN", VALUE, NOW)
    secrecy = SecretRegistry(vault, lambda: NOW)
    assert secrecy.document({"TOKEN": token.ref_id}) == b'{"TOKEN": "correct-horse-battery"}'
    assert "known" in secrecy.missing({"TOKEN": f"ref_{'0' * 32}"})
    assert "is not the secret" in secrecy.missing({"HARMLESS": token.ref_id})
    a_vault(tmp_path).remove("TOKEN")
    with pytest.raises(ConfigError, match="Nothing was run"):
        secrecy.document({"TOKEN": token.ref_id})
    assert secrecy.redact(f"it was {VALUE}") == "it was [secret TOKEN]"


def test_no_representation_of_what_holds_secrets_shows_one(tmp_path: Path) -> None:
    vault = a_vault(tmp_path)
    vault.add("TOKEN", VALUE, NOW)
    secrecy = SecretRegistry(vault, lambda: NOW)
    secrecy.refresh()
    assert VALUE not in f"{vault!r} {secrecy!r} {vault.facts()!r}"
