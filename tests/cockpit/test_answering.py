"""Who answers is changed from the cockpit: at once, on a signed yes, written down, or not."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from silas.agents.choice import ModelChoice, ModelsConfig
from silas.canonical import canonical_json
from silas.cards import Card
from silas.cards.models import DecisionCard
from silas.channels.web.wire import Proof, command_bytes
from silas.config import load_config
from silas.testing import ScriptedChannel
from tests.cockpit.house import House, a_house, proof
from tests.cockpit.test_secrets import CANARY, Open

LOCAL = {"provider": "local", "name": "tiny", "server": "http://127.0.0.1:8099/v1"}
BUILT_IN = ModelChoice(name="runbook")
TINY = ModelChoice(name="tiny", base_url="http://127.0.0.1:8099/v1")
RUNBOOK = {"provider": "runbook", "name": "", "server": ""}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a configuration as people write it."""
    text = (
        "silas:\n  # mine\n  sandbox: { tools: { discover: false } }\n"
        "  scheduler: { timezone: Europe/Vienna }\n"
    )
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    return tmp_path


class Deciding(ScriptedChannel):
    """Answers the card about who answers when the test says how."""

    def __init__(self) -> None:
        super().__init__()
        self.shown = asyncio.Event()
        self.decided: asyncio.Future[str] = asyncio.get_event_loop().create_future()
        self.told = asyncio.Event()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        self.cards.append(card)
        self.shown.set()
        wanted = await self.decided
        return next(one.value for one in card.actions if one.role == wanted)

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        await super().send(recipient_id, text, reply_to)
        self.told.set()


def _distinct(models: ModelsConfig) -> list[ModelChoice]:
    every = [choice for _, choice in models]
    return [one for at, one in enumerate(every) if one not in every[:at]]


def in_force(house: House) -> list[ModelChoice]:
    return _distinct(house.parts.models.choices())


def written(home: Path) -> list[ModelChoice]:
    return _distinct(load_config(home / "config.yaml", {"SILAS_HOME": str(home)}).models)


async def _proposed(house: House, channel: Deciding) -> DecisionCard:
    answer = await house.signed("/models", **LOCAL)
    assert (answer.status_code, answer.json()["asks"]) == (200, True), answer.text
    await channel.shown.wait()
    (card,) = channel.cards
    assert isinstance(card, DecisionCard)
    return card


async def test_a_server_answers_after_a_yes_and_the_file_says_so(home: Path) -> None:
    channel = Deciding()
    async with a_house(channel, home=home) as house:
        card = await _proposed(house, channel)
        made = Proof.model_validate(proof())
        assert house.door.proved == [command_bytes("models", canonical_json(LOCAL), made)]
        shown = [line for part in card.details for line in part.lines]
        assert "models:" in shown
        assert any("http://127.0.0.1:8099/v1" in line for line in shown)
        assert (await house.get("/models"))["asks"] is True
        assert written(home) == in_force(house) == [BUILT_IN]
        channel.decided.set_result("recommended")
        await channel.told.wait()
        assert in_force(house) == written(home) == [TINY]
        after = await house.get("/models")
        assert (after["provider"], after["roles"][0]["model"]) == ("local", "tiny")
        back = await house.signed("/models", **RUNBOOK)
        assert back.json() == {
            "asks": False,
            "words": "From now on you get Silas's built-in answers.",
        }
        assert in_force(house) == written(home) == [BUILT_IN]
        said = await house.said()
    text = (home / "config.yaml").read_text(encoding="utf-8")
    assert text.startswith("silas:\n")
    assert "# mine" in text
    assert (home / "config.yaml.bak").exists()
    assert [one["data"]["provider"] for one in said if one["event"] == "models_chosen"] == [
        "local",
        "runbook",
    ]


async def test_a_no_changes_nothing_and_a_second_question_waits_for_the_first(home: Path) -> None:
    channel = Deciding()
    async with a_house(channel, home=home) as house:
        await _proposed(house, channel)
        again = await house.signed("/models", **LOCAL)
        assert (again.status_code, again.json()["code"]) == (409, "E_CFG_MODEL_BUSY")
        channel.decided.set_result("decline")
        await house.rooms.close()
        assert in_force(house) == written(home) == [BUILT_IN]
    assert not (home / "config.yaml.bak").exists()


async def test_nobody_takes_the_model_away_from_what_is_under_way(home: Path) -> None:
    channel = Deciding()
    async with a_house(channel, home=home) as house:
        await _proposed(house, channel)
        assert house.session.stream._backpressure.enter("owner")  # pyright: ignore[reportPrivateUsage]
        channel.decided.set_result("recommended")
        await channel.told.wait()
        assert "Something is under way" in channel.texts[-1]
        assert in_force(house) == written(home) == [BUILT_IN]
        refused = await house.signed("/models", **RUNBOOK)
        assert refused.status_code == 409


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"server": "ftp://127.0.0.1"}, "Write the server's address like"),
        ({"server": "http://me:secret@127.0.0.1/v1"}, "Write the server's address like"),
        ({"server": "http://${HOST}/v1"}, "Write the server's address like"),
        ({"name": " "}, "Name the model"),
        ({"name": "python:os:system"}, "Name the model"),
        ({"provider": "openrouter"}, "OpenRouter needs a key"),
    ],
)
async def test_what_cannot_answer_is_refused_in_one_sentence(
    home: Path, wrong: dict[str, str], words: str
) -> None:
    async with a_house(home=home) as house:
        refused = await house.signed("/models", **{**LOCAL, **wrong})
        assert refused.status_code == 400
        assert refused.json()["message"].startswith(words)
        assert "secret" not in refused.json()["message"]
        assert house.harness.channel.cards == []  # type: ignore[attr-defined]
        assert written(home) == [BUILT_IN]


@pytest.mark.parametrize("path", ["/models", "/models/find", "/models/key", "/models/key/check"])
async def test_what_is_not_signed_changes_nothing(home: Path, path: str) -> None:
    async with a_house(home=home) as house:
        body = RUNBOOK if path == "/models" else {}
        refused = await house.client.post(path, json={**body, "proof": proof(b"no")})
        assert refused.status_code == 403
        assert (await house.client.post(path, json=body)).status_code == 400
        assert not (home / "config.yaml.bak").exists()


async def _keep(house: House, channel: Open, value: str) -> None:
    asked = await house.signed("/models/key")
    assert asked.status_code == 200, asked.text
    await house.get("/tools")
    stored = await house.post(f"/secrets/{asked.json()['ref_id']}", value=value)
    assert stored.status_code == 200, stored.text


async def test_a_key_is_kept_unchecked_replaced_and_removed_with_who_used_it(home: Path) -> None:
    channel = Open()
    async with a_house(channel, home=home) as house:
        await house.signed(
            "/onboarding", provider="openrouter", name="", email="", phone=""
        )  # its key is asked for
        await house.get("/tools")
        (first,) = channel.cards
        ref_id = getattr(first, "ref_id", "")
        assert (await house.post(f"/secrets/{ref_id}", value=CANARY)).status_code == 200
        before = (await house.get("/models"))["key"]
        assert before == {"place": "stored", "ref_id": ref_id, "checked_at": "", "refused": False}
        await _keep(house, channel, "sk-or-v1-another-key-of-mine")
        after = (await house.get("/models"))["key"]
        assert after["ref_id"] not in ("", ref_id)
        vault = house.harness.secrets
        kept = vault.values(frozenset({after["ref_id"]}))[after["ref_id"]]
        assert kept == ("OPENROUTER_API_KEY", "sk-or-v1-another-key-of-mine")
        assert vault.refs() == {after["ref_id"]}
        told = (await house.signed("/models/key/check")).json()["words"]
        assert told == "OpenRouter could not be asked, so the key is not checked."
        assert (await house.get("/models"))["provider"] == "openrouter"
        gone = await house.signed(f"/secrets/{after['ref_id']}/remove")
        assert gone.status_code == 200, gone.text
        assert (await house.get("/models"))["provider"] == "runbook"
        role = (await house.get("/models"))["roles"][0]
        assert role["model"] == "Silas's built-in answers"
        assert in_force(house) == written(home) == [BUILT_IN]
        nothing = await house.signed("/models/key/check")
        assert nothing.json()["message"] == "There is no key to check; enter one first."
