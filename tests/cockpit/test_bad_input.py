"""Whatever is sent to an endpoint, the answer is a sentence: no traceback, no echo, no effect."""

import json
import re
from typing import Any

import httpx
import pytest

from tests.cockpit.house import House, a_house, proof
from tests.cockpit.test_house import ENDPOINTS

MARK = "zq7-mark-of-what-was-sent"
NAMES = (MARK, "x" * 500, "%00", "a%0ab", "💥", "' OR 1=1")
DEEP = "[" * 20_000 + "]" * 20_000
POSTS = sorted(path for path, methods in ENDPOINTS.items() if "post" in methods)
HARMLESS = {
    *("/conversations", "/stop"),
    *(f"/work/{{work_item_id}}/{name}" for name in ("cancel", "ask", "rest")),
}
"""They read no body, so nothing in one can be wrong."""

BODIES: list[bytes] = [
    b"",
    b"null",
    b"[]",
    b'"text"',
    b"\xff\xfe",
    b"{",
    DEEP.encode(),
    json.dumps({"proof": None, MARK: 1}).encode(),
    json.dumps({"proof": {"timestamp": "then", "nonce": MARK, "signature": MARK}}).encode(),
    json.dumps({"proof": {**proof(), "nonce": "short"}}).encode(),
    json.dumps({"proof": {**proof(), "timestamp": "2026-11-22T07:40:59"}}).encode(),
    json.dumps({"proof": {**proof(), "signature": "no base64"}}).encode(),
    json.dumps({"proof": proof(), "extra": MARK}).encode(),
    json.dumps({"provider": 1, "label": MARK * 9, "preset": "", "delta": {"warmth": 9}}).encode(),
    b'{"delta": {"warmth": NaN}, "value": NaN, "proof": NaN}',
    json.dumps({"value": "\ud800" + MARK}).encode(),
    json.dumps({"value": {"nested": MARK}}).encode(),
]


async def test_a_body_that_does_not_fit_is_refused_in_one_sentence() -> None:
    """What is refused changes nothing, so all of it is sent to one house."""
    async with a_house() as house:
        failures = [
            one for path in POSTS if path not in HARMLESS for one in await _sent(house, path)
        ]
    assert not failures


@pytest.mark.parametrize("path", sorted(HARMLESS))
async def test_a_body_that_nobody_reads_changes_nothing_else(path: str) -> None:
    async with a_house() as house:
        assert not await _sent(house, path)


async def test_a_wrong_method_or_name_is_refused_in_one_sentence() -> None:
    failures: list[str] = []
    async with a_house() as house:
        for path, methods in ENDPOINTS.items():
            wrong = "post" if methods == {"get"} else "get"
            asked = [(wrong, "1")] if wrong not in methods else []
            if "{" in path:
                asked += [(method, name) for name in NAMES for method in methods]
            for method, name in asked:
                body = {"proof": proof()} if method in methods else None
                place = re.sub(r"{\w+}", name, path)
                response = await house.client.request(method, place, json=body)
                if why := _no_sentence(response):
                    failures.append(f"{method} {place}: {why}")
    assert not failures


async def _sent(house: House, path: str) -> list[str]:
    """Send each body to an endpoint; what is wrong with the answers, and what they changed."""
    place, failures = re.sub(r"{\w+}", "1", path), list[str]()
    for body in BODIES:
        sent = await house.client.post(
            place, content=body, headers={"Content-Type": "application/json"}
        )
        if path in HARMLESS and sent.status_code == 200:
            continue
        if why := _no_sentence(sent):
            failures.append(f"{path}, {body[:40]!r}: {why}")
        if MARK in sent.text:
            failures.append(f"{path}, {body[:40]!r} is repeated: {sent.text}")
    kept = (house.door.proved, house.door.revoked, [*house.harness.secrets.facts()])
    if any(kept) or (house.harness.config.data_dir / "first-run.json").exists():
        failures.append(f"{path} had an effect: {kept}")
    return failures


def _no_sentence(answer: httpx.Response) -> str:
    """Why an answer is not a refusal in one sentence; empty where it is."""
    told = f"{answer.status_code} {answer.text}"
    if not 400 <= answer.status_code < 500:
        return told
    said: dict[str, Any] = json.loads(answer.text)
    fits = (
        said.keys() == {"code", "message"}
        and re.fullmatch(r"E_[A-Z]+(_[A-Z]+)+", said["code"])
        and 10 < len(said["message"]) < 300
        and (said["message"].endswith(".") or "silas status" in said["message"])
        and "Traceback" not in answer.text
    )
    return "" if fits else told
