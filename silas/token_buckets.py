"""How much may be done a minute: a bucket of tokens for each caller (spec 18.5)."""

from math import inf
from typing import NamedTuple

from silas.clock import Clock

MOST_BUCKETS = 4096
"""Buckets of one kind; callers beyond them share one, so that nobody can fill the memory."""

_SHARED = ""
_SWEEP_SECONDS = 1.0  # a full table is searched for idle buckets no oftener than this
_ROUNDING = 1e-9


class _Bucket(NamedTuple):
    tokens: float
    at: float


class TokenBuckets:
    """A bucket for each caller: full at first, one token a message, refilled evenly.

    Args:
        per_minute: How many tokens a bucket holds, and gets back in a minute.
        clock: Only its monotonic time counts.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._most = float(per_minute)
        self._rate = per_minute / 60.0
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._swept = -_SWEEP_SECONDS

    def take(self, caller: str) -> bool:
        """Whether there was a token left for this caller; then it is gone."""
        now = self._clock.monotonic()
        key = self._key(caller, now)
        tokens = self._tokens_left(self._buckets.get(key), now)
        granted = tokens >= 1.0 - _ROUNDING
        self._buckets[key] = _Bucket(tokens - 1.0 if granted else tokens, now)
        return granted

    def seconds_to_next(self, caller: str) -> float:
        """How long until this caller has a token; 0 where there is one, infinite where never."""
        now = self._clock.monotonic()
        missing = 1.0 - self._tokens_left(self._buckets.get(self._key(caller, now)), now)
        if missing <= _ROUNDING:
            return 0.0
        return missing / self._rate if self._rate else inf

    def __len__(self) -> int:
        """How many buckets there are."""
        return len(self._buckets)

    def _tokens_left(self, bucket: _Bucket | None, now: float) -> float:
        if bucket is None:
            return self._most
        return min(self._most, bucket.tokens + (now - bucket.at) * self._rate)

    def _key(self, caller: str, now: float) -> str:
        if caller in self._buckets or len(self._buckets) < MOST_BUCKETS - 1:
            return caller
        if now - self._swept >= _SWEEP_SECONDS:
            self._swept = now
            full = [k for k, b in self._buckets.items() if self._tokens_left(b, now) >= self._most]
            for key in full:  # a full bucket is as good as none
                del self._buckets[key]
        return caller if len(self._buckets) < MOST_BUCKETS - 1 else _SHARED
