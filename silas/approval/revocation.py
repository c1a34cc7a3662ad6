"""Taking an approval back (spec 5.11): no key is needed to have less authority."""

from silas.approval.models import ApprovalToken
from silas.approval.port import NonceStore
from silas.audit.models import Audit


async def revoke(token: ApprovalToken, nonces: NonceStore, audit: Audit) -> bool:
    """Take back an approval: no use of it begins any more, and what is under way ends at its next
    effect, which looks again.

    Returns:
        False where it was taken back before.

    Raises:
        DatabaseError: It could not be recorded; the approval stands.
    """

    def witness() -> None:
        audit.log_now("approval.revoked", token_id=token.token_id, work_item_id=token.work_item_id)

    return await nonces.revoke(token.token_id, token.expires_at, witness)
