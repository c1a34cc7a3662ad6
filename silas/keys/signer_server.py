"""The signer as a process of its own: a socket that checks its peer, and one service behind it."""

import asyncio
import contextlib
import os
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from silas.errors import ConfigError
from silas.keys.port import Signer
from silas.keys.wire import BadFrame, Peer, check_address, frame, peer_of, read_frame

_TO_ASK = 5.0  # seconds a peer has to say what it wants
_MOST_WAITING = 4  # requests that may wait for the owner's answer; more are refused


def _nothing_more() -> None:
    """Most signatures change nothing at the signer."""


class SigningRuling(NamedTuple):
    """What is done with bytes that somebody wants signed.

    Attributes:
        refusal: Why they are not signed at all; empty otherwise.
        question: What the owner must be shown and say yes to; empty where nothing needs a yes.
        then: What the signer does for itself after the yes and before it signs.
    """

    refusal: str = ""
    question: str = ""
    then: Callable[[], None] = _nothing_more


Judge = Callable[[bytes, bytes], SigningRuling]
"""Decides about the bytes to sign and the bytes they are about; whatever it does not know it
refuses."""

ConfirmWords = Callable[[str], Awaitable[bool]]
"""Shows a question where only the owner can answer; being cancelled withdraws it."""


class SigningService:
    """Signs what the judge lets pass and, where it asks, the owner says yes to. Nothing else."""

    def __init__(
        self,
        signer: Signer,
        judge: Judge,
        confirm: ConfirmWords,
        tell: Callable[[str], None],
        agent_uid: int,
    ) -> None:
        """Wire the service.

        Args:
            signer: The private key.
            judge: What may be signed, and what must be asked.
            confirm: The owner, at the signer's own terminal.
            tell: One line to that terminal.
            agent_uid: The only user that may ask at all.
        """
        self._signer = signer
        self._judge = judge
        self._confirm = confirm
        self._tell = tell
        self._agent_uid = agent_uid
        self._waiting = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: who is it, what does it want, the answer."""
        with contextlib.suppress(ConnectionError):  # nobody waits for the answer any more
            try:
                peer = peer_of(writer.get_extra_info("socket"))
                writer.write(frame(await self._answer(peer, reader)))
                await writer.drain()
            finally:
                writer.close()
                await writer.wait_closed()

    async def _answer(self, peer: Peer, reader: asyncio.StreamReader) -> dict[str, str]:
        if peer.uid != self._agent_uid:
            self._tell(f"Refused: user {peer.uid} (process {peer.pid}) may not ask this signer.")
            return _refusal_answer("this signer serves another user")
        try:
            async with asyncio.timeout(_TO_ASK):
                asked = await read_frame(reader)
            if asked == {"ask": "key"}:
                return {"public_key": self._signer.public_key}
            if asked.keys() != {"ask", "data", "shown"} or asked["ask"] != "sign":
                raise BadFrame("unknown request")
            data, shown = bytes.fromhex(asked["data"]), bytes.fromhex(asked["shown"])
        except (TimeoutError, ValueError):  # BadFrame is a ValueError
            return _refusal_answer("the request cannot be read")
        return await self._answer_request(peer, data, shown, reader)

    async def _answer_request(
        self, peer: Peer, data: bytes, shown: bytes, reader: asyncio.StreamReader
    ) -> dict[str, str]:
        ruling = self._judge(data, shown)
        if ruling.refusal:
            self._tell(f"Refused without a question: {ruling.refusal}.")
            return _refusal_answer(ruling.refusal)
        if ruling.question:
            if self._waiting >= _MOST_WAITING:
                return _refusal_answer("too many questions are waiting for an answer")
            asker = f"Process {peer.pid} of user {peer.uid} asks for your signature."
            self._waiting += 1
            try:
                yes = await self._yes(f"{asker}\n{ruling.question}", reader)
            finally:
                self._waiting -= 1
            if not yes:
                return _refusal_answer("the owner did not say yes at the signer's terminal")
        try:
            ruling.then()
        except (OSError, ConfigError) as error:
            return _refusal_answer(f"what it signed cannot be kept ({type(error).__name__})")
        return {"signature": self._signer.sign(data).hex()}

    async def _yes(self, question: str, reader: asyncio.StreamReader) -> bool:
        """The owner's yes while the asker still waits; a question nobody waits for is withdrawn."""
        asking = asyncio.ensure_future(self._confirm(question))
        leaving = asyncio.ensure_future(reader.read(1))  # it has nothing more to say
        try:
            await asyncio.wait({asking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return not leaving.done() and asking.result()
        finally:
            asking.cancel()
            leaving.cancel()
            await asyncio.wait({asking, leaving})


def open_socket(place: Path, group: int) -> socket.socket:
    """A socket at a path that only its user may use, and a group where one is given.

    Args:
        place: Where; its directory is made if missing. A socket that nobody serves is replaced.
        group: The group that may connect; -1 for none. The service checks the user all the same.

    Raises:
        ConfigError: Somebody serves it already, the directory is not the user's alone to change,
            or the group cannot be given.
    """
    folder = check_address(place).parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    facts = folder.stat()
    if facts.st_uid not in (os.geteuid(), 0) or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _unusable(place, "others may change its directory; use one of your own, mode 0700")
    _clear(place)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        connection.bind(os.fspath(place))
        if group != -1:
            _open_to(place, group)
    except OSError as error:
        connection.close()
        raise _unusable(place, f"it cannot be made ({error.strerror})") from error
    finally:
        os.umask(mask)
    connection.listen()
    return connection


def _clear(place: Path) -> None:
    if not place.is_socket():
        if place.exists():
            raise _unusable(place, "something else is there")
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(os.fspath(place))
        except OSError:
            place.unlink()
            return
    raise _unusable(place, "a signer is running there already")


def _open_to(place: Path, group: int) -> None:
    os.chown(place, -1, group)
    place.chmod(0o660)
    if place.parent.stat().st_uid == os.geteuid():
        os.chown(place.parent, -1, group)
        place.parent.chmod(0o750)


def _unusable(place: Path, why: str) -> ConfigError:
    return ConfigError(
        f"The signer cannot listen at {place}: {why}; see `keys.socket`.", code="E_CFG_SIGNER"
    )


def _refusal_answer(why: str) -> dict[str, str]:
    return {"refused": f"The signer did not sign: {why}."}
