"""Forgetting nonces that can authorise nothing any more (spec 4.5)."""

from datetime import timedelta

from silas.approval.effective_clock import EffectiveClock
from silas.approval.models import NonceConfig
from silas.approval.port import NonceStore


async def prune_nonces(nonces: NonceStore, time: EffectiveClock, config: NonceConfig) -> None:
    """Forget what is over; nothing on the strength of a clock that jumped or went back (B19)."""
    if time.may_forget():
        await nonces.prune_expired(time.now() - timedelta(minutes=config.ttl_minutes))
