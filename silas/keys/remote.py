"""The owner's key as the process sees it that must not have it: a public key and a socket."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from silas.canonical import canonical_json, digest
from silas.errors import ApprovalError
from silas.keys.files import write_new
from silas.keys.signer import import_public_key, verify_with
from silas.keys.wire import BadFrame, Peer, ask_now, check_address, frame, peer_of, read_frame

_AT_ONCE = 5.0  # seconds; for what the signer does without a question
_LONGEST_QUESTION = 330.0  # seconds; a little more than the signer waits for its owner
RECORDED_APART = "apart"
"""What a key record names as the place of a private key that a signer apart keeps."""


class RemoteSigner:
    """Signs by asking a signer apart; whatever it answers counts only if the public key agrees."""

    def __init__(self, place: Path, public_key: str, signer_uid: int) -> None:
        """Connect to nobody yet.

        Args:
            place: The signer's socket.
            public_key: The owner's, as it was pinned; 64 hex digits.
            signer_uid: Who must be at the other end, so that plans are shown to nobody else.
        """
        self._place = place
        self._public_key = import_public_key(public_key)
        self._admit = _only(place, signer_uid)

    @property
    def public_key(self) -> str:
        """The verify key as 64 hex digits."""
        return self._public_key

    def sign(self, data: bytes) -> bytes:
        """The signature over what the signer signs without a question, such as a checkpoint.

        Raises:
            ApprovalError: The signer cannot be reached, or does not sign this.
        """
        try:
            answer = ask_now(self._place, _request(data, b""), _AT_ONCE, self._admit)
        except (OSError, BadFrame) as error:
            raise _unreachable(self._place) from error
        return self._check_signature(answer, data)

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """The signature over a decision, once the owner said yes at the signer's own terminal.

        Being cancelled withdraws the question.

        Raises:
            ApprovalError: The signer cannot be reached, cannot show this, or was told no.
        """
        try:
            async with asyncio.timeout(_LONGEST_QUESTION):
                answer = await self._ask_server(_request(data, shown))
        except (OSError, BadFrame) as error:  # TimeoutError is an OSError
            raise _unreachable(self._place) from error
        return self._check_signature(answer, data)

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is the owner's over exactly `data`; needs no signer."""
        return verify_with(self._public_key, data, signature)

    async def _ask_server(self, document: dict[str, str]) -> dict[str, str]:
        reader, writer = await asyncio.open_unix_connection(str(check_address(self._place)))
        try:
            self._admit(peer_of(writer.get_extra_info("socket")))
            writer.write(frame(document))
            await writer.drain()
            return await read_frame(reader)
        finally:
            writer.close()

    def _check_signature(self, answer: dict[str, str], data: bytes) -> bytes:
        if "refused" in answer:
            raise ApprovalError(answer["refused"], code="E_APPROVAL_NOT_SIGNED")
        try:
            signature = bytes.fromhex(answer.get("signature", ""))
        except ValueError:
            signature = b""
        if not self.verify(data, signature):
            raise ApprovalError(
                f"The signer at {self._place} has another key than this Silas was set up with; "
                "start the right one.",
                code="E_APPROVAL_SIGNER",
            )
        return signature


def fetch_public_key(place: Path, signer_uid: int) -> str:
    """The key that the signer at a socket says it has; 64 hex digits of a usable key.

    Raises:
        ApprovalError: Nobody answers there, somebody else does, or the key is no key.
    """
    try:
        answer = ask_now(place, {"ask": "key"}, _AT_ONCE, _only(place, signer_uid))
    except (OSError, BadFrame) as error:
        raise _unreachable(place) from error
    return import_public_key(answer.get("public_key", ""))


def pin_public_key(path: Path, owner_id: str, public_key: str) -> bool:
    """Keep the record of a key that a signer apart has; False where there is a record already."""
    facts = {"backend": RECORDED_APART, "owner": owner_id, "public_key": public_key}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return write_new(path, canonical_json({**facts, "checksum": digest(facts)}).encode())


def _request(data: bytes, shown: bytes) -> dict[str, str]:
    return {"ask": "sign", "data": data.hex(), "shown": shown.hex()}


def _only(place: Path, signer_uid: int) -> Callable[[Peer], None]:
    def admit(peer: Peer) -> None:
        if peer.uid != signer_uid:
            raise ApprovalError(
                f"User {peer.uid} listens at {place}, and the signer's is {signer_uid}; start the "
                "right signer, or correct `keys.signer_user`.",
                code="E_APPROVAL_SIGNER",
            )

    return admit


def _unreachable(place: Path) -> ApprovalError:
    return ApprovalError(
        f"The signer does not answer at {place}; start `silas signer` in a terminal of its own.",
        code="E_APPROVAL_SIGNER",
    )
