"""How much may come in, and that counting it costs no more memory than was meant (spec 18.5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.audit.refusals import RefusalRecord
from silas.channels.web.limits import WebLimits, address_of
from silas.testing import MockClock
from silas.testing.stores import MemoryAudit
from silas.token_buckets import MOST_BUCKETS, TokenBuckets


def test_a_full_bucket_is_a_minutes_worth_and_fills_evenly() -> None:
    clock = MockClock()
    buckets = TokenBuckets(60, clock)
    assert [buckets.take("a") for _ in range(62)] == [True] * 60 + [False] * 2
    assert buckets.take("b")
    clock.advance(1)
    assert [buckets.take("a") for _ in range(2)] == [True, False]
    clock.advance(3600)
    assert [buckets.take("a") for _ in range(62)] == [True] * 60 + [False] * 2


@given(
    per_minute=st.integers(1, 50),
    steps=st.lists(st.one_of(st.none(), st.floats(0, 30)), max_size=150),
)
def test_never_more_pass_than_a_bucket_and_what_came_back_meanwhile(
    per_minute: int, steps: list[float | None]
) -> None:
    clock = MockClock()
    buckets = TokenBuckets(per_minute, clock)
    passed = 0
    for step in steps:
        if step is None:
            passed += buckets.take("a")
        else:
            clock.advance(step)
    assert passed <= per_minute * (1 + clock.monotonic() / 60) + 1e-6


def test_callers_without_number_share_one_bucket_and_push_nobody_out() -> None:
    clock = MockClock()
    buckets = TokenBuckets(2, clock)
    assert [buckets.take("owner") for _ in range(3)] == [True, True, False]
    granted = sum(buckets.take(f"10.{n}") for n in range(3 * MOST_BUCKETS))
    assert len(buckets) <= MOST_BUCKETS
    assert granted <= MOST_BUCKETS + 2
    assert not buckets.take("owner")
    clock.advance(60)
    assert buckets.take("somebody new")
    assert len(buckets) <= 2
    assert buckets.take("owner")


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("127.0.0.1", 1), "127.0.0.1"),
        (["10.0.0.1", 1], "10.0.0.1"),
        (("::ffff:10.0.0.1", 1), "10.0.0.1"),
        (("2001:db8:1:2:3:4:5:6", 1), "2001:db8:1:2::/64"),
        (("2001:db8:1:2:ffff::1", 1), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 1), "fe80::/64"),
        (("testclient", 1), "unknown"),
        (("/run/silas.sock", 0), "unknown"),
        ((), "unknown"),
        (None, "unknown"),
    ],
)
def test_a_limit_is_for_an_address_or_a_network_of_one_subscriber(
    client: object, address: str
) -> None:
    assert address_of(client) == address


def test_each_limit_says_what_ran_out() -> None:
    limits = WebLimits(2, 3, MockClock())
    assert [limits.message("s", "a") for _ in range(3)] == ["", "", "messages of one browser"]
    assert [limits.message("t", "a") for _ in range(2)] == ["", "messages from one address"]
    assert [limits.request("a") for _ in range(31)][-1] == "requests from one address"
    assert limits.session_request("a") == ""
    assert [limits.session_request("a") for _ in range(30)][-1] == "requests of one browser"
    assert [limits.pairing("a") for _ in range(11)][-1] == "tries to pair from one address"
    others = [limits.pairing(f"b{n // 10}") for n in range(25)]
    assert others[19:] == [""] + ["tries to pair"] * 5


async def test_a_flood_of_refusals_hides_no_other_event_and_none_is_uncounted() -> None:
    audit, clock = MemoryAudit(), MockClock()
    record = RefusalRecord(audit, clock)
    for number in range(500):
        await record.note("web.refused", "no session", f"10.0.0.{number % 50}")
    await record.note("pairing.refused", "used link", "")
    clock.advance(61)
    await record.note("web.refused", "no session", "10.0.0.1")
    assert audit.events() == ["web.refused"] * 30 + ["pairing.refused", "web.refused"]
    assert sum(data["unsaid"] for _, data in audit.entries) == 502 - 32
