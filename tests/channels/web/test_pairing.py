"""Who is let in by a link, and what of a device's hand counts (decisions B6, B7)."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silas.channels.web.pairing import ENROL_DOMAIN, FRESHNESS, set_cookie
from silas.channels.web.session import WebSession
from silas.channels.web.sessions import LinkState
from silas.channels.web.wire import (
    ApprovalResponse,
    DecisionResponse,
    Proof,
    command_bytes,
    decision_bytes,
)
from silas.db import Database
from silas.errors import ChannelError, DatabaseError
from silas.keys import Ed25519Signer
from silas.keys.devices import MOST_DEVICES
from silas.testing.approval import a_signer
from silas.types import new_nonce
from tests.support.door import BASE, House, a_house
from tests.support.waits import SECONDS

OWNER = WebSession(id="s", device_id="d", device="n", level="owner")


async def refused(house: House, token: str, *, key: bool = True, **changes: object) -> str:
    """The code with which a try to pair is refused."""
    signer = a_signer("thief")
    given = {
        "public_key": bytes.fromhex(signer.public_key) if key else None,
        "signature": signer.sign(ENROL_DOMAIN + token.encode()) if key else None,
        **changes,
    }
    with pytest.raises(ChannelError) as error:
        await house.door.pair(token, "thief", **given)  # pyright: ignore[reportArgumentType]
    return error.value.code


async def test_a_link_pairs_a_browser_and_enrols_its_key(house: House) -> None:
    link = await house.door.link(BASE)
    address, _, token = link.partition("#")
    assert (address, len(token)) == (f"{BASE}/pair", 64)
    browser = await house.browser("Firefox\x1b[2J on\u202e a phone" + "!" * 100)
    session = browser.paired.session
    assert session.level == "owner"
    assert session.device.startswith("Firefox [2J on a phone!!")
    assert len(session.device) <= 64
    assert house.door.session(browser.paired.cookie) == session
    assert house.door.page_ok(session, browser.paired.page_token)
    assert house.keys.verify(b"yes", browser.key.sign(b"yes"))
    [facts] = house.door.devices()
    assert (facts.id, facts.level, facts.revoked) == (session.device_id, "owner", False)
    assert facts.seen_at == facts.paired_at == house.clock.now()


async def test_a_pairing_link_works_once_and_a_second_use_names_who_had_it(house: House) -> None:
    token = await house.token()
    first = await house.door.pair(token, "the owner's phone", None, None)
    with pytest.raises(ChannelError) as error:
        await house.door.pair(token, "thief", None, None)
    assert error.value.code == "E_CHANNEL_PAIRING_USED"
    assert "the owner's phone" in error.value.message
    assert f"silas devices revoke {first.session.device_id}" in error.value.message
    assert house.reasons("pairing.refused") == ["used link"]
    assert await refused(house, token) == "E_CHANNEL_PAIRING_USED"
    assert len(house.door.devices()) == 1


async def test_of_two_processes_with_one_link_one_pairs(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, faster = await house.token(), await house.keyless()
    sessions = house.door._sessions  # pyright: ignore[reportPrivateUsage]
    look = sessions.link

    def slowly(token: str) -> LinkState:
        """Both have seen that the link is good; the other one uses it first."""
        monkeypatch.undo()
        found = look(token)
        assert sessions.use_link(token, faster.session.device_id)
        return found

    monkeypatch.setattr(sessions, "link", slowly)
    with pytest.raises(ChannelError) as error:
        await house.door.pair(token, "late", None, None)
    assert error.value.code == "E_CHANNEL_PAIRING_USED"
    assert [facts.id for facts in house.door.devices()] == [faster.session.device_id]


async def test_an_expired_link_lets_nobody_in(house: House) -> None:
    token = await house.token()
    house.clock.advance(10 * 60 - 1)
    kept = await house.token()
    house.clock.advance(1)
    assert await refused(house, token) == "E_CHANNEL_PAIRING_LINK"
    assert (await house.door.pair(kept, "a phone", None, None)).session.level == "auth"
    assert house.reasons("pairing.refused") == ["expired link"]


@given(token=st.one_of(st.text(max_size=80), st.text("0123456789abcdef", min_size=64, max_size=64)))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_a_guessed_link_lets_nobody_in(tmp_path: Path, token: str) -> None:
    with a_house(tmp_path) as house:
        await house.token()
        with pytest.raises(ChannelError) as error:
            await house.door.pair(token, "thief", None, None)
        assert error.value.code == "E_CHANNEL_PAIRING_LINK"
        assert house.door.devices() == []


async def test_who_pairs_must_hold_the_key_and_a_refused_try_uses_nothing_up(house: House) -> None:
    token, other, mine = await house.token(), await house.token(), a_signer("mine")
    public = bytes.fromhex(mine.public_key)
    proof = mine.sign(ENROL_DOMAIN + token.encode())
    for key, signature in (
        (public, None),
        (None, proof),
        (public, a_signer("thief").sign(ENROL_DOMAIN + token.encode())),
        (public, mine.sign(ENROL_DOMAIN + other.encode())),
        (public, mine.sign(token.encode())),
        (b"\x00" * 32, b"\x00" * 64),
        (b"", b""),
    ):
        code = await refused(house, token, public_key=key, signature=signature)
        assert code == "E_CHANNEL_PAIRING_KEY"
    assert house.door.devices() == []
    assert (await house.door.pair(token, "mine", public, proof)).session.level == "owner"


async def test_from_another_machine_the_link_is_not_enough(tmp_path: Path) -> None:
    web = {"host": "0.0.0.0", "auth_token": "correct horse", "allowed_hosts": ["silas.example"]}
    with a_house(tmp_path, **web) as house:
        token = await house.token()
        for given in ("", "wrong", "correct horse "):
            assert await refused(house, token, auth_token=given) == "E_CHANNEL_PAIRING_AUTH"
        assert house.reasons("pairing.refused") == ["no auth_token", "wrong auth_token"]
        assert house.door.devices() == []
        browser = await house.door.pair(token, "a phone", None, None, "correct horse")
        assert house.door.session(browser.cookie) == browser.session


async def test_where_there_are_too_many_devices_the_link_is_not_used_up(house: House) -> None:
    for _ in range(MOST_DEVICES - 1):
        await house.keyless()
    last = await house.keyless()
    token = await house.token()
    assert await refused(house, token, public_key=None, signature=None) == "E_CHANNEL_PAIRING_FULL"
    await house.door.revoke(last.session.device_id)
    assert (await house.door.pair(token, "a phone", None, None)).session.device == "a phone"


async def test_nothing_that_lets_somebody_in_is_kept_anywhere(house: House) -> None:
    token = await house.token()
    browser = await house.browser()
    await house.token()
    with house.db.read() as tx:
        dump = "\n".join(tx.driver.iterdump())
    kept = dump + repr(house.audit.entries)
    assert browser.paired.session.device_id in kept
    for secret in (token, browser.paired.cookie, browser.paired.page_token):
        assert secret not in kept


async def test_every_pairing_begins_a_session_of_its_own_and_ends_the_devices_old_one(
    house: House,
) -> None:
    first = await house.browser()
    ended: list[str] = []
    house.door.on_ended(ended.append)
    token, public = await house.token(), bytes.fromhex(first.key.public_key)
    again = await house.door.pair(
        token, "a phone", public, first.key.sign(ENROL_DOMAIN + token.encode())
    )
    assert again.session.device_id == first.paired.session.device_id
    assert not {first.paired.cookie, first.paired.page_token} & {again.cookie, again.page_token}
    assert house.door.session(first.paired.cookie) is None
    assert house.door.session(again.cookie) == again.session
    assert ended == [first.paired.session.id]


@pytest.mark.parametrize("cookie", [None, "", "x", "' OR 1=1 --", "\ud800", "0" * 5000])
async def test_a_cookie_that_was_never_given_out_is_nobodys(
    house: House, cookie: str | None
) -> None:
    browser = await house.browser()
    assert house.door.session(cookie) is None
    assert not house.door.page_ok(browser.paired.session, cookie or "")


async def test_one_sessions_page_token_is_not_anothers(house: House) -> None:
    one, other = await house.browser(), await house.browser()
    assert not house.door.page_ok(one.paired.session, other.paired.page_token)
    assert not house.door.page_ok(one.paired.session, one.paired.cookie)
    assert not house.door.page_ok(OWNER, one.paired.page_token)


async def test_a_session_that_is_used_lasts_ninety_days(
    house: House,
) -> None:
    browser = await house.browser()
    for day in range(90):
        assert house.door.session(browser.paired.cookie) is not None, day
        house.clock.advance(timedelta(days=1).total_seconds())
    assert house.door.session(browser.paired.cookie) is None
    assert not house.door.alive(browser.paired.session)


async def test_an_unused_session_ends_after_thirty_days(house: House) -> None:
    browser = await house.browser()
    house.clock.advance(30 * 24 * 3600)
    assert house.door.session(browser.paired.cookie) is None
    assert not house.door.page_ok(browser.paired.session, browser.paired.page_token)


async def test_a_revoked_device_is_out_at_once_and_sockets_are_told(house: House) -> None:
    browser, other = await house.browser("lost"), await house.browser("kept")
    session, ended = browser.paired.session, list[str]()
    house.door.on_ended(ended.append)
    data, proof = browser.proof("undo", "task-1", house.clock)
    await house.door.revoke(session.device_id)
    assert house.door.session(browser.paired.cookie) is None
    assert not house.door.page_ok(session, browser.paired.page_token)
    assert not house.door.alive(session)
    assert await house.door.prove(session, data, proof) == "the session has ended"
    assert not house.keys.verify(data, proof.signature)
    assert ended == [session.id]
    assert house.door.session(other.paired.cookie) == other.paired.session
    assert [facts.revoked for facts in house.door.devices()] == [True, False]
    await house.door.revoke(session.device_id)
    assert house.audit.events().count("device.revoked") == 1


async def test_what_another_process_revokes_is_revoked_here(house: House) -> None:
    browser = await house.browser()
    data, proof = browser.proof("undo", "task-1", house.clock)
    await house.another_process().revoke(browser.paired.session.device_id)
    assert house.door.session(browser.paired.cookie) is None
    assert await house.door.prove(browser.paired.session, data, proof)


async def test_a_device_that_is_not_there_cannot_be_revoked(house: House) -> None:
    with pytest.raises(ChannelError) as error:
        await house.door.revoke("device-0")
    assert (error.value.code, "silas devices list" in error.value.message) == (
        "E_CHANNEL_DEVICE",
        True,
    )


async def test_a_revoked_key_cannot_be_paired_again_but_a_new_one_can_with_the_same_link(
    house: House,
) -> None:
    browser = await house.browser()
    await house.door.revoke(browser.paired.session.device_id)
    token = await house.token()
    signature = browser.key.sign(ENROL_DOMAIN + token.encode())
    public = bytes.fromhex(browser.key.public_key)
    code = await refused(house, token, public_key=public, signature=signature)
    assert code == "E_CHANNEL_PAIRING_KEY"
    assert (await house.door.pair(token, "anew", None, None)).session.device == "anew"


async def test_a_proof_counts_once(house: House) -> None:
    browser = await house.browser()
    data, proof = browser.proof("undo", "task-1", house.clock)
    assert await house.door.prove(browser.paired.session, data, proof) == ""
    assert await house.door.prove(browser.paired.session, data, proof) == "it was used before"
    again = house.another_process()
    assert await again.prove(browser.paired.session, data, proof) == "it was used before"
    assert house.reasons("proof.refused") == ["it was used before", "it was used before"]


@pytest.mark.parametrize(
    ("late", "counts"),
    [(0, True), (300, True), (301, False), (-300, True), (-301, False), (86400, False)],
)
async def test_a_stale_proof_does_not_count(house: House, late: float, counts: bool) -> None:
    assert timedelta(minutes=5) == FRESHNESS
    browser = await house.browser()
    data, proof = browser.proof("undo", "task-1", house.clock, late=late)
    assert (await house.door.prove(browser.paired.session, data, proof) == "") is counts


async def test_a_proof_is_about_one_thing(house: House) -> None:
    """A signature for one card or command, sent along with another one, does nothing."""
    browser = await house.browser()
    data, proof = browser.proof("undo", "task-1", house.clock)
    session = browser.paired.session
    yes = ApprovalResponse(
        type="approval_response", request_id="r-1", verdict="approved", proof=proof
    )
    for other in (
        command_bytes("undo", "task-2", proof),
        command_bytes("resume", "task-1", proof),
        decision_bytes(yes, "ab" * 32),
        data + b" ",
        b"",
    ):
        assert await house.door.prove(session, other, proof)
    signed = browser.key.sign(decision_bytes(yes, "ab" * 32))
    card = proof.model_copy(update={"signature": signed})
    assert await house.door.prove(session, decision_bytes(yes, "cd" * 32), card)
    assert await house.door.prove(session, decision_bytes(yes, "ab" * 32), card) == ""


async def test_a_proof_of_anothers_hand_does_not_count(house: House) -> None:
    phone, laptop, keyless = await house.browser(), await house.browser(), await house.keyless()
    data, proof = phone.proof("undo", "task-1", house.clock)
    stranger = proof.model_copy(update={"signature": Ed25519Signer.generate().sign(data)})
    assert await house.door.prove(phone.paired.session, data, stranger)
    assert await house.door.prove(laptop.paired.session, data, proof)
    assert await house.door.prove(keyless.session, data, proof) == "this device has no key"
    claimed = keyless.session.model_copy(update={"level": "owner"})
    assert await house.door.prove(claimed, data, proof)
    assert await house.door.prove(phone.paired.session, data, proof) == ""


async def test_a_proof_that_is_not_bound_to_its_nonce_does_not_count(house: House) -> None:
    """Else a signature could be sent again under another nonce for ever."""
    browser = await house.browser()
    data, proof = browser.proof("undo", "task-1", house.clock)
    for changes in (
        {"nonce": new_nonce()},
        {"timestamp": proof.timestamp + timedelta(seconds=1)},
        {"nonce": '","x":"yyyyyyyyyyyyyyy'},
    ):
        other = proof.model_copy(update=changes)
        why = await house.door.prove(browser.paired.session, data, other)
        assert why == "it is not about its own nonce"
    words = f'"nonce":"{(fresh := new_nonce())}","timestamp":"{proof.timestamp.isoformat()}"'
    bare = Proof(timestamp=proof.timestamp, nonce=new_nonce(), signature=b"")
    said = DecisionResponse(type="decision_response", request_id="r", freetext=words, proof=bare)
    inside = decision_bytes(said, "ab" * 32)
    forged = Proof(timestamp=proof.timestamp, nonce=fresh, signature=browser.key.sign(inside))
    assert await house.door.prove(browser.paired.session, inside, forged)


@given(st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
async def test_a_proof_with_one_byte_changed_anywhere_does_not_count(
    house: House, draw: st.DataObject
) -> None:
    browser = await house.known_browser()
    data, proof = browser.proof("undo", "task-1", house.clock)
    place = draw.draw(st.integers(0, len(data) + len(proof.signature) - 1))
    both = bytearray(data + proof.signature)
    both[place] ^= draw.draw(st.integers(1, 255))
    changed, signature = bytes(both[: len(data)]), bytes(both[len(data) :])
    forged = proof.model_copy(update={"signature": signature})
    assert await house.door.prove(browser.paired.session, changed, forged)


async def test_of_the_same_proof_twice_at_the_same_moment_one_counts(house: House) -> None:
    browser, other = await house.browser(), house.another_process()
    data, proof = browser.proof("undo", "task-1", house.clock)
    doors = (house.door, other, house.door, other)
    tries = [door.prove(browser.paired.session, data, proof) for door in doors]
    found = await asyncio.wait_for(asyncio.gather(*tries), SECONDS)
    assert sorted(found) == ["", *["it was used before"] * 3]


async def test_a_refused_proof_uses_no_nonce_up(house: House) -> None:
    phone, laptop = await house.browser(), await house.browser()
    data, proof = phone.proof("undo", "task-1", house.clock)
    bad = proof.model_copy(update={"signature": b"\x00" * 64})
    assert await house.door.prove(phone.paired.session, data, bad)
    mine, same = laptop.proof("undo", "task-1", house.clock, nonce=proof.nonce)
    assert await house.door.prove(laptop.paired.session, mine, same) == ""
    assert await house.door.prove(phone.paired.session, data, proof) == ""


async def test_what_cannot_be_recorded_does_not_count_and_lets_nobody_in(
    tmp_path: Path,
) -> None:
    with a_house(tmp_path) as house:
        browser, token = await house.browser(), await house.token()
        data, proof = browser.proof("undo", "task-1", house.clock)
        blocker = Database(house.db.path, house.clock)
        with house.db.write() as tx:
            tx.driver.execute("PRAGMA busy_timeout=0")
        with blocker.write():
            with pytest.raises(DatabaseError):
                await house.door.prove(browser.paired.session, data, proof)
            with pytest.raises(DatabaseError):
                await house.door.pair(token, "thief", None, None)
        blocker.close()
        assert len(house.door.devices()) == 1
        assert await house.door.prove(browser.paired.session, data, proof) == ""


def test_the_cookie_is_for_the_browser_alone_and_for_our_pages_alone() -> None:
    plain = set_cookie("silas_session_1", "abc", secure=False)
    assert plain == "silas_session_1=abc; Max-Age=7776000; Path=/; HttpOnly; SameSite=Strict"
    assert set_cookie("silas_session_1", "abc", secure=True) == f"{plain}; Secure"
