"""Former keys: only what both keys signed, in one unbroken order, makes one."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from silas.errors import ConfigError
from silas.keys import KeyRing, Signer
from silas.keys.key_lock import NoKeyLock
from silas.keys.key_ring import (
    SUCCESSION_DOMAIN,
    Handover,
    Succession,
    digest_of,
    fingerprint,
    succeed,
)
from silas.testing.approval import a_signer

START = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
FIRST, SECOND, THIRD, THIEF = (a_signer(name) for name in ("first", "second", "third", "thief"))


def handover(number: int, running: tuple[str, ...] = ()) -> Handover:
    return Handover(START + timedelta(days=number), 10 * number, f"{number:064}", running)


def two() -> tuple[Succession, ...]:
    one = succeed("owner", FIRST, SECOND, handover(1, ("token-b", "token-a")), ())
    return one, succeed("owner", SECOND, THIRD, handover(2), (one,))


def ring(successions: tuple[Succession, ...], current: Signer = THIRD) -> KeyRing:
    return KeyRing("owner", current.public_key, successions, NoKeyLock())


def test_the_keys_are_known_in_their_order_with_what_ended_their_time() -> None:
    known = ring(two())
    assert known.current == THIRD.public_key
    assert known.public_keys == (FIRST.public_key, SECOND.public_key, THIRD.public_key)
    first, second = known.former
    assert first.retired_at == START + timedelta(days=1)
    assert (first.seq, first.entry_hash) == (10, f"{1:064}")
    assert ring(two()[:1], SECOND).former[0].running == {"token-a", "token-b"}
    assert second.running == set()


def test_a_signature_is_traced_to_the_former_key_that_made_it() -> None:
    known = ring(two())
    for signer, key in ((FIRST, known.former[0]), (SECOND, known.former[1])):
        assert known.signed_by(b"data", signer.sign(b"data")) == key
    assert known.signed_by(b"data", THIRD.sign(b"data")) is None  # in force, so not former
    assert known.signed_by(b"data", THIEF.sign(b"data")) is None
    assert known.signed_by(b"data!", FIRST.sign(b"data")) is None


def test_the_newest_key_has_the_last_word_about_work_under_way() -> None:
    one = succeed("owner", FIRST, SECOND, handover(1, ("token-a", "token-b")), ())
    another = succeed("owner", SECOND, THIRD, handover(2, ("token-b", "token-c")), (one,))
    first, second = ring((one, another)).former
    assert first.running == {"token-b"}
    assert second.running == {"token-b", "token-c"}


def test_a_key_without_a_past_has_no_former_keys() -> None:
    alone = KeyRing.alone(FIRST.public_key)
    assert alone.former == ()
    assert alone.public_keys == (FIRST.public_key,)
    assert alone.signed_by(b"data", FIRST.sign(b"data")) is None


def test_what_two_keys_sign_about_themselves_is_a_signature_over_nothing_else() -> None:
    for succession in two():
        body = succession.body.encode()
        for key, signature in (
            (FIRST, succession.old_signature),
            (SECOND, succession.new_signature),
        ):
            assert not key.verify(body, bytes.fromhex(signature))
    assert SUCCESSION_DOMAIN.endswith(b"\n")


def resigned(one: Succession, old: Signer, new: Signer, **changes: Any) -> Succession:
    """The statement with other facts, signed by whoever is given."""
    body = json.dumps({**json.loads(one.body), **changes}, sort_keys=True, separators=(",", ":"))
    signed = SUCCESSION_DOMAIN + body.encode()
    return Succession(body, old.sign(signed).hex(), new.sign(signed).hex())


def slipped_in(successions: tuple[Succession, ...]) -> tuple[Succession, ...]:
    """A thief of the first key says that his own key came before it."""
    made_up = succeed("owner", THIEF, FIRST, handover(0), ())
    return made_up, *successions


def replaced_by_the_thief(successions: tuple[Succession, ...]) -> tuple[Succession, ...]:
    """A thief of the first key names another successor."""
    return (succeed("owner", FIRST, THIEF, handover(1), ()), successions[1])


FORGERIES: dict[str, Callable[[tuple[Succession, ...]], tuple[Succession, ...]]] = {
    "the first one is missing": lambda s: s[1:],
    "the last one is missing": lambda s: s[:1],
    "they are exchanged": lambda s: (s[1], s[0]),
    "one stands twice": lambda s: (s[0], s[0], s[1]),
    "the old key did not sign": lambda s: (s[0], resigned(s[1], THIEF, THIRD)),
    "the new key did not sign": lambda s: (s[0], resigned(s[1], SECOND, THIEF)),
    "the bodies are exchanged": lambda s: (s[0]._replace(body=s[1].body), s[1]),
    "the moment was edited": lambda s: (
        s[0]._replace(body=s[0].body.replace("2026-01-03", "2026-01-04")),
        s[1],
    ),
    "a former key was slipped in before": slipped_in,
    "a thief of an old key named another successor": replaced_by_the_thief,
    "a thief of two old keys rewrote what was under way": lambda s: (
        resigned(s[0], FIRST, SECOND, running=["token-x"]),
        s[1],
    ),
    "another owner's": lambda s: (s[0], resigned(s[1], SECOND, THIRD, owner="other")),
    "a fact too many": lambda s: (s[0], resigned(s[1], SECOND, THIRD, more=1)),
    "the log went backwards": lambda s: (s[0], resigned(s[1], SECOND, THIRD, seq=10)),
    "a head that is no number": lambda s: (s[0], resigned(s[1], SECOND, THIRD, seq="20")),
    "a head that is true": lambda s: (s[0], resigned(s[1], SECOND, THIRD, seq=True)),
    "a moment without a timezone": lambda s: (
        s[0],
        resigned(s[1], SECOND, THIRD, at="2026-01-04T00:00:00"),
    ),
    "a moment that is none": lambda s: (s[0], resigned(s[1], SECOND, THIRD, at="soon")),
    "an unusable key": lambda s: (s[0], resigned(s[1], SECOND, THIRD, new_key="00" * 32)),
    "a key that returns": lambda s: (*s, succeed("owner", THIRD, FIRST, handover(3), s)),
    "a key that follows itself": lambda s: (*s, succeed("owner", THIRD, THIRD, handover(3), s)),
    "a signature that is none": lambda s: (s[0], s[1]._replace(new_signature="xx")),
    "a body that is none": lambda s: (s[0], s[1]._replace(body="{")),
    "a body with a key twice": lambda s: (
        s[0],
        s[1]._replace(body=s[1].body.replace("{", '{"seq":1,', 1)),
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_or_incomplete_past_is_refused_whole(name: str) -> None:
    forged = FORGERIES[name](two())
    for current in (FIRST, SECOND, THIRD):
        if name == "the last one is missing" and current is SECOND:
            continue  # that is how the ring was before
        with pytest.raises(ConfigError) as raised:
            ring(forged, current)
        assert raised.value.code == "E_CFG_KEY_RING"


def test_each_statement_names_the_one_before_it() -> None:
    one, another = two()
    assert json.loads(one.body)["previous"] == ""
    assert json.loads(another.body)["previous"] == digest_of(one)


def test_a_fingerprint_is_short_and_follows_from_the_key() -> None:
    # computed with sha256sum over the 32 bytes
    assert fingerprint("00" * 32) == "6668 7aad f862 bd77 6c8f c18b 8e9f 8e20"
