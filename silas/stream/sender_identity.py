"""Who said it: the owner by signature, a known channel identity, or nobody we know (step 2)."""

from collections.abc import Callable
from datetime import timedelta

from silas.approval.nonces import NonceStore
from silas.audit import Audit
from silas.cards import ChannelMessage, message_bytes
from silas.clock import Clock
from silas.errors import ApprovalError, SilasError
from silas.stream.models import Incoming
from silas.types import OWNER, TaintLevel, new_nonce

FRESHNESS = timedelta(minutes=5)
"""How old or how far ahead a signed message's timestamp may be (spec 5.1 step 2)."""

TERMINAL = "cli"  # the channel of `silas chat`: one terminal, one owner

SignMessage = Callable[[bytes], bytes]
"""Signs the owner's message bytes; whoever holds this speaks as the owner."""

VerifyOwner = Callable[[bytes, bytes], bool]
"""Whether a signature over these bytes is the owner's."""


class SenderIdentity:
    """Classifies messages; a replayed or stale owner signature makes them external, on record."""

    def __init__(
        self,
        verify_owner: VerifyOwner,
        nonces: NonceStore,
        audit: Audit,
        clock: Clock,
        known_channels: frozenset[str],
    ) -> None:
        self._verify_owner = verify_owner
        self._nonces = nonces
        self._audit = audit
        self._clock = clock
        self._known_channels = known_channels

    async def taint_of(self, incoming: Incoming) -> TaintLevel:
        """The message's trust level; consumes its nonce when it is the owner's."""
        message = incoming.message
        if incoming.signature and self._verify_owner(
            message_bytes(message, incoming.nonce), incoming.signature
        ):
            reason = await self._replay(incoming)
            if reason:
                await self._audit.log(
                    "message_replayed", connection_id=incoming.connection_id, reason=reason
                )
                return TaintLevel.external
            return TaintLevel.owner
        if incoming.signature:
            await self._audit.log("message_signature_bad", connection_id=incoming.connection_id)
            return TaintLevel.external
        return TaintLevel.auth if message.channel in self._known_channels else TaintLevel.external

    async def _replay(self, incoming: Incoming) -> str:
        """Why this signature does not count again; empty when it is fresh, and then it is spent."""
        said = incoming.message.timestamp
        if abs(self._clock.now() - said) > FRESHNESS or not await self._nonces.remembers(said):
            return "stale"
        try:
            await self._nonces.record("msg", incoming.nonce)
        except ApprovalError:
            return "nonce already used"
        return ""


def attest_owner(sign: SignMessage, incoming: Incoming) -> Incoming:
    """What the owner types at the terminal is the owner's, as what `ask` is given is."""
    message = incoming.message
    if incoming.signature or (message.channel, message.sender_id) != (TERMINAL, OWNER):
        return incoming
    nonce = new_nonce()
    try:
        signature = sign(message_bytes(message, nonce))
    except SilasError:  # a signer apart is away: heard, and not as the owner's
        return incoming
    return Incoming(message, incoming.connection_id, signature, nonce, incoming.workspace)


class TypedWords:
    """Whose words were typed in answer to a card: as if they were a message on the same channel.

    Args:
        channel: Its name.
        sign: Signs what is typed at the owner's terminal.
        sign_in: Says whose a message is.
        clock: For its time.
    """

    def __init__(
        self, channel: str, sign: SignMessage, sign_in: SenderIdentity, clock: Clock
    ) -> None:
        self._channel = channel
        self._sign = sign
        self._sign_in = sign_in
        self._clock = clock

    async def taint_of(self, text: str) -> TaintLevel:
        """The trust level of a message of these words from here and now."""
        said = ChannelMessage(
            channel=self._channel, sender_id=OWNER, text=text, timestamp=self._clock.now()
        )
        return await self._sign_in.taint_of(attest_owner(self._sign, Incoming(said, OWNER)))
