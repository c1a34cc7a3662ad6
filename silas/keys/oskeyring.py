"""The operating system's key store, where there is a real one."""

from typing import Any, Protocol

from silas.errors import ConfigError, from_foreign

SERVICE = "silas"

# Stores that keep secrets encrypted, behind the user's login. Any other, the null, failing and
# plain-text ones among them, counts as no key store at all: unknown means untrusted.
_REAL = frozenset(
    {
        "keyring.backends.SecretService",
        "keyring.backends.Windows",
        "keyring.backends.kwallet",
        "keyring.backends.libsecret",
        "keyring.backends.macOS",
    }
)


class Keyring(Protocol):
    """What the vault needs of a key store; `keyring.backend.KeyringBackend` has it."""

    def get_password(self, service: str, username: str) -> str | None:
        """The stored secret, or None."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a secret."""
        ...


def system_keyring() -> Keyring | None:
    """The machine's key store, or None where there is none worth the name."""
    import keyring  # noqa: PLC0415 - 60 ms, and only a machine that has a key to load needs it

    found: Any = keyring.get_keyring()  # the library's methods carry no types
    return real_member(found)


def real_member(found: Any) -> Keyring | None:
    """The store itself, or the first of a chain, that keeps secrets encrypted; else None."""
    members = getattr(found, "backends", None) or [found]
    return next((m for m in members if type(m).__module__ in _REAL), None)


def read_secret(store: Keyring, account: str) -> str | None:
    """Read one secret.

    Raises:
        ConfigError: The store is locked or does not answer.
    """
    try:
        return store.get_password(SERVICE, account)
    except Exception as error:  # backends raise D-Bus, COM and their own errors, unrelated by class
        raise _unusable(error) from error


def write_secret(store: Keyring, account: str, secret: str) -> None:
    """Store one secret and read it back.

    Raises:
        ConfigError: The store is locked, does not answer, or did not keep the secret.
    """
    try:
        store.set_password(SERVICE, account, secret)
    except Exception as error:  # as above
        raise _unusable(error) from error
    if read_secret(store, account) != secret:
        raise ConfigError(
            "The operating system's key store did not keep the key; set `keys.backend: file`.",
            code="E_CFG_KEYRING",
        )


def _unusable(error: Exception) -> ConfigError:
    known = from_foreign(error)
    if isinstance(known, ConfigError) and known.code == "E_CFG_KEYRING":
        return known
    # The error's text stays out: a backend may put the secret it was given into it.
    return ConfigError(
        f"The operating system's key store cannot be used ({type(error).__name__}); unlock it, or "
        "set `keys.backend: file`.",
        code="E_CFG_KEYRING",
    )
