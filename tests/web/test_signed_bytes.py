"""What a device signs is, to the byte, what Silas checks; the page's own code, in a browser."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from silas.canonical import canonical_json
from silas.cards import ChannelMessage, message_bytes
from silas.channels.web.wire import (
    BatchReviewResponse,
    DecisionResponse,
    Proof,
    command_bytes,
    decision_bytes,
)
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import NewDevice

pytestmark = in_a_browser

_LETTERS = (
    "aZ09 \t\n\r\x00\x1f\x7f\x80\"\\/<>&'éß€\u2028\u2029\ufeff\ud7ff漢字😀🏳\U0010ffff\u200d\u0301"
)
_WHOLE = (0, 1, -1, 2**53 - 1, 2**53, 2**53 + 1, -(2**63), 2**64, 10**30)
_BROKEN = (
    *(0.0, -0.0, 0.1, 1.0, -1.5, 1e15, 1e16, 1e17, 123456789012345680.0, 1e-4, 1e-5, 1.5e-7),
    *(5e-324, 1.7976931348623157e308, 2.5, 1 / 3, 100.0, 1e22, 1e21, 0.00001234, 65535.000001),
)


def _values(chance: random.Random, depth: int = 3) -> Any:
    """A JSON value with everything in it that two languages might write differently."""
    kind = chance.randrange(8 if depth else 5)
    match kind:
        case 0:
            return chance.choice((None, True, False))
        case 1:
            return chance.choice(_WHOLE)
        case 2:
            return chance.choice(_BROKEN)
        case 3:
            return chance.uniform(-1, 1) * 10 ** chance.randrange(-20, 20)
        case 4:
            return _text(chance)
        case 5 | 6:
            return {_text(chance): _values(chance, depth - 1) for _ in range(chance.randrange(6))}
        case _:
            return [_values(chance, depth - 1) for _ in range(chance.randrange(6))]


def _text(chance: random.Random) -> str:
    return "".join(chance.choice(_LETTERS) for _ in range(chance.randrange(8)))


async def test_the_page_writes_json_as_silas_does(cockpit: Cockpit, new_device: NewDevice) -> None:
    chance = random.Random(8420)
    values = [_values(chance) for _ in range(1500)]
    page = await _page(cockpit, new_device)
    written = await page.evaluate(
        """async (texts) => {
          const { canonicalJson, readJson } = await import('/static/canonical.js');
          return texts.map((text) => canonicalJson(readJson(text)));
        }""",
        [json.dumps(value) for value in values],
    )
    assert written == [canonical_json(value) for value in values]


_MOMENTS = tuple(
    datetime(2026, 11, 22, 7, 40, 59, tzinfo=UTC) + timedelta(milliseconds=ms)
    for ms in (0, 1, 120, 123, 999, 59_001, 86_400_000)
)
_NONCE = "0123456789abcdef" * 4


def _proof(at: datetime) -> Proof:
    return Proof(timestamp=at, nonce=_NONCE, signature=b"0" * 64)


async def test_the_page_signs_the_bytes_that_silas_checks(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    page = await _page(cockpit, new_device)
    ours: list[bytes] = []
    asked: list[list[Any]] = []
    for kind, arguments, data in _signed():
        asked.append([kind, *arguments])
        ours.append(data)
    made: list[list[int]] = await page.evaluate(
        """async ([nonce, asked]) => {
          const keys = await import('/static/keys.js');
          const { isoFormat } = await import('/static/canonical.js');
          return asked.map(([kind, ...rest]) => {
            const at = isoFormat(rest.pop());
            return [...keys[kind](...rest, at, rest.length ? nonce : '')];
          });
        }""",
        [_NONCE, asked],
    )
    assert [bytes(one) for one in made] == ours


def _signed() -> Iterator[tuple[str, list[Any], bytes]]:
    """Name of the page's function, its arguments with the moment last, and the bytes."""
    for at in _MOMENTS:
        ms = at.timestamp() * 1000
        for text in ("fix it", "größer\n\x7f\u2028 “😀” \\"):
            said = ChannelMessage(channel="web", sender_id="owner", text=text, timestamp=at)
            yield "messageBytes", [text, ms], message_bytes(said, _NONCE)
        yield "commandBytes", ["undo", "task-1", ms], command_bytes("undo", "task-1", _proof(at))
        for answer in (
            DecisionResponse(
                type="decision_response",
                request_id="ask-1",
                selected_value=None,
                freetext="doch: ß",
                proof=_proof(at),
            ),
            BatchReviewResponse(
                type="batch_review_response",
                request_id="ask-2",
                verdict="edit_selection",
                selected_item_ids=("b", "a"),
                proof=_proof(at),
            ),
        ):
            frame = answer.model_dump(mode="json", exclude={"proof"})
            yield "decisionBytes", [frame, "d" * 64, ms], decision_bytes(answer, "d" * 64)


async def _page(cockpit: Cockpit, new_device: NewDevice) -> Any:
    device = await new_device(cockpit.origin)
    await device.page.goto(f"{cockpit.origin}/pair")
    return device.page
