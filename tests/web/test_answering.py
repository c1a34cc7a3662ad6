"""Who answers, changed under More as its owner does it: found, tried, said yes to, in force."""

import json
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.agents.openai_server import openai_server
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, refusing_port
from tests.web.support.device import PHONE, SIZES, Device, NewDevice, Size

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)

_ANSWER = {
    "route": "direct",
    "reason": "it is a greeting",
    "response": {"message": "Good day from the small model."},
    "interaction_register": "status",
    "context_profile": "conversation",
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose configuration is written as people write it."""
    made = Home(tmp_path)
    made.write_by_hand()
    return made


async def _at(device: Device, name: str) -> Locator:
    await device.goes_to("more")
    await device.page.locator(f"#more-body a[href='#/more/{name}']").click()
    await device.is_quiet()
    return device.page.locator("#more-body")


async def _is_usable(device: Device) -> None:
    assert await device.violations() == []
    assert await device.overflow() == 0


@_EACH_SIZE
async def test_a_server_by_its_address_answers_the_next_message(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    device.expected.append("400")  # where nobody listens
    await expect(device.page.locator(".runbook-hint")).to_be_attached()
    body = await _at(device, "answering")
    await _is_usable(device)
    await expect(device.at("in-force")).to_contain_text("Silas's built-in answers")
    await body.get_by_label("Model", exact=True).fill("tiny")
    with refusing_port() as port:
        await body.get_by_label("Address").fill(f"http://127.0.0.1:{port}/v1")
        await device.at("try-server").click()
        alert = body.locator("[role=alert]").first
        await expect(alert).to_contain_text("Nothing was changed: tiny at")
    async with openai_server(["ok", json.dumps(_ANSWER)]) as server:
        await body.get_by_label("Address").fill(server.base_url)
        await device.at("try-server").click()
        card = await device.sees_a_card("Let tiny")
        await expect(card).to_contain_text("Nothing leaves this machine by it")
        await expect(card).to_contain_text(server.base_url)
        await _is_usable(device)
        body = await _at(device, "answering")  # who looks there meanwhile is told, and led back
        await expect(device.at("asks")).to_be_visible()
        await _is_usable(device)
        await device.at("asks").get_by_role("link").click()
        await device.sees_a_card("Let tiny")
        await device.answers("Let it answer")
        await device.comes_back()
        await expect(device.at("heard")).to_contain_text("answers from now on")
        await expect(device.page.locator(".runbook-hint")).to_have_count(0)
        await device.says("hello")
        await expect(device.at("heard").last).to_contain_text("Good day from the small model.")
        assert [sent["model"] for sent in server.bodies] == ["tiny", "tiny"]
    body = await _at(device, "answering")
    await expect(device.at("in-force")).to_contain_text("tiny")
    text = (cockpit.home.home / "config.yaml").read_text(encoding="utf-8")
    assert "# written by hand" in text
    assert server.base_url in text
    await body.get_by_role("button", name="Answer without a model").click()
    await body.get_by_role("button", name="Yes, without a model").click()
    await expect(device.at("in-force")).to_contain_text("Silas's built-in answers")
    await expect(device.page.locator(".runbook-hint")).to_be_attached()


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_key_is_entered_replaced_checked_and_removed(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    device.expected.append("400")  # what is no key
    body = await _at(device, "answering")
    standing = device.at("key-standing")
    await expect(standing).to_contain_text("There is no key.")
    await device.at("enter-key").click()
    await body.get_by_label("OpenRouter key").fill("two words")
    await device.page.keyboard.press("Enter")
    await expect(body.locator("form .field-problem:not(:empty)")).to_contain_text(
        "A key is one word"
    )
    await body.get_by_label("OpenRouter key").fill("sk-or-v1-the-first-key")
    await device.page.keyboard.press("Enter")
    await expect(standing).to_contain_text("not checked")
    await _is_usable(device)
    await device.at("enter-key").click()
    await body.get_by_label("OpenRouter key").fill("sk-or-v1-the-second-key")
    await device.page.keyboard.press("Enter")
    await expect(body.get_by_label("OpenRouter key")).to_have_count(0)
    await device.at("check-key").click()
    await expect(device.at("key-said")).to_contain_text("could not be asked")
    place = device.at("openrouter")
    await place.get_by_role("button", name="Remove").click()
    await place.get_by_role("button", name="Yes, remove it").click()
    await expect(standing).to_contain_text("There is no key.")
    events = await cockpit.events()
    assert events.count("secret_stored") == 2
    assert events.count("secret.removed") == 1
