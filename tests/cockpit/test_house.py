"""What there is, the first run, devices, and the pages that describe the endpoints."""

import re
import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml

from silas.canonical import canonical_bytes, sha256_hex
from silas.cards.models import SecureInputCard
from silas.channels.web.wire import Proof, command_bytes
from silas.config import load_config
from silas.home.runtime import model_of
from silas.services.doctor.readiness import validate
from silas.testing import FakeSandbox
from silas.testing.tools import exit_result
from tests.cockpit.house import A_SESSION, House, a_house, proof
from tests.cockpit.test_secrets import CANARY, Open
from tests.support.web import PUBLIC, answer, serving, trusting

ENDPOINTS = {
    "/activity": {"get"},
    "/activity/{seq}": {"get"},
    "/answers/{message_id}/stop": {"post"},
    "/metrics/ux": {"get"},
    "/work": {"get"},
    "/work/{work_item_id}": {"get"},
    "/work/{work_item_id}/cancel": {"post"},
    "/work/{work_item_id}/ask": {"post"},
    "/work/{work_item_id}/rest": {"post"},
    "/work/{work_item_id}/undo": {"post"},
    "/stop": {"post"},
    "/resume": {"post"},
    "/tools": {"get"},
    "/workers": {"get"},
    "/memory": {"get", "post"},
    "/memory/{memory_id}": {"post"},
    "/memory/{memory_id}/forget": {"post"},
    "/ahead": {"get"},
    "/goals/{goal_id}/pause": {"post"},
    "/goals/{goal_id}/resume": {"post"},
    "/goals/{goal_id}/run": {"post"},
    "/goals/{goal_id}/narrow": {"post"},
    "/goals/{goal_id}/take-back": {"post"},
    "/approvals/tighten": {"post"},
    "/record/witness": {"post"},
    "/reminders": {"get"},
    "/reminders/read": {"post"},
    "/reminders/shown/{shown_id}": {"post"},
    "/reminders/{reminder_id}/read": {"post"},
    "/reminders/{reminder_id}/cancel": {"post"},
    "/conversations": {"get", "post"},
    "/attachments/{attachment_id}/content": {"get", "post"},
    "/attachments/{attachment_id}/picture": {"get"},
    "/attachments/{attachment_id}/remove": {"post"},
    "/conversations/{conversation_id}/attachments": {"get", "post"},
    "/conversations/search": {"get"},
    "/conversations/{conversation_id}/archive": {"post"},
    "/batches": {"get"},
    "/batches/{batch_id}/files/{number}/picture": {"get"},
    "/batches/{batch_id}/undo": {"post"},
    "/conversations/{conversation_id}/delete": {"post"},
    "/conversations/{conversation_id}/deletion": {"get"},
    "/conversations/{conversation_id}/export": {"get"},
    "/conversations/{conversation_id}/rename": {"post"},
    "/conversations/{conversation_id}/restore": {"post"},
    "/models": {"get", "post"},
    "/models/find": {"post"},
    "/models/key": {"post"},
    "/models/key/check": {"post"},
    "/settings": {"get"},
    "/settings/saved": {"get", "post"},
    "/settings/shown": {"post"},
    "/doctor": {"get"},
    "/showing": {"get"},
    "/showing/ask-again": {"post"},
    "/connections": {"get", "post"},
    "/connections/{name}/change": {"post"},
    "/connections/{name}/remove": {"post"},
    "/connections/{name}/trust": {"post"},
    "/connections/{name}/retry": {"post"},
    "/connections/{name}/distrust": {"post"},
    "/devices": {"get"},
    "/devices/link": {"post"},
    "/devices/{device_id}/name": {"post"},
    "/devices/{device_id}/revoke": {"post"},
    "/persona/state": {"get"},
    "/persona/preset": {"post"},
    "/persona/feedback": {"post"},
    "/persona/tune": {"post"},
    "/onboarding": {"get", "post"},
    "/secrets": {"get", "post"},
    "/secrets/{ref_id}/remove": {"post"},
    "/secrets/{ref_id}": {"post"},
}


async def test_the_document_has_every_endpoint_and_the_page_shows_it_without_scripts() -> None:
    async with a_house() as house:
        document = house.app.openapi()
        assert {path: set(methods) for path, methods in document["paths"].items()} == ENDPOINTS
        for methods in document["paths"].values():
            assert all(operation["summary"] for operation in methods.values())
        page = await house.client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    shown = set(re.findall(r"<h2><code>(\S+) (\S+)</code></h2>", page.text))
    assert shown == {(m.upper(), path) for path, methods in ENDPOINTS.items() for m in methods}
    assert not re.search(r"<script|style=|https?://|\son\w+=", page.text)


def test_every_endpoint_is_on_the_page_about_them() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "cockpit.md").read_text(encoding="utf-8")
    paths = {
        re.sub(r"{\w+_id}", "{id}", path).replace("secrets/{id}", "secrets/{ref_id}")
        for path in ENDPOINTS
    }
    assert sorted(path for path in paths if path not in page) == []


async def test_without_a_session_no_endpoint_answers() -> None:
    async with a_house() as house:
        house.guard.session = None
        for path, methods in ENDPOINTS.items():
            place = re.sub(r"{\w+}", "1", path)
            for method in methods:
                response = await house.client.request(method, place, json={"value": "x" * 20})
                assert response.status_code == 401, (method, path)
                assert response.json()["code"] == "E_CHANNEL_NO_SESSION"
        assert (await house.client.get("/docs")).status_code == 401


async def test_tools_say_how_they_fare_and_workers_what_they_may(tmp_path: Path) -> None:
    folder = tmp_path / "workers"
    folder.mkdir()
    (folder / "reader.worker").write_text("---\nname: reader\ntoolsets: {}\n---\nRead.\n")
    (folder / "broken.worker").write_text("no front matter")
    async with a_house(settings={"workers_dir": str(folder)}) as house:
        tools = {row["name"]: row for row in await house.get("/tools")}
        workers = {row["name"]: row for row in await house.get("/workers")}
    assert tools["shell_exec"]["health"] == "healthy"
    assert "sandbox" in " ".join(tools["shell_exec"]["scopes"])
    assert workers.keys() == {"reader", "broken"}
    assert workers["broken"]["fault"]


async def test_settings_are_facts_in_force_and_no_secret_is_among_them() -> None:
    search = {"provider": "tavily", "api_key": CANARY}
    async with a_house(settings={"search": search}) as house:
        answer = await house.client.get("/settings")
    facts = {
        fact["name"]: fact["value"] for part in answer.json()["parts"] for fact in part["facts"]
    }
    assert facts["does approved work"] == "Silas's built-in answers"
    assert facts["web search"] == "tavily"
    assert facts["autonomy"] == "A2"
    assert CANARY not in answer.text


async def test_the_doctor_names_each_part_and_looks_once_in_a_while() -> None:
    async with a_house() as house:
        first = await house.get("/doctor")
        parts = {finding["part"] for finding in first["findings"]}
        assert {"configuration", "emergency stop", "database", "model for plans"} <= parts
        assert not parts & {"model proxy", "model planner", "gate input_guard"}
        (house.harness.config.data_dir / "silas.db-gone").touch()
        assert await house.get("/doctor") == first
        await house.post("/stop")
        house.harness.clock.advance(11)
        later = await house.get("/doctor")
        await house.signed("/resume")
    stop = next(one for one in later["findings"] if one["part"] == "emergency stop")
    assert (stop["ok"], stop["state"]) == (False, "failed")
    assert (later["ok"], later["words"].split(":")[0]) == (False, "Needs attention")
    witness = next(one for one in later["findings"] if one["part"] == "audit witness")
    assert (witness["ok"], witness["state"]) == (True, "advice")


async def test_the_page_says_of_a_broken_setting_what_the_command_says() -> None:
    gates = {"system": [{"name": "judge", "on": "every_user_message", "provider": "llm"}]}
    async with a_house(settings={"gates": gates}) as house:
        looked = await house.get("/doctor")
        (mine,) = [one for one in looked["findings"] if one["part"] == "gate judge"]
        told = {one.part: one.words for one in await validate(house.harness.config)}
    assert (looked["ok"], mine["state"]) == (False, "failed")
    assert mine["words"] == told["gate judge"]


async def test_memories_are_found_by_their_words_and_nothing_found_says_so() -> None:
    async with a_house() as house:
        nothing = await house.get("/memory", q="the dentist")
        await house.harness.silas.ask("remember that the dentist is called Odile Renard")
        found = await house.get("/memory", q="what is the dentist called")
    assert nothing["memories"] == []
    assert nothing["words"] == "Nothing is remembered that fits."
    (one,) = found["memories"]
    assert (one["text"], one["taint"]) == ("the dentist is called Odile Renard", "owner")


async def test_with_nothing_asked_the_newest_memories_are_shown() -> None:
    async with a_house() as house:
        assert (await house.get("/memory"))["words"] == "Nothing is remembered yet."
        for name in ("Ada", "Odile"):
            await house.harness.silas.ask(f"remember that the dentist is called {name}")
            house.harness.clock.advance(60)
        found = await house.get("/memory", q=" ")
    told = [one["text"] for one in found["memories"]]
    assert told[:2] == [f"the dentist is called {name}" for name in ("Odile", "Ada")]
    assert found["words"] == ""


async def test_the_persona_is_shown_and_a_preset_changes_it_at_once() -> None:
    async with a_house() as house:
        before = await house.get("/persona/state")
        after = (await house.post("/persona/preset", preset="work")).json()
        unknown = await house.post("/persona/preset", preset="hal")
    assert (before["preset"], before["mood_words"]) == ("default", "neutral")
    assert before["presets"] == ["chill", "default", "review", "work"]
    assert before["directives"].startswith("How to speak.")
    assert after["preset"] == "work"
    assert after["axes"]["formality"] == 0.70
    assert after["directives"] != before["directives"]
    assert (unknown.status_code, unknown.json()["code"]) == (400, "E_CFG_PERSONA_PRESET")


@pytest.mark.proves("S8.1-PERSONA-TRUST")
async def test_only_what_the_device_signed_moves_the_baseline_and_the_rest_fades() -> None:
    async with a_house() as house:
        baseline = (await house.get("/persona/state"))["baseline"]
        passing = (await house.post("/persona/feedback", type="too_harsh")).json()
        await house.post("/persona/tune", delta={"humor": 0.4})
        for body in (
            {"delta": {"warmth": 0.1}, "persist_to_baseline": True},
            {"delta": {"warmth": 0.1}, "persist_to_baseline": True, "proof": proof(b"no")},
        ):
            refused = await house.client.post("/persona/tune", json=body)
            assert refused.status_code == 403
        wrong = await house.client.post(
            "/persona/feedback", json={"type": "too_harsh", "proof": proof(b"no")}
        )
        assert wrong.status_code == 403
        unsigned = await house.get("/persona/state")
        lasting = (await house.signed("/persona/feedback", type="too_harsh")).json()
        house.harness.clock.advance(7 * 24 * 3600)
        later = await house.get("/persona/state")
        tuned = await house.signed("/persona/tune", delta={"warmth": 0.1}, persist_to_baseline=True)
    assert passing["axes"]["assertiveness"] == 0.70
    assert unsigned["axes"]["humor"] == 0.80
    assert unsigned["baseline"] == passing["baseline"] == baseline
    assert lasting["baseline"]["assertiveness"] == 0.70
    assert later["axes"] == later["baseline"] == lasting["baseline"]
    assert tuned.json()["baseline"]["warmth"] == 0.60


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "/persona/state", None),
        ("post", "/persona/preset", {"preset": "work"}),
        ("post", "/persona/feedback", {"type": "too_harsh"}),
        ("post", "/persona/tune", {"delta": {"warmth": 0.1}}),
    ],
)
async def test_a_personality_that_is_switched_off_says_so_in_one_sentence(
    method: str, path: str, body: Any
) -> None:
    async with a_house(settings={"personality": {"enabled": False}}) as house:
        response = await house.client.request(method, path, json=body)
    assert response.status_code == 409
    assert response.json()["message"].endswith("in the configuration.")


async def test_devices_are_shown_and_only_a_proof_lets_one_in_or_out() -> None:
    async with a_house() as house:
        shown = await house.get("/devices")
        assert [(one["id"], one["this"]) for one in shown] == [
            ("device-1", True),
            ("device-2", False),
        ]
        assert "public_key" not in shown[0]
        for path in ("/devices/device-2/revoke", "/devices/link"):
            refused = await house.client.post(path, json={"proof": proof(b"no")})
            assert (refused.status_code, refused.json()["code"]) == (403, "E_CHANNEL_PROOF")
        assert house.door.revoked == []
        link = await house.signed("/devices/link")
        assert link.json() == {"link": "http://127.0.0.1:8420/pair#a-fresh-token"}
        assert (await house.signed("/devices/device-2/revoke")).status_code == 200
        assert (await house.signed("/devices/device-9/revoke")).status_code == 404
        made = Proof.model_validate(proof())
        assert house.door.proved[:2] == [
            command_bytes("link", "devices", made),
            command_bytes("revoke", "device-2", made),
        ]
    assert house.door.revoked == ["device-2"]


CHOSEN = {"provider": "openrouter", "name": "Ada", "email": "ada@example.org", "phone": ""}


async def _onboarded(house: House, **chosen: str) -> Any:
    response = await house.signed("/onboarding", **{**CHOSEN, **chosen})
    assert response.status_code == 200, response.text
    return response.json()


async def test_the_first_run_keeps_who_you_are_and_asks_for_the_key_on_a_card() -> None:
    channel = Open()
    async with a_house(channel) as house:
        before = await house.get("/onboarding")
        assert (before["needed"], before["provider"]) == (True, "")
        assert [one["value"] for one in before["providers"]] == ["openrouter", "local", "runbook"]
        assert house.rooms.first_run is True
        after = await _onboarded(house)
        made = Proof.model_validate(proof())
        subject = sha256_hex(canonical_bytes(CHOSEN))
        assert house.door.proved == [command_bytes("onboarding", subject, made)]
        assert (after["needed"], after["key"], after["name"]) == (False, "needed", "Ada")
        assert house.rooms.first_run is False
        kept = house.harness.config.data_dir / "first-run.json"
        assert kept.stat().st_mode & 0o777 == 0o600
        await house.get("/tools")
        stored = await house.post(f"/secrets/{_ref_of(channel)}", value=CANARY)
        assert stored.status_code == 200
        done = await house.get("/onboarding")
        assert (done["key"], done["restart"]) == ("stored", False)
        assert done["in_force"].startswith("openrouter:")
        said = str(await house.said())
    assert "onboarded" in said
    assert "Ada" not in said
    assert "ada@" not in said


def _ref_of(channel: Open) -> str:
    (card,) = channel.cards
    assert isinstance(card, SecureInputCard)
    return card.ref_id


async def test_what_was_chosen_at_the_first_run_answers_from_the_next_start_on(
    tmp_path: Path,
) -> None:
    channel = Open()
    async with a_house(channel, home=tmp_path) as house:
        environ = {"SILAS_HOME": str(tmp_path)}
        await _onboarded(house)
        assert load_config(tmp_path / "config.yaml", environ).models.proxy.name == "runbook"
        await house.get("/tools")
        await house.post(f"/secrets/{_ref_of(channel)}", value=CANARY)
        config = load_config(tmp_path / "config.yaml", environ)
        assert config.models.proxy.name.startswith("openrouter:")
        secrets: dict[str, str] = {"OPENROUTER_API_KEY": CANARY}
        model = model_of(
            config,
            config.models.proxy,
            lambda name: secrets.get(name, ""),
            FakeSandbox(lambda run: exit_result(0)),
        )
        assert model.system == "openrouter"
        (tmp_path / "config.yaml").write_text(
            yaml.safe_dump({"silas": {"models": {"proxy": "runbook"}}})
        )
        assert load_config(tmp_path / "config.yaml", environ).models.proxy.name == "runbook"


def _any_name() -> ssl.SSLContext:
    tls = trusting()
    tls.check_hostname = False  # the tests' certificate is of other names
    return tls


@pytest.mark.parametrize(
    ("status", "stored"), [(200, True), (401, False), (403, False), (500, True), (429, True)]
)
async def test_the_providers_key_is_tried_out_before_it_is_stored(
    status: int, stored: bool
) -> None:
    channel = Open()
    async with serving(lambda asked: answer("{}", status, "application/json")) as site:
        web = site.web({"openrouter.ai": [PUBLIC]}, _any_name)
        async with a_house(channel, web=web) as house:
            await _onboarded(house)
            await house.get("/tools")
            sent = await house.post(f"/secrets/{_ref_of(channel)}", value=CANARY)
            assert (sent.status_code == 200) is stored, sent.text
            assert bool(house.harness.secrets.facts()) is stored
            said = str(await house.said())
    (asked,) = site.asked
    assert asked.line == "GET /api/v1/key HTTP/1.1"
    assert asked.headers["authorization"] == f"Bearer {CANARY}"
    assert "network_opened" in said
    assert CANARY not in said + sent.text


@pytest.mark.parametrize(
    "key", ["two words of it", "sk-or\r\nHost: evil.example", "schlüssel-1234"]
)
async def test_a_key_that_is_none_goes_nowhere(key: str) -> None:
    channel = Open()
    async with (
        serving(lambda asked: answer("{}")) as site,
        a_house(channel, web=site.web({"openrouter.ai": [PUBLIC]}, _any_name)) as house,
    ):
        await _onboarded(house)
        await house.get("/tools")
        sent = await house.post(f"/secrets/{_ref_of(channel)}", value=key)
        assert sent.status_code == 400
        assert key not in sent.text
    assert site.asked == []


@pytest.mark.parametrize(
    "chosen",
    [{"provider": "nobody"}, {"name": "x" * 201}, {"sender_id": "owner"}, {"provider": ""}],
)
async def test_choices_that_there_are_not_are_refused(chosen: dict[str, str]) -> None:
    async with a_house() as house:
        response = await house.signed("/onboarding", **{**CHOSEN, **chosen})
        assert response.status_code == 400
        assert (await house.get("/onboarding"))["needed"] is True


async def test_the_first_run_needs_a_proof_of_these_very_choices() -> None:
    async with a_house(Open()) as house:
        body = {**CHOSEN, "proof": proof(b"no")}
        assert (await house.client.post("/onboarding", json=body)).status_code == 403
        house.guard.session = A_SESSION.model_copy(update={"level": "auth"})
        assert (await house.signed("/onboarding", **CHOSEN)).status_code == 403
        assert not (house.harness.config.data_dir / "first-run.json").exists()


async def test_a_local_model_is_said_to_be_named_where_one_chooses_who_answers() -> None:
    async with a_house() as house:
        after = await _onboarded(house, provider="local")
    assert (after["key"], after["restart"]) == ("none", False)
    assert after["words"] == "Name your server under More, Who answers."
