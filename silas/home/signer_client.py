"""The side of a signer apart that models and tools run on: it has a public key and a socket."""

import contextlib
import os
import pwd
from collections.abc import Callable
from pathlib import Path

from silas.cards import Channel
from silas.config import SilasConfig
from silas.errors import ApprovalError, ChannelError, ConfigError, SilasError
from silas.keys import Signer
from silas.keys.remote import RECORDED_APART, RemoteSigner, fetch_public_key, pin_public_key
from silas.keys.sealed import read_document
from silas.types import OWNER

_LOOK = "The signer asks now, in its own terminal; what it shows there is what is signed."

_INSIDE = (
    "inside: the key is unlocked in the process that runs models and tools. It is out of reach of "
    "the sandbox; code that takes over that process can sign as you. `keys.signer: apart` and "
    "`silas signer` keep it out of there."
)
_SAME_USER = (
    "apart, as your own user: the process that runs models and tools has no key, and code in it "
    "gets no signature without your yes in the signer's terminal. It does not protect against a "
    "program that runs as you and writes on that terminal, reads what you type there or changes "
    "what you start; a user of its own for the signer does (`keys.signer_user`). Nor against "
    "what such a program does as you without asking Silas. Requests are not signed as yours."
)
_OTHER_USER = (
    "apart, as user {user}: key and memory of the signer are out of reach of every program that "
    "runs as you, and none gets a signature without a yes in the signer's terminal. Let that be a "
    "login of {user} and no window of yours, into which your programs could type. It does not "
    "protect against root, nor against what such a program does as you without asking Silas. "
    "Requests are not signed as yours."
)
_CONFIRMED = (
    " A yes is given in the signer's terminal alone. The signature of a paired device is none: the "
    "cockpit's page comes from the process that asks, which could show one thing and have another "
    "signed."
)
_AS_ROOT = "apart, but Silas runs as root, from which no signer is safe; run it as an ordinary user"


def is_apart(config: SilasConfig) -> bool:
    """Whether the private key is left to a signer apart."""
    return config.keys.signer == "apart"


def record_of(config: SilasConfig) -> Path:
    """The record beside the key, which names the public key and where the private one is."""
    return config.data_dir / "keys" / f"{config.owner_id}.key.json"


def signer_uid(config: SilasConfig) -> int:
    """The user a signer apart must run as. Raises `ConfigError` where there is no such user."""
    name = config.keys.signer_user
    return os.geteuid() if not name else user_id(name, "keys.signer_user")


def user_id(name: str, where: str) -> int:
    """The number of a user. Raises `ConfigError` where there is none."""
    try:
        return pwd.getpwnam(name).pw_uid
    except KeyError as error:
        raise ConfigError(
            f"There is no user {name!r} on this machine; correct {where}.", code="E_CFG_SIGNER"
        ) from error


def remote_signer(config: SilasConfig, public_key: str) -> RemoteSigner:
    """The owner's key by its socket; connects when it signs."""
    return RemoteSigner(config.keys.socket, public_key, signer_uid(config))


def enrol(config: SilasConfig) -> None:
    """Pin the signer's public key where none is known yet.

    Raises:
        ConfigError: The signer has to be started first, or is not the right one.
    """
    try:
        public_key = fetch_public_key(config.keys.socket, signer_uid(config))
    except ApprovalError as error:
        raise ConfigError(error.message, code="E_CFG_SIGNER") from error
    pin_public_key(record_of(config), config.owner_id, public_key)


def message_signer(config: SilasConfig, signer: Signer) -> Callable[[bytes], bytes]:
    """What signs requests as the owner's: the key inside, or nobody."""
    return _refuse_signature if is_apart(config) else signer.sign


def _refuse_signature(data: bytes) -> bytes:
    del data
    return b""


class AnnouncingSigner:
    """A signer apart whose question is announced where the owner is looking."""

    def __init__(self, signer: Signer, channel: Channel) -> None:
        self._signer = signer
        self._channel = channel
        self.public_key, self.sign, self.verify = signer.public_key, signer.sign, signer.verify

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """As the signer's; a channel that fails stops nothing."""
        with contextlib.suppress(ChannelError):
            await self._channel.send(OWNER, _LOOK)
        return await self._signer.sign_shown(data, shown)


def announce_questions(config: SilasConfig, signer: Signer, channel: Channel) -> Signer:
    """The signer, announcing its questions where it asks any."""
    return AnnouncingSigner(signer, channel) if is_apart(config) else signer


def opened_by_others(config: SilasConfig) -> str:
    """Why a signer of the same user would protect nothing; empty where a passphrase is needed.

    Of one user, only what is typed at the signer keeps the key from the other process.
    """
    record, key_file = record_of(config), config.keys.key_file
    beside = record.with_name("unlock.key")
    if key_file is not None or beside.exists():
        return f"{key_file or beside} opens the key for every program of yours; use a passphrase"
    if record.exists():
        document = read_document(record.read_text(encoding="utf-8"), str(record))
        if document.get("backend") != "file":
            return "the key is not in a file that a passphrase opens, so the signer cannot keep it"
    return ""


def arrangement(config: SilasConfig) -> tuple[bool, str]:
    """For `silas doctor`: whether signing works, and what it does and does not protect against."""
    if not is_apart(config):
        return True, _INSIDE
    try:
        listening = fetch_public_key(config.keys.socket, signer_uid(config))
        record = read_document(record_of(config).read_text(encoding="utf-8"), "")
    except (SilasError, OSError) as error:
        return False, str(error)
    if listening != record["public_key"]:
        return False, "the signer has another key than this Silas was set up with"
    if os.geteuid() == 0:
        return False, _AS_ROOT
    if signer_uid(config) == os.geteuid():
        opened = opened_by_others(config)
        return not opened, opened or _SAME_USER + _CONFIRMED
    if record["backend"] != RECORDED_APART:
        return False, "the signer is another user's, but this user still has a private key"
    return True, _OTHER_USER.format(user=config.keys.signer_user) + _CONFIRMED
