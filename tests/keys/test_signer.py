"""Ed25519 behind the port: nothing malformed verifies, and the key never shows."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.errors import ApprovalError
from silas.keys import Ed25519Signer, Signer, import_public_key, verify_with
from silas.testing.approval import FakeSigner, a_signer

RFC8032: list[dict[str, str]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "approval.json").read_text()
)["rfc8032"]

# libsodium's list of points of small order and their other encodings.
SMALL_ORDER = [
    "00" * 32,
    "01" + "00" * 31,
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]


@pytest.mark.proves("S5.8-KEYPAIR")
@pytest.mark.parametrize("vector", RFC8032, ids=lambda v: f"{len(v['message']) // 2} bytes")
def test_the_vectors_of_rfc_8032(vector: dict[str, str]) -> None:
    signer = Ed25519Signer.from_seed(bytes.fromhex(vector["seed"]))
    message, signature = bytes.fromhex(vector["message"]), bytes.fromhex(vector["signature"])
    assert signer.public_key == vector["public_key"]
    assert signer.sign(message) == signature
    assert signer.verify(message, signature)
    assert verify_with(vector["public_key"], message, signature)


@pytest.fixture(params=["real", "fake"])
def signer(request: pytest.FixtureRequest) -> Signer:
    return a_signer() if request.param == "real" else FakeSigner()


@pytest.mark.proves("S5.8-KEYPAIR", "S5.8-WRONG-SIGNATURE")
def test_a_signature_is_for_exactly_these_bytes(signer: Signer) -> None:
    signature = signer.sign(b"data")
    assert len(signature) == 64
    assert len(bytes.fromhex(signer.public_key)) == 32
    assert signer.verify(b"data", signature)
    assert not signer.verify(b"data!", signature)
    assert not signer.verify(b"", signature)


@pytest.mark.proves("S5.8-WRONG-SIGNATURE")
@given(data=st.binary(max_size=50), signature=st.binary(max_size=80))
def test_random_bytes_are_no_signature_and_no_error(data: bytes, signature: bytes) -> None:
    assert not a_signer().verify(data, signature)
    assert not verify_with(a_signer().public_key, data, signature)


MALFORMED: list[Any] = ["text", None, 7, [1], "ab" * 32]


@pytest.mark.proves("S5.8-WRONG-SIGNATURE")
@pytest.mark.parametrize("bad", MALFORMED)
def test_what_is_not_even_bytes_does_not_verify(bad: Any) -> None:
    signature = a_signer().sign(b"data")
    assert not a_signer().verify(bad, signature)
    assert not verify_with(a_signer().public_key, bad, signature)
    if isinstance(bad, str):
        assert not a_signer().verify(b"data", bad)  # pyright: ignore[reportArgumentType] - the point of the test


@pytest.mark.proves("S5.8-WRONG-SIGNATURE")
def test_a_signature_and_its_message_cannot_be_split_elsewhere() -> None:
    signature = a_signer().sign(b"data")
    assert not a_signer().verify(b"ata", signature + b"d")
    assert not a_signer().verify(b"data", signature[:63])


@pytest.mark.proves("S5.8-WRONG-SIGNATURE")
def test_another_encoding_of_the_same_signature_is_refused() -> None:
    signature = a_signer().sign(b"data")
    order = 2**252 + 27742317777372353535851937790883648493
    s = int.from_bytes(signature[32:], "little")
    others = [s + k * order for k in range(1, 16) if s + k * order < 2**256]
    assert len(others) >= 14
    for other in others:
        assert not a_signer().verify(b"data", signature[:32] + other.to_bytes(32, "little"))


P = 2**255 - 19
SIGN = 1 << 255


def encoded(number: int) -> str:
    """32 little-endian bytes in hex; bit 255 is the sign of x."""
    return number.to_bytes(32, "little").hex()


# A y of p or more is a second spelling of a smaller one: p to 2^255 - 1, with either sign.
NOT_CANONICAL = [encoded(y | sign) for y in range(P, 2**255) for sign in (0, SIGN)]
# For y = 1 and y = -1 x is 0, which has no negative.
MINUS_ZERO = [encoded(1 | SIGN), encoded((P - 1) | SIGN)]
BAD_POINTS = [*SMALL_ORDER, *NOT_CANONICAL, *MINUS_ZERO, "02" + "00" * 31, "ff" * 32]


@pytest.mark.parametrize("point", BAD_POINTS)
def test_a_public_key_that_would_verify_forgeries_is_not_imported(point: str) -> None:
    with pytest.raises(ApprovalError) as raised:
        import_public_key(point)
    assert raised.value.code == "E_APPROVAL_KEY"
    assert not verify_with(point, b"data", bytes.fromhex("01" + "00" * 63))


@pytest.mark.parametrize("text", ["", "ab", "zz" * 32, "ab" * 33, " " + "ab" * 31 + " "])
def test_what_is_no_public_key_is_not_imported(text: str) -> None:
    with pytest.raises(ApprovalError):
        import_public_key(text)
    assert not verify_with(text, b"data", bytes(64))


def test_an_imported_key_is_written_in_one_way() -> None:
    key = a_signer().public_key
    assert import_public_key(key.upper()) == import_public_key(key) == key


@pytest.mark.proves("S5.8-KEYPAIR")
def test_generated_keys_differ() -> None:
    assert Ed25519Signer.generate().public_key != Ed25519Signer.generate().public_key


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_seed_has_thirty_two_bytes(length: int) -> None:
    with pytest.raises(ApprovalError):
        Ed25519Signer.from_seed(bytes(length))


@pytest.mark.proves("S5.8-KEY-NEVER-SHOWN")
def test_the_private_key_never_shows() -> None:
    seed = bytes(range(32))
    signer = Ed25519Signer.from_seed(seed)
    shown = f"{signer} {signer!r} {[signer]} {dir(signer)}"
    assert seed.hex() not in shown
    assert repr(seed)[2:-1] not in shown
    assert signer.public_key in shown
    assert not hasattr(signer, "__dict__")
    for leak in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="never pickled"):
            leak(signer)
