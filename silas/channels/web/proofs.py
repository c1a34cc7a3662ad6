"""Who asks, and whether the owner's device signed for it (decision B7)."""

from typing import Annotated, cast

from fastapi import Depends, Request

from silas.channels.web.port import Door
from silas.channels.web.refusal import proof_words
from silas.channels.web.session import WebSession
from silas.channels.web.wire import Proof, command_bytes
from silas.errors import ChannelError
from silas.language import tr_later
from silas.types import FrozenModel


class SignedCommand(FrozenModel):
    """The body of a command that counts only when the owner's device signed it."""

    proof: Proof


def session_of(request: Request) -> WebSession:
    """The session that the guard found; without one nothing is answered.

    Raises:
        ChannelError: `E_CHANNEL_NO_SESSION`: no guard stands before this route, or it found none.
    """
    session = getattr(request.state, "session", None)
    if session is None:
        raise ChannelError(
            tr_later(
                "This browser is not paired with Silas; open a fresh link from “Devices” under "
                "“More” on a paired browser, or from `silas devices link`."
            ),
            code="E_CHANNEL_NO_SESSION",
        )
    return cast(WebSession, session)


Session = Annotated[WebSession, Depends(session_of)]


class Prover:
    """Lets a command pass only with a proof of its own: command, subject, moment and nonce."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def require(self, session: WebSession, command: str, subject: str, proof: Proof) -> None:
        """Spend the proof of exactly this command about exactly this subject.

        Raises:
            ChannelError: `E_CHANNEL_UNSIGNED`: this session's device has no key;
                `E_CHANNEL_PROOF`: the proof does not count. Nothing was done.
        """
        if session.level != "owner":
            raise ChannelError(
                tr_later(
                    "This browser has no key to sign with; use a paired one that has, or the "
                    "terminal."
                ),
                code="E_CHANNEL_UNSIGNED",
            )
        why = await self._door.prove(session, command_bytes(command, subject, proof), proof)
        if why:
            raise ChannelError(proof_words(why), code="E_CHANNEL_PROOF")
