"""Devices of the owner's: only a real key that still counts signs for them."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from silas.db import Database
from silas.errors import ApprovalError, DatabaseError
from silas.keys import Ed25519Signer
from silas.keys.devices import MOST_DEVICES, DeviceKeys
from silas.testing import MockClock
from silas.testing.approval import a_signer

SMALL_ORDER = (
    "00" * 32,
    "01" + "00" * 31,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "silas.db", MockClock())
    database.migrate("silas.keys")
    yield database
    database.close()


@pytest.fixture
def devices(db: Database) -> DeviceKeys:
    return DeviceKeys(db, MockClock())


def public(signer: Ed25519Signer) -> bytes:
    return bytes.fromhex(signer.public_key)


def test_what_any_device_signs_counts_and_what_a_stranger_signs_does_not(
    devices: DeviceKeys,
) -> None:
    phone, laptop, stranger = a_signer("phone"), a_signer("laptop"), a_signer("stranger")
    for name, key in (("phone", phone), ("laptop", laptop)):
        devices.add(name, public(key))
    assert devices.verify(b"yes", phone.sign(b"yes"))
    assert devices.verify(b"yes", laptop.sign(b"yes"))
    assert not devices.verify(b"yes", stranger.sign(b"yes"))
    assert not devices.verify(b"no", phone.sign(b"yes"))
    assert not devices.verify(b"yes", b"")


def test_a_signature_is_one_devices_and_not_anothers(devices: DeviceKeys) -> None:
    phone = devices.add("phone", public(a_signer("phone")))
    laptop = devices.add("laptop", public(a_signer("laptop")))
    signature = a_signer("phone").sign(b"yes")
    assert devices.signed_by(phone.id, b"yes", signature)
    assert not devices.signed_by(laptop.id, b"yes", signature)
    assert not devices.signed_by("device-0", b"yes", signature)


@pytest.mark.parametrize(
    "key", [*map(bytes.fromhex, SMALL_ORDER), b"", b"k" * 31, b"k" * 33, b"\xff" * 32]
)
def test_a_key_that_would_verify_forgeries_or_is_none_is_not_enrolled(
    devices: DeviceKeys, key: bytes
) -> None:
    with pytest.raises(ApprovalError) as refused:
        devices.add("phone", key)
    assert refused.value.code == "E_APPROVAL_KEY"
    assert not devices.list()


def test_a_revoked_devices_signatures_count_no_more_at_once_in_another_process_too(
    db: Database, devices: DeviceKeys
) -> None:
    elsewhere, key = DeviceKeys(db, MockClock()), a_signer("phone")
    phone = devices.add("phone", public(key))
    assert devices.verify(b"yes", key.sign(b"yes"))
    elsewhere.revoke(phone.id)
    assert not devices.verify(b"yes", key.sign(b"yes"))
    assert not devices.signed_by(phone.id, b"yes", key.sign(b"yes"))
    revoked = devices.revoke(phone.id)
    assert revoked.revoked_at is not None
    assert revoked == elsewhere.get(phone.id)


def test_a_revoked_key_never_comes_back(db: Database, devices: DeviceKeys) -> None:
    key = public(a_signer("phone"))
    phone = devices.add("phone", key)
    devices.revoke(phone.id)
    with pytest.raises(ApprovalError) as refused:
        devices.add("phone again", key)
    assert refused.value.code == "E_APPROVAL_DEVICE_REVOKED"
    for change in (
        "UPDATE devices SET revoked_at = NULL",
        f"UPDATE devices SET public_key = '{'ab' * 32}'",
        "DELETE FROM devices",
    ):
        with pytest.raises(DatabaseError), db.write() as tx:
            tx.driver.execute(change)


def test_a_device_that_comes_again_stays_the_device_it_was(devices: DeviceKeys) -> None:
    key = public(a_signer("phone"))
    first = devices.add("phone", key)
    assert devices.add("my phone", key) == first._replace(name="my phone")
    assert [device.name for device in devices.list()] == ["my phone"]


def test_a_device_without_a_key_signs_nothing(devices: DeviceKeys) -> None:
    old = devices.add("an old browser", None)
    assert devices.add("another", None).id != old.id
    assert not devices.verify(b"yes", a_signer().sign(b"yes"))
    assert not devices.signed_by(old.id, b"yes", a_signer().sign(b"yes"))
    assert devices.get(old.id) == old
    assert old.public_key == ""


def test_there_are_not_endlessly_many_devices_and_revoking_one_makes_room(
    devices: DeviceKeys,
) -> None:
    made = [devices.add(f"browser {n}", None) for n in range(MOST_DEVICES)]
    with pytest.raises(ApprovalError) as refused:
        devices.add("one more", None)
    assert refused.value.code == "E_APPROVAL_DEVICES"
    devices.revoke(made[0].id)
    assert devices.add("one more", None).name == "one more"


@pytest.mark.parametrize("name", ["", "device-0", "' OR 1=1 --"])
def test_a_device_that_is_not_there_cannot_be_revoked(devices: DeviceKeys, name: str) -> None:
    devices.add("phone", None)
    with pytest.raises(ApprovalError) as refused:
        devices.revoke(name)
    assert refused.value.code == "E_APPROVAL_DEVICE"
    assert devices.get(name) is None
    assert all(cast(object, device.revoked_at) is None for device in devices.list())
