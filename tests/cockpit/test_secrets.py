"""Secrets on a path of their own: asked for, stored once, and seen nowhere (spec 0.5, 8.1)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from silas.cards import Card
from silas.cards.models import SecureInputAnswer, SecureInputCard
from silas.channels.web.wire import inbound
from silas.errors import DatabaseError
from silas.testing import ScriptedChannel
from tests.cockpit.house import House, a_house, proof

CANARY = "sk-or-v1-canary-5f0c9d1e"


class Open(ScriptedChannel):
    """Keeps the form for a secret open until the test closes it."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = asyncio.Event()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        self.cards.append(card)
        if isinstance(card, SecureInputCard):
            await self.closed.wait()
            return SecureInputAnswer(ref_id=card.ref_id, success=True)
        return card.safe


@asynccontextmanager
async def asked(label: str = "NOTION_TOKEN") -> AsyncGenerator[tuple[House, str, Open]]:
    """A house that waits for one secret."""
    channel = Open()
    async with a_house(channel) as house:
        answer = await house.signed("/secrets", label=label)
        assert answer.status_code == 200, answer.text
        yield house, answer.json()["ref_id"], channel


@pytest.mark.proves("S0.5-SECRETS-OUT-OF-BAND")
async def test_a_secret_is_stored_in_the_vault_and_the_answer_says_only_that() -> None:
    async with asked() as (house, ref_id, _):
        stored = await house.post(f"/secrets/{ref_id}", value=CANARY)
        assert (stored.status_code, stored.json()) == (200, {"stored": True})
        vault = house.harness.secrets
        assert [(one.name, one.ref_id) for one in vault.facts()] == [("NOTION_TOKEN", ref_id)]
        assert vault.values(frozenset({ref_id})) == {ref_id: ("NOTION_TOKEN", CANARY)}


@pytest.mark.proves("S5.10.1-PENDING-ONLY")
async def test_only_what_is_waited_for_has_a_place_and_only_once() -> None:
    async with asked() as (house, ref_id, _):
        unknown = await house.post("/secrets/ref_" + "0" * 32, value=CANARY)
        assert (unknown.status_code, unknown.json()["code"]) == (404, "E_CFG_SECRET_UNKNOWN")
        both = await asyncio.gather(
            house.post(f"/secrets/{ref_id}", value=CANARY),
            house.post(f"/secrets/{ref_id}", value="another-value-of-it"),
        )
        assert sorted(one.status_code for one in both) == [200, 409]
        late = await house.post(f"/secrets/{ref_id}", value="a-third-value")
        assert (late.status_code, late.json()["code"]) == (409, "E_CFG_SECRET_STORED")
        assert len(house.harness.secrets.facts()) == 1


async def test_a_form_that_was_closed_takes_nothing_any_more() -> None:
    async with asked() as (house, ref_id, channel):
        channel.closed.set()
        await asyncio.sleep(0)
        await house.get("/tools")
        response = await house.post(f"/secrets/{ref_id}", value=CANARY)
        assert response.status_code == 404
        assert house.harness.secrets.facts() == ()


async def test_a_secret_is_in_no_answer_no_record_and_no_file(tmp_path: Path) -> None:
    async with asked() as (house, ref_id, _):
        refused = [
            await house.post(f"/secrets/{ref_id}", value=CANARY, more=1),
            await house.post(f"/secrets/{ref_id}", wrong=CANARY),
            await house.post(f"/secrets/{ref_id}", value=[CANARY]),
            await house.client.post(f"/secrets/{ref_id}", content=f'{{"value": "{CANARY}'),
            await house.client.post(f"/secrets/{ref_id}", content=CANARY * 9000),
            await house.client.post(f"/secrets/{CANARY * 10}", json={"value": CANARY}),
            await house.post("/secrets/ref_unknown", value=CANARY),
            await house.post("/secrets", label=CANARY),
            await house.post("/work/x/undo", proof=CANARY),
            await house.post("/onboarding", provider=CANARY, proof=proof()),
        ]
        assert all(400 <= one.status_code < 500 for one in refused)
        stored = await house.post(f"/secrets/{ref_id}", value=CANARY)
        answers = [*refused, stored]
        for path in ("/activity?all=1&last=200", "/settings", "/tools", "/doctor", "/onboarding"):
            answers.append(await house.client.get(path))
        assert not [one.text for one in answers if CANARY in one.text]
        home = house.harness.home
    held = [path for path in home.rglob("*") if path.is_file() and _holds(path, CANARY)]
    assert held == []


def _holds(path: Path, text: str) -> bool:
    return text.encode() in path.read_bytes()


@pytest.mark.proves("S5.10.1-SECRET-ENDPOINT")
async def test_the_record_names_the_reference_alone() -> None:
    async with asked() as (house, ref_id, _):
        await house.post(f"/secrets/{ref_id}", value=CANARY)
        (said,) = [one for one in await house.said() if one["event"] == "secret_stored"]
    assert said["data"] == {"ref_id": ref_id}


async def test_what_cannot_be_recorded_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(event: str, **data: Any) -> str:
        raise DatabaseError("The disk is full.", code="E_DB_OPERATION")

    async with asked() as (house, ref_id, _):
        with monkeypatch.context() as patch:
            patch.setattr(house.parts.audit, "log", full)
            refused = await house.post(f"/secrets/{ref_id}", value=CANARY)
        assert refused.status_code == 503
        assert house.harness.secrets.facts() == ()
        assert (await house.post(f"/secrets/{ref_id}", value=CANARY)).status_code == 200


async def test_what_is_stored_is_out_of_sight_at_once() -> None:
    async with asked() as (house, ref_id, _):
        await house.post(f"/secrets/{ref_id}", value=CANARY)
        await house.harness.silas.audit.log("plan_unreadable", reason=f"it says {CANARY}")
        shown = await house.client.get("/activity")
        assert "it says" in shown.text
        assert CANARY not in shown.text


@pytest.mark.parametrize("label", ["", "no name", "1st", "a" * 65, "NOTION_TOKEN"])
async def test_a_name_that_cannot_be_had_is_refused_before_anybody_types(label: str) -> None:
    async with asked() as (house, _, channel):
        refused = await house.signed("/secrets", label=label)
        assert refused.status_code in (400, 409)
        assert len(channel.cards) == 1


async def test_asking_for_a_secret_needs_a_proof() -> None:
    channel = Open()
    async with a_house(channel) as house:
        refused = await house.client.post(
            "/secrets", json={"label": "NOTION_TOKEN", "proof": proof(b"no")}
        )
        assert refused.status_code == 403
        assert channel.cards == []


@pytest.mark.proves("S8.1-SECRET-HTTPS")
async def test_over_a_network_a_secret_is_taken_encrypted_only() -> None:
    async with asked() as (house, ref_id, _):
        path, body = f"http://silas.example:8420/secrets/{ref_id}", {"value": CANARY}
        plain = await house.client.post(path, json=body)
        assert (plain.status_code, plain.json()["code"]) == (403, "E_CHANNEL_PLAIN")
        plainer = await house.client.post(path, json=body, headers={"Origin": "http://https:"})
        assert plainer.status_code == 403
        assert house.harness.secrets.facts() == ()
        safe = await house.client.post(path.replace("http:", "https:"), json=body)
        assert safe.status_code == 200


@pytest.mark.proves("S0.5-SECRETS-NOT-IN-MESSAGES")
async def test_no_message_has_room_for_a_secret() -> None:
    frame = {"type": "secure_input_completed", "ref_id": "ref_1", "success": True}
    assert inbound.validate_python(frame)
    for more in ({"value": CANARY}, {"success": CANARY}, {"secret": CANARY}):
        with pytest.raises(ValidationError):
            inbound.validate_python({**frame, **more})
    async with asked() as (house, ref_id, channel):
        await house.post(f"/secrets/{ref_id}", value=CANARY)
        assert CANARY not in str(channel.cards)
        assert CANARY not in str(channel.sent)


async def test_a_value_that_cannot_be_kept_can_be_sent_again() -> None:
    async with asked() as (house, ref_id, _):
        short = await house.post(f"/secrets/{ref_id}", value="short")
        assert (short.status_code, short.json()["code"]) == (400, "E_CFG_SECRET")
        assert (await house.post(f"/secrets/{ref_id}", value=CANARY)).status_code == 200
