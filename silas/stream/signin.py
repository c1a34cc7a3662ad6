"""Who said it: the owner by signature, a known channel identity, or nobody we know (step 2)."""

from collections.abc import Callable
from datetime import timedelta

from silas.approval.nonces import NonceStore
from silas.audit import Audit
from silas.cards import message_bytes
from silas.clock import Clock
from silas.errors import ApprovalError
from silas.stream.models import Incoming
from silas.types import TaintLevel

FRESHNESS = timedelta(minutes=5)
"""How old or how far ahead a signed message's timestamp may be (spec 5.1 step 2)."""

VerifyOwner = Callable[[bytes, bytes], bool]
"""Whether a signature over these bytes is the owner's."""


class SignIn:
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
