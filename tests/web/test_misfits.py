"""What is wrong in a form stands beside the field that it is about, which gets the focus."""

import re
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Route, expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import PHONE, SIZES, Device, Size, devices

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)

Pages = dict[str, Device]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[tuple[Cockpit, Pages]]:
    """One for all: nothing that these tests write down is kept."""
    home = Home(tmp_path_factory.mktemp("misfits"))
    home.write_by_hand()
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        yield cockpit, {size.name: await cockpit.paired(new, size) for size in SIZES}


@pytest_asyncio.fixture(loop_scope="session")
async def pages(house: tuple[Cockpit, Pages]) -> AsyncGenerator[Pages]:
    """A page of each size; what is refused here is refused on purpose."""
    for page in house[1].values():
        page.expected.append("400")
    yield house[1]
    troubles = {name: page.forgets_troubles() for name, page in house[1].items()}
    assert not any(troubles.values()), troubles


async def _at(pages: Pages, size: Size, name: str) -> Device:
    device = pages[size.name]
    await device.goes_to("more")
    await device.page.locator(f"#more-body a[href='#/more/{name}']").click()
    await device.is_quiet()
    return device


def _field(device: Device, label: str) -> Locator:
    return device.page.locator("#more-body").get_by_label(label, exact=True)


async def _press(device: Device, name: str) -> None:
    await device.page.locator("#more-body").get_by_role("button", name=name, exact=True).click()


async def _misfits(device: Device, field: Locator, words: str) -> None:
    """Only this field is wrong, in these words, which are read with it."""
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(field).to_have_accessible_description(re.compile(re.escape(words)))
    await expect(device.page.locator("#more-body [aria-invalid]")).to_have_count(1)
    told = device.page.locator("#more-body .field-problem:not(:empty)")
    await expect(told).to_have_count(1)
    below = await told.evaluate("(node) => node.getBoundingClientRect().top")
    end = await field.evaluate("(node) => node.getBoundingClientRect().bottom")
    assert 0 <= below - end < 40, "it stands elsewhere"
    assert await device.violations() == []
    assert await device.overflow() == 0


@_EACH_SIZE
async def test_a_misfit_of_a_setting_stands_beside_it_until_it_is_changed(
    pages: Pages, size: Size
) -> None:
    device = await _at(pages, size, "settings")
    memory, time = _field(device, "Memory for one run (MB)"), _field(device, "Quiet hours from")
    had = await time.input_value()
    await memory.fill("8")
    await device.at("show-changes").click()
    await _misfits(device, memory, "must be a whole number from 16 to 65536")
    await memory.fill("512")
    await expect(memory).not_to_have_attribute("aria-invalid", "true")
    await expect(device.page.locator("#more-body .field-problem:not(:empty)")).to_have_count(0)
    await time.fill("")
    await device.at("show-changes").click()
    await _misfits(device, time, "must be a time of day")
    await memory.fill("9")  # what was wrong first is not wrong any more for that
    await time.fill(had)
    await device.at("show-changes").click()
    await _misfits(device, memory, "must be a whole number")
    await memory.fill("512")
    await device.at("show-changes").click()
    alert = device.page.locator("#more-body .field-problem:not(:empty)")
    await expect(alert).to_have_text("Nothing is changed yet.")  # no field's
    await expect(device.page.locator("#more-body [aria-invalid]")).to_have_count(0)


@_EACH_SIZE
async def test_a_misfit_of_a_secret_is_its_name_or_its_value(pages: Pages, size: Size) -> None:
    device = await _at(pages, size, "secrets")
    name, value = _field(device, "Name"), _field(device, "Value")
    await _press(device, "Keep it")
    await _misfits(device, name, "Give the secret a name and a value.")
    await name.fill("ONE")
    await _press(device, "Keep it")
    await _misfits(device, value, "Give the secret a name and a value.")
    await value.fill("a value that is long enough")
    await name.fill("1 no name")
    await _press(device, "Keep it")
    await _misfits(device, name, "starts with no digit")
    await name.fill(f"TOO_SHORT_{size.width}")
    await value.fill("abc")
    await _press(device, "Keep it")
    await _misfits(device, value, "must be text of")


@_EACH_SIZE
async def test_a_misfit_of_a_memory_a_reminder_and_a_device_is_its_words(
    pages: Pages, size: Size
) -> None:
    device = await _at(pages, size, "memory")
    await device.at("memory-add").click()
    await _press(device, "Remember it")
    words = _field(device, "What should Silas remember?")
    await _misfits(device, words, "Write what Silas should remember.")
    device = await _at(pages, size, "reminders")
    when = _field(device, "What to remind you of, and when")
    await when.fill("call the dentist")
    await _press(device, "Read it")
    await _misfits(device, when, "Say when")
    device = await _at(pages, size, "devices")
    rename = device.page.locator("#more-body").get_by_role("button", name="Rename").first
    await rename.click()
    name = _field(device, "What to call it")
    await name.fill(" ")
    await _press(device, "Keep it")
    await _misfits(device, name, "Give the device a name.")


@_EACH_SIZE
async def test_a_misfit_of_who_answers_is_the_address_the_model_or_the_key(
    pages: Pages, size: Size
) -> None:
    device = await _at(pages, size, "answering")
    address, model = _field(device, "Address"), _field(device, "Model")
    await _press(device, "Try it")
    await _misfits(device, address, "Write the address of the server")
    await address.fill("http://me:secret@127.0.0.1:1/v1")
    await _press(device, "Try it")
    await _misfits(device, model, "the name of the model")
    await model.fill("tiny")
    await _press(device, "Try it")
    await _misfits(device, address, "without a user or password")
    await device.page.reload()
    device = await _at(pages, size, "answering")
    await device.at("enter-key").click()
    await _press(device, "Check and keep it")
    await _misfits(device, _field(device, "OpenRouter key"), "Paste the key.")


async def test_a_misfit_of_a_server_of_tools_is_the_line_that_it_is_in(pages: Pages) -> None:
    device = await _at(pages, PHONE, "connections")
    await device.at("add-server").click()
    await device.at("ask-server").click()
    await _misfits(device, _field(device, "Name"), "A server's name is")
    await _field(device, "Name").fill("far")
    await device.at("ask-server").click()
    await _misfits(device, _field(device, "Program"), "Write either the command")
    await _field(device, "Program").fill("/bin/sh")
    reads = _field(device, "Paths that it may read, one a line")
    await reads.fill("not/whole")
    await device.at("ask-server").click()
    await _misfits(device, reads, "is no whole path")
    await _field(device, "It is").select_option("address")
    await device.at("ask-server").click()
    url = _field(device, "Address")
    await _misfits(device, url, "Write either the command of a program or an address.")
    await url.fill("ftp://example.com/")
    await device.at("ask-server").click()
    await _misfits(device, url, "The address must be https")


async def test_a_missing_auth_token_is_asked_for_where_it_is_typed(
    house: tuple[Cockpit, Pages], pages: Pages
) -> None:
    device = pages[PHONE.name]
    device.expected.append("403")
    words = "Type the auth_token of Silas's configuration to pair from another machine."
    refusal = {"code": "E_CHANNEL_PAIRING_AUTH", "message": words}
    await device.page.route("**/pair", lambda route: _refuse(route, refusal))
    await device.page.goto(await house[0].link())
    field = device.page.get_by_label("The auth_token of Silas’s configuration")
    await expect(field).to_be_hidden()
    await device.at("pair").click()
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(field).to_have_accessible_description(words)
    assert await device.violations() == []


async def _refuse(route: Route, refusal: dict[str, str]) -> None:
    if route.request.method == "POST":
        await route.fulfill(status=403, json=refusal)
    else:
        await route.continue_()
