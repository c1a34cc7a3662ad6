"""The owner's secrets in this house: where they are kept, and who is given them."""

from collections.abc import Callable
from pathlib import Path

from silas.audit import Audit
from silas.config import SilasConfig
from silas.errors import ConfigError
from silas.home.passphrases import Passphrases, someone_can_type
from silas.keys.files import make_key_file, read_key_file
from silas.keys.oskeyring import system_keyring
from silas.keys.secret_registry import SecretRegistry
from silas.keys.secrets import SecretVault, Unlock, opens_secrets
from silas.sandbox import Credentials, Sandbox
from silas.sandbox.guarded import GuardedSandbox

_SHORTEST_PASSPHRASE = 8  # characters, as for the owner's key


def open_secrets(
    config: SilasConfig, passphrases: Passphrases, typing: Callable[[], bool]
) -> SecretVault:
    """Where secrets are. Touches nothing yet.

    Args:
        config: Which backend, and the owner's key file where there is one.
        passphrases: Asks a person for one without showing it, and knows those typed before.
        typing: Whether there is a person now. Without one the first encrypted secret is unlocked
            by a key file beside it, openly so (decision D12).
    """
    place = config.data_dir / "keys" / "secrets"
    return SecretVault(
        config.keys.backend, place, _unlock(config, place, passphrases, typing), system_keyring
    )


def _unlock(
    config: SilasConfig, place: Path, passphrases: Passphrases, typing: Callable[[], bool]
) -> Unlock:
    beside = place / "unlock.key"

    def unlock(new: bool) -> bytes:
        if config.keys.key_file is not None:
            return read_key_file(config.keys.key_file)
        if new and not typing():
            make_key_file(beside)
        if beside.exists():
            return read_key_file(beside)
        if new:
            return _choose_passphrase(passphrases.ask)
        for typed in passphrases.typed:
            if opens_secrets(place, typed.encode()):
                return typed.encode()
        return passphrases.ask("Passphrase for your secrets").encode()

    return unlock


def _choose_passphrase(prompt: Callable[[str], str]) -> bytes:
    first = prompt("Choose a passphrase for your secrets")
    if len(first) < _SHORTEST_PASSPHRASE or prompt("The same passphrase again") != first:
        raise ConfigError(
            f"A passphrase needs at least {_SHORTEST_PASSPHRASE} characters, typed twice the same; "
            "nothing was written, try again.",
            code="E_CFG_KEY_LOCKED",
        )
    return first.encode()


def guard_sandbox(sandbox: Sandbox, secrecy: SecretRegistry, audit: Audit) -> Sandbox:
    """A sandbox from which no known secret comes out, and which gives plans what they name."""

    async def reveal(credentials: Credentials) -> bytes:
        document = secrecy.document(credentials.refs)
        for ref_id in credentials.refs.values():
            # what cannot be recorded does not happen (decision B5)
            await audit.log("secret.used", ref_id=ref_id, work_item_id=credentials.work_item_id)
        return document

    return GuardedSandbox(sandbox, secrecy.refresh, reveal, secrecy.redact)


SecretNamed = Callable[[str], str]
"""The value of a secret by its name; empty where there is none."""


def secret_named(secrets: SecretVault) -> SecretNamed:
    """What looks a secret up when it is needed."""

    def value(name: str) -> str:
        refs = [fact.ref_id for fact in secrets.facts() if fact.name == name]
        return secrets.values(frozenset(refs))[refs[0]][1] if refs else ""

    return value


def secrets_of(config: SilasConfig) -> SecretVault:
    """Where the owner's secrets are; opened when the first one is needed."""
    return open_secrets(config, Passphrases(), someone_can_type)
