"""A private key as one encrypted document: argon2id over what unlocks it, SecretBox around it."""

from collections.abc import Mapping
from typing import Any

from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id
from nacl.secret import SecretBox
from nacl.utils import random

from silas.canonical import canonical_json, digest, read_json
from silas.errors import ConfigError

# libsodium's "interactive" cost: 2 passes over 64 MiB, about 0.1 s. It is paid once a process, and
# by an attacker for every guess.
_OPERATIONS = argon2id.OPSLIMIT_INTERACTIVE
_MEMORY = argon2id.MEMLIMIT_INTERACTIVE

# What a file may demand at most, so that a planted one cannot exhaust the machine.
_MOST_OPERATIONS = argon2id.OPSLIMIT_SENSITIVE
_MOST_MEMORY = argon2id.MEMLIMIT_SENSITIVE


def seal(seed: bytes, secret: bytes, facts: Mapping[str, Any]) -> str:
    """Encrypt a seed under a secret.

    Args:
        seed: The private key.
        secret: A passphrase's UTF-8 bytes or a key file's bytes.
        facts: Public facts stored beside it; the checksum covers them against damage.

    Returns:
        The document's text.
    """
    salt = random(argon2id.SALTBYTES)
    key = argon2id.kdf(SecretBox.KEY_SIZE, secret, salt, _OPERATIONS, _MEMORY)
    document: dict[str, Any] = {
        **facts,
        "box": bytes(SecretBox(key).encrypt(seed)).hex(),
        "kdf": "argon2id13",
        "memory": _MEMORY,
        "operations": _OPERATIONS,
        "salt": salt.hex(),
    }
    return canonical_json({**document, "checksum": digest(document)})


def read_unsealed(facts: Mapping[str, Any]) -> str:
    """A document beside a key store: the facts and their checksum, nothing secret."""
    return canonical_json({**facts, "checksum": digest(dict(facts))})


def unseal(document: Mapping[str, Any], secret: bytes, where: str) -> bytes:
    """Decrypt a seed.

    Args:
        document: What `read_document` read.
        secret: What unlocks it.
        where: The file's name, for the error.

    Raises:
        ConfigError: `E_CFG_KEY_DAMAGED` where the document is not what was written, else
            `E_CFG_KEY_LOCKED` where the secret is wrong.
    """
    try:
        operations, memory = int(document["operations"]), int(document["memory"])
        salt, box = bytes.fromhex(document["salt"]), bytes.fromhex(document["box"])
        if operations > _MOST_OPERATIONS or memory > _MOST_MEMORY:
            raise damaged_error(where)
        key = argon2id.kdf(SecretBox.KEY_SIZE, secret, salt, operations, memory)
    except (KeyError, TypeError, ValueError, CryptoError) as error:
        raise damaged_error(where) from error
    try:
        return SecretBox(key).decrypt(box)
    except (CryptoError, ValueError) as error:
        raise ConfigError(
            f"The passphrase or key file does not open {where}; try again with the right one.",
            code="E_CFG_KEY_LOCKED",
        ) from error


def read_document(text: str, where: str) -> dict[str, Any]:
    """Parse a key document and compare its checksum, which finds damage, not forgery.

    Raises:
        ConfigError: The document is not what was written.
    """
    try:
        document = read_json(text)
        checksum = document.pop("checksum")
        if digest(document) != checksum:
            raise damaged_error(where)
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise damaged_error(where) from error
    return document


def damaged_error(where: str) -> ConfigError:
    """The error for a document that is not what was written."""
    return ConfigError(
        f"The key file {where} is damaged; restore it from a backup.", code="E_CFG_KEY_DAMAGED"
    )
