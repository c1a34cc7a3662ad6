"""`silas signer`: the private key in a process of its own, on a terminal of the owner's."""

import asyncio
import getpass
import os
import pwd
import sys
from typing import NamedTuple

from silas.channels.confirm import SigningTerminal
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import ConfigError
from silas.home.passphrases import allow_interrupt
from silas.home.signer_client import is_apart, opened_by_others, record_of
from silas.keys import KeysConfig, Signer
from silas.keys.oskeyring import Keyring, system_keyring
from silas.keys.process_hardening import harden_signer
from silas.keys.signed_heads import SignedHeads
from silas.keys.signer_server import SigningService, open_socket
from silas.keys.vault import Vault
from silas.services.signer.signables import Signables


class _Agent(NamedTuple):
    """The user that may ask: its name, and the group its socket is given to (-1 for none)."""

    name: str
    uid: int
    group: int


async def serve_signer(config: SilasConfig, agent_name: str) -> None:
    """Unlock the key and sign what is shown and said yes to, until the terminal's input ends.

    Args:
        config: Of the signer's own home where it runs as another user, else of Silas's.
        agent_name: The user that may ask; empty for the own one.

    Raises:
        ConfigError: There is no terminal, or the arrangement would protect nothing; the sentence
            says why.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise _refusal("it asks its questions on a terminal, and there is none")
    harden_signer()
    agent = _agent(agent_name)
    signer = _key(config, agent)
    clock = SystemClock()
    terminal = SigningTerminal(sys.stdin.fileno(), sys.stdout, clock)
    heads = SignedHeads(record_of(config).with_name(f"{config.owner_id}.signed-head.json"))
    heads.newest()  # says what is wrong with it before anything is asked
    judge = Signables(clock, heads).judge
    service = SigningService(signer, judge, terminal.confirm, terminal.note, agent.uid)
    place = config.keys.socket
    connection = open_socket(place, agent.group)
    try:
        async with await asyncio.start_unix_server(service.serve, sock=connection):
            terminal.tell(f"The signer for user {agent.name} is ready at {place}.")
            terminal.tell(
                f"Public key {signer.public_key}. Its questions appear here; Ctrl-D ends."
            )
            await terminal.until_the_end()
    finally:
        place.unlink(missing_ok=True)


def _agent(name: str) -> _Agent:
    own = os.geteuid()
    if not name:
        return _Agent(str(own), own, -1)
    try:
        facts = pwd.getpwnam(name)
    except KeyError as error:
        raise _refusal(f"there is no user {name!r} on this machine") from error
    return _Agent(name, facts.pw_uid, -1 if facts.pw_uid == own else facts.pw_gid)


def _key(config: SilasConfig, agent: _Agent) -> Signer:
    """The owner's key, made where there is none yet."""
    folder, keys = record_of(config).parent, config.keys
    if agent.uid == os.geteuid():
        _refuse_what_the_agent_could_open(config)
        keys = KeysConfig(backend="file")
        vault = Vault(keys, folder, _read_typed, _no_keyring)
    else:
        vault = Vault(keys, folder, _read_typed, system_keyring)
    return vault.create(config.owner_id)


def _refuse_what_the_agent_could_open(config: SilasConfig) -> None:
    if not is_apart(config):
        raise _refusal("nothing would ask it; set `keys.signer: apart` first")
    if config.keys.signer_user:
        raise _refusal(f"it is to run as `keys.signer_user`, which is {config.keys.signer_user}")
    if opened := opened_by_others(config):
        raise _refusal(opened)


def _read_typed(words: str) -> str:
    with allow_interrupt():
        return getpass.getpass(f"{words}: ")


def _no_keyring() -> Keyring | None:
    return None


def _refusal(why: str) -> ConfigError:
    return ConfigError(f"The signer does not start: {why}.", code="E_CFG_SIGNER")
