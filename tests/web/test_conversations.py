"""Several conversations in the page: begun, left, found again, renamed, put away, brought back."""

import json
import os
from pathlib import Path

import pytest
from playwright.async_api import Locator, ViewportSize, expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PHONE, SCHEMES, SIZES, Device, NewDevice, Size
from tests.web.support.library import COPY

pytestmark = in_a_browser
NARROW = ViewportSize(width=360, height=740)
"""The narrowest phone: it has the walk of the other one, so only its room is looked at."""


def row(device: Device, title: str) -> Locator:
    """A conversation in the list."""
    return device.at("conversation").filter(has_text=title)


async def begins(device: Device) -> None:
    await device.goes_to("conversations")
    await device.at("new-conversation").click()
    await expect(device.page.locator("#stream")).to_be_visible()
    await expect(device.at("talk-title")).to_contain_text("New conversation")


async def enters(device: Device, title: str) -> None:
    await device.goes_to("conversations")
    await row(device, title).get_by_test_id("open").click()
    await expect(device.at("talk-title")).to_contain_text(title)


async def photographed(device: Device, name: str) -> None:
    if place := os.environ.get("SILAS_PICTURES"):
        await device.page.screenshot(path=Path(place) / f"{name}.png")


async def is_usable(device: Device) -> None:
    assert await device.violations() == []
    assert await device.overflow() == 0


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_each_conversation_has_its_own_words_draft_and_cards(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says("What can you do?")
    await expect(device.at("heard")).to_have_count(1)
    await device.at("composer").fill("half a thought")
    await begins(device)
    await expect(device.at("said")).to_have_count(0)
    await expect(device.at("composer")).to_have_value("")
    await device.says(COPY)
    await expect(device.at("talk-title")).to_contain_text(COPY)
    await device.sees_a_card("Copy the notes")
    await device.comes_back()
    await photographed(device, f"talk-{size.name}")
    await enters(device, "Main conversation")
    await expect(device.at("said")).to_have_count(1)
    await expect(device.at("composer")).to_have_value("half a thought")
    await device.goes_to("conversations")
    await expect(row(device, COPY)).to_contain_text("1 card waits")
    if size.touch:  # no button of a card is there without the card
        await expect(device.page.locator("#desk")).to_be_hidden()
    await photographed(device, f"list-{size.name}")
    await is_usable(device)
    if size.touch:
        await device.page.set_viewport_size(NARROW)
        await photographed(device, "list-narrow")
        await is_usable(device)
    await device.comes_back()
    assert await device.overflow() == 0
    await device.sees_a_card("Copy the notes")  # reached from wherever
    await device.declines()
    await device.comes_back()
    await enters(device, COPY)
    await expect(device.at("heard")).to_have_count(2)
    await device.page.reload()
    await device.is_connected()
    await expect(device.at("talk-title")).to_contain_text(COPY)
    await expect(device.at("heard")).to_have_count(2)


async def test_it_is_renamed_put_away_and_brought_back_by_keyboard(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device)
    await begins(device)
    await device.says("What can you do?")
    await expect(device.at("heard")).to_have_count(1)
    await device.goes_to("conversations")
    here = row(device, "What can you do?")
    await here.get_by_test_id("change").focus()
    await device.page.keyboard.press("Enter")
    field = device.page.get_by_label("Title")
    await expect(field).to_be_focused()
    await field.fill("x" * 81)
    await device.page.keyboard.press("Enter")
    device.expected.append("422")
    device.expected.append("400")
    await expect(here.get_by_role("alert")).to_contain_text("has room for 80")
    await field.fill("Holidays")
    await device.page.keyboard.press("Enter")
    here = row(device, "Holidays")
    await expect(here.get_by_test_id("change")).to_be_focused()
    await device.page.keyboard.press("Enter")
    for scheme in SCHEMES:  # what is there is the same in both, but for its colours
        await device.page.emulate_media(color_scheme=scheme)
        assert await device.violations() == []
    await device.at("archive").click()
    await expect(here).to_contain_text("Nothing of it is deleted")
    await expect(device.at("talk-title")).to_contain_text("Main conversation")
    for scheme in SCHEMES:
        await device.page.emulate_media(color_scheme=scheme)
        await photographed(device, f"archived-{scheme}")
    await here.get_by_role("button", name="Undo").click()
    await expect(here.get_by_test_id("open")).to_be_visible()


async def test_it_is_saved_as_markdown_and_as_json_by_its_buttons(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device)
    await device.says("What can you do?")
    await expect(device.at("heard")).to_have_count(1)
    await device.goes_to("conversations")
    await device.at("change").first.click()
    saved = dict[str, str]()
    for form, ending in (("markdown", ".md"), ("json", ".json")):
        async with device.page.expect_download() as saving:
            await device.at(f"export-{form}").click()
        file = await saving.value
        assert file.suggested_filename.endswith(ending)
        saved[form] = (await file.path()).read_text(encoding="utf-8")
    assert "What can you do?" in saved["markdown"]
    said = json.loads(saved["json"])["messages"]
    assert {one["who"] for one in said} >= {"owner", "silas"}
    assert "What can you do?" in said[0].values()


async def asks_to_delete(device: Device, title: str) -> None:
    await device.goes_to("conversations")
    await row(device, title).get_by_test_id("change").click()
    await device.at("delete").click()
    question = device.at("delete-question")
    await expect(question).to_contain_text("for good, with 2 messages, no attached files")
    assert await device.violations() == []
    await photographed(device, f"delete-{device.size.name}")


async def test_a_conversation_is_deleted_after_its_question_on_every_device(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device, other = await cockpit.paired(new_device, PHONE), await cockpit.paired(new_device)
    await begins(device)
    await device.says("What can you do?")
    await expect(device.at("heard")).to_have_count(1)
    await asks_to_delete(other, "What can you do?")
    await enters(other, "What can you do?")  # without an answer, which deletes nothing
    await asks_to_delete(device, "What can you do?")
    await device.at("delete-sure").click()
    await expect(row(device, "What can you do?")).to_have_count(0)
    await expect(other.at("talk-title")).to_contain_text("Main conversation")
    await expect(other.at("said")).to_have_count(0)
    await device.is_quiet()  # it has gone to the main conversation, and brought what was said there
    await device.page.reload()
    await device.is_connected()
    await expect(device.at("said")).to_have_count(0)


async def test_one_that_was_archived_on_another_device_takes_no_words_and_loses_none(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    phone, service = await cockpit.paired(new_device, PHONE), await cockpit.paired(new_device)
    await begins(phone)
    await phone.says("What can you do?")
    await expect(phone.at("heard")).to_have_count(1)
    await service.goes_to("conversations")
    here = row(service, "What can you do?")
    await here.get_by_test_id("change").click()
    await service.at("archive").click()
    await expect(phone.at("talk-title")).to_contain_text("(archived)")
    await phone.says("And this?")
    await expect(phone.at("said").last).to_contain_text("was archived")
    await here.get_by_role("button", name="Undo").click()
    await expect(phone.at("talk-title")).not_to_contain_text("(archived)")
    await phone.page.get_by_role("button", name="Send again").click()
    await expect(phone.at("heard")).to_have_count(2)


async def test_a_search_leads_to_the_message(cockpit: Cockpit, new_device: NewDevice) -> None:
    service, phone = await cockpit.paired(new_device), await cockpit.paired(new_device, PHONE)
    await begins(service)
    await service.says("what is 17 % of 240")
    await expect(service.at("heard")).to_have_count(1)
    for number in range(3):
        await service.says("What can you do?")
        await expect(service.at("heard")).to_have_count(2 + number)
    await enters(service, "Main conversation")
    for device in (service, phone):
        await device.goes_to("conversations")
        await device.page.get_by_label("Search all conversations").fill("240")
        await device.page.keyboard.press("Enter")
        await expect(device.at("jump").first).to_contain_text("what is 17 % of 240")
        await photographed(device, f"search-{device.size.name}")
        assert await device.violations() == []
        await device.at("jump").filter(has_text="You").click()
        message = device.at("said").first
        await expect(message).to_be_focused()
        await expect(message).to_be_in_viewport()
