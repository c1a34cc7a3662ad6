"""The owner's key of a home: where it is, and unlocking it."""

from pathlib import Path

from silas.config import SilasConfig
from silas.home.data_directory import not_initialised, unusable_home
from silas.home.passphrases import Passphrases, someone_can_type
from silas.home.signer_client import is_apart, remote_signer
from silas.keys import KeyRing, KeysConfig, Signer
from silas.keys.lazy_signer import LazySigner
from silas.keys.oskeyring import system_keyring
from silas.keys.vault import Vault


def owner_keys(config: SilasConfig, vault: Vault, *, unlock: bool) -> tuple[Signer, KeyRing]:
    """The owner's key and its ring, which the caller releases when all is over.

    Args:
        config: Whether the key is apart.
        vault: Where it is.
        unlock: Now, where a person is there; otherwise when something is signed, if ever.

    Raises:
        ConfigError: Silas was not set up here, its directory cannot be used, or the key is locked.
    """
    if not key_exists(config, vault):
        raise not_initialised(config)
    ring = vault.ring(config.owner_id)
    if is_apart(config):
        return remote_signer(config, ring.current), ring
    if unlock:
        return vault.load(config.owner_id), ring
    return LazySigner(ring.current, lambda: vault.load(config.owner_id)), ring


def key_exists(config: SilasConfig, vault: Vault) -> bool:
    """Whether the owner has a key. Raises `ConfigError` where the directory cannot be read."""
    try:
        return vault.exists(config.owner_id)
    except OSError as error:
        raise unusable_home(config, error) from error


def open_vault(config: SilasConfig) -> Vault:
    """Where the key is; see `vault_asking`."""
    return vault_asking(config, Passphrases())


def unlock_file(config: SilasConfig) -> Path:
    """The key file beside the key; where it is, it unlocks the key and nobody is asked."""
    return config.data_dir / "keys" / "unlock.key"


def vault_asking(config: SilasConfig, passphrases: Passphrases) -> Vault:
    """Where the key is. A new key made without a terminal is unlocked by a key file beside it,
    openly so; a key that a passphrase unlocks stays locked where nobody can type it.
    """
    directory = config.data_dir / "keys"
    beside = unlock_file(config)
    keys, typing, ask = config.keys, someone_can_type(), passphrases.ask
    if keys.key_file is None:
        vault = Vault(keys, directory, ask, system_keyring)
        if beside.exists() or not (typing or key_exists(config, vault)):
            keys = KeysConfig(backend=keys.backend, key_file=beside, create_key_file=True)
    return Vault(keys, directory, ask, system_keyring)
