"""Forgetting nonces that can authorise nothing any more (spec 4.5)."""

from datetime import timedelta

from silas.approval.models import NonceConfig
from silas.approval.port import NonceStore
from silas.clock import Clock


async def prune_regularly(nonces: NonceStore, clock: Clock, config: NonceConfig) -> None:
    """Prune now and then for as long as this runs; cancel it to stop."""
    while True:
        await nonces.prune_expired(clock.now() - timedelta(minutes=config.ttl_minutes))
        await clock.sleep(config.prune_interval_minutes * 60)
