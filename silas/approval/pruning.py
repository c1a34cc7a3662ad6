"""Forgetting nonces that can authorise nothing any more (spec 4.5)."""

from datetime import timedelta

from silas.approval.effective import EffectiveClock
from silas.approval.models import NonceConfig
from silas.approval.port import NonceStore


async def prune_regularly(nonces: NonceStore, time: EffectiveClock, config: NonceConfig) -> None:
    """Prune now and then for as long as this runs; cancel it to stop.

    Nothing is forgotten on the strength of a clock that jumped or went back (decision B19).
    """
    while True:
        if time.may_forget():
            await nonces.prune_expired(time.now() - timedelta(minutes=config.ttl_minutes))
        await time.sleep(config.prune_interval_minutes * 60)
