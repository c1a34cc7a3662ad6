"""Whether a device of the owner's signed a choice, now and for the first time (decision B7)."""

from collections.abc import Callable
from datetime import timedelta

from silas.approval.port import NonceStore
from silas.cards import ChoiceProof
from silas.clock import Clock
from silas.errors import ApprovalError

FRESHNESS = timedelta(minutes=5)
"""How old or how far ahead a signature may be, as for a signed message (spec 5.1)."""

DeviceSigned = Callable[[bytes, bytes], bool]
"""Whether a signature over these bytes is an enrolled device's."""


class ChoiceProofs:
    """Checks signatures over choices and spends their nonces.

    Args:
        signed: Knows the enrolled devices.
        nonces: Where a spent signature is remembered.
        clock: For freshness.
    """

    def __init__(self, signed: DeviceSigned, nonces: NonceStore, clock: Clock) -> None:
        self._signed = signed
        self._nonces = nonces
        self._clock = clock

    async def objection(self, data: bytes, proof: ChoiceProof) -> str:
        """Why a proof does not count; empty where it does, and then it is spent.

        1 it is fresh; 2 the signature is a device's over exactly `data`; 3 its time is still
        remembered; 4 its nonce is new. Nothing is spent unless all of them hold.

        Args:
            data: `choice_bytes` of the card that is open now.
            proof: As it came.

        Raises:
            DatabaseError: The nonce could not be recorded; it does not count.
        """
        if abs(self._clock.now() - proof.timestamp) > FRESHNESS:
            return "it is stale"
        if not self._signed(data, proof.signature):
            return "no device of yours signed this choice on this card"
        if not await self._nonces.remembers(proof.timestamp):
            return "it is stale"
        try:
            await self._nonces.record("proof", f"choice:{proof.nonce}")
        except ApprovalError:
            return "it was used before"
        return ""
