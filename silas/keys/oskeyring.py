"""The operating system's key store, where there is a real one."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from silas.errors import ConfigError

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


AnswerT = TypeVar("AnswerT")


class Keyring(Protocol):
    """What the vault needs of a key store; `keyring.backend.KeyringBackend` has it."""

    def get_password(self, service: str, username: str) -> str | None:
        """The stored secret, or None."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a secret."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Forget a secret; an error where there is none."""
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
    return _ask_keyring(lambda: store.get_password(SERVICE, account))


def write_secret(store: Keyring, account: str, reveal: Callable[[], str]) -> None:
    """Store one secret and read it back.

    Args:
        store: Where.
        account: Under which name.
        reveal: Gives the secret; it is in no variable here, so in no traceback either.

    Raises:
        ConfigError: The store is locked, does not answer, or did not keep the secret.
    """
    _ask_keyring(lambda: store.set_password(SERVICE, account, reveal()))
    if read_secret(store, account) != reveal():
        raise ConfigError(
            "The operating system's key store did not keep the key; set `keys.backend: file`.",
            code="E_CFG_KEYRING",
        )


def forget_secret(store: Keyring, account: str) -> None:
    """Remove one secret, if it is there.

    Raises:
        ConfigError: The store is locked or does not answer.
    """
    if read_secret(store, account) is not None:
        _ask_keyring(lambda: store.delete_password(SERVICE, account))


def _ask_keyring(ask: Callable[[], AnswerT]) -> AnswerT:
    try:
        return ask()
    except Exception as error:  # backends raise D-Bus, COM and their own errors, unrelated by class
        refused = _unusable(error)
    # Outside the handler, so that the backend's error does not travel along: its words and the
    # variables of its frames may hold the secret it was given.
    raise refused


def _unusable(error: Exception) -> ConfigError:
    return ConfigError(
        f"The operating system's key store cannot be used ({type(error).__name__}); unlock it, or "
        "set `keys.backend: file`.",
        code="E_CFG_KEYRING",
    )
