"""Whatever is sent to an endpoint, the answer is a sentence: no traceback, no echo, no effect."""

import json
import re
from typing import Any

import pytest

from tests.cockpit.house import a_house, proof
from tests.cockpit.test_house import ENDPOINTS

MARK = "zq7-mark-of-what-was-sent"
DEEP = "[" * 20_000 + "]" * 20_000
POSTS = sorted(path for path, methods in ENDPOINTS.items() if "post" in methods)
HARMLESS = {"/conversations", "/stop", "/work/{work_item_id}/cancel", "/work/{work_item_id}/ask"}
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


@pytest.mark.parametrize("path", POSTS)
async def test_a_body_that_does_not_fit_is_refused_in_one_sentence(path: str) -> None:
    place = re.sub(r"{\w+}", "1", path)
    async with a_house() as house:
        for body in BODIES:
            sent = await house.client.post(
                place, content=body, headers={"Content-Type": "application/json"}
            )
            if path in HARMLESS and sent.status_code == 200:
                continue
            _is_a_sentence(sent.status_code, sent.text)
            assert MARK not in sent.text
        assert house.door.proved == []
        assert house.door.revoked == []
        assert house.harness.secrets.facts() == ()
        assert not (house.harness.config.data_dir / "first-run.json").exists()


@pytest.mark.parametrize("path", sorted(ENDPOINTS))
async def test_a_wrong_method_or_name_is_refused_in_one_sentence(path: str) -> None:
    async with a_house() as house:
        wrong = "post" if ENDPOINTS[path] == {"get"} else "get"
        if wrong not in ENDPOINTS[path]:
            place = re.sub(r"{\w+}", "1", path)
            response = await house.client.request(wrong, place)
            _is_a_sentence(response.status_code, response.text)
        if "{" in path:
            for name in (MARK, "x" * 500, "%00", "a%0ab", "💥", "' OR 1=1"):
                place = re.sub(r"{\w+}", name, path)
                for method in ENDPOINTS[path]:
                    response = await house.client.request(method, place, json={"proof": proof()})
                    _is_a_sentence(response.status_code, response.text)


def _is_a_sentence(status: int, text: str) -> None:
    assert 400 <= status < 500, text
    said: dict[str, Any] = json.loads(text)
    assert said.keys() == {"code", "message"}
    assert re.fullmatch(r"E_[A-Z]+(_[A-Z]+)+", said["code"]), said
    assert 10 < len(said["message"]) < 300
    assert said["message"].endswith(".") or "silas status" in said["message"]
    assert "Traceback" not in text
