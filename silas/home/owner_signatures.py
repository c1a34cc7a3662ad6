"""Whose signature is the owner's: the key at home, and the key of each device he has paired."""

from silas.clock import Clock
from silas.db import Database
from silas.keys import Signer
from silas.keys.devices import DeviceKeys
from silas.stream.sender_identity import VerifyOwner


def owner_verified(signer: Signer, db: Database, clock: Clock) -> VerifyOwner:
    """Whether a message was signed with the owner's key or on a device of his (decision B7).

    A device signs messages, answers and commands; an approval is signed at home, after its answer.
    """
    devices = DeviceKeys(db, clock)

    def verify_signature(data: bytes, signature: bytes) -> bool:
        return signer.verify(data, signature) or devices.verify(data, signature)

    return verify_signature
