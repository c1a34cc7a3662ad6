"""A server that needs a key, connected on the page alone: its secret is chosen by name."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.mcp.house import ENVIRONMENT, PYTHON, SERVER, Fake, a_tool
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import PHONE, Device, Size, devices

pytestmark = in_a_browser

VALUE = "ghp-canary-5f0c9d1e"


async def _is_usable(device: Device) -> None:
    assert await device.violations() == []
    assert await device.overflow() == 0


async def _stores(device: Device) -> None:
    """The secret, on the page of secrets."""
    await device.page.locator("#secret-name").fill("GH")
    await device.page.locator("#secret-value").fill(VALUE)
    await device.page.get_by_role("button", name="Keep it").click()
    await expect(device.page.locator("[data-secret=GH]")).to_be_visible()


async def _writes(device: Device, fake: Fake) -> None:
    form = device.at("new-server")
    await form.get_by_label("Program", exact=True).fill(PYTHON)
    args = [str(SERVER), *(str(fake.folder / one) for one in ("script.json", "log.jsonl"))]
    await form.get_by_label("Arguments, one a line").fill("\n".join(args))
    await form.get_by_label("Paths that it may read").fill("\n".join((*ENVIRONMENT, str(SERVER))))
    await form.get_by_label("Paths that it may change").fill(str(fake.folder))


async def _names_the_secret(device: Device) -> None:
    form = device.at("new-server")
    await device.at("add-env").click()
    line = form.get_by_role("group", name="Variable 1")
    await expect(line.get_by_label("Its name")).to_be_focused()
    await line.get_by_label("Its name").fill("PATH")
    await line.get_by_label("Secret", exact=True).select_option("GH")
    await device.at("ask-server").click()
    await expect(form.get_by_role("alert")).to_contain_text("PATH is given to no server")
    device.forgets_troubles()
    await line.get_by_label("Its name").fill("TOKEN")
    await device.at("add-env").click()
    await form.get_by_role("button", name="Take out Variable 2").click()


async def _says_yes_twice(device: Device) -> None:
    """To the server as it is added, and to its tools; both cards name the secret."""
    given = "is given the variable TOKEN from your secret GH"
    card = await device.sees_a_card("Add the server of tools fake")
    await expect(card).to_contain_text(given)
    await _is_usable(device)
    await device.answers("Add it")
    await device.comes_back()
    await expect(device.at("heard").last).to_contain_text("is added, and not started")
    await device.opens("#/more/connections")
    await device.page.get_by_role("button", name="Look at the tools of fake").click()
    card = await device.sees_a_card("Trust the MCP server fake with one tool")
    await expect(card).to_contain_text(given)
    await device.answers("Trust this tool")
    await device.comes_back()
    await expect(device.at("heard").last).to_contain_text("The tools of fake are trusted")


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_server_that_needs_a_key_is_connected_whole_on_the_page(
    tmp_path: Path, browser: Browser, size: Size
) -> None:
    home = Home(tmp_path)
    home.write_by_hand()
    fake = Fake(tmp_path / "fake", a_tool(), variable="TOKEN")
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.opens("#/more/connections")
        await device.at("add-server").click()
        form, page = device.at("new-server"), device.page
        await form.get_by_label("Name", exact=True).fill("fake")
        await expect(form).to_contain_text("No secret is stored yet.")
        await _is_usable(device)
        await form.get_by_role("link", name="Store one under Secrets").first.click()
        await _stores(device)
        await device.opens("#/more/connections")
        await expect(form.get_by_label("Name", exact=True)).to_have_value("fake")
        await _writes(device, fake)
        await _names_the_secret(device)
        await _is_usable(device)
        await device.at("ask-server").click()
        await _says_yes_twice(device)
        assert set(fake.given) == {VALUE}
        await device.opens("#/more/connections")
        row = page.locator("[data-server=fake]")
        await expect(row).to_contain_text("It is there, as you trusted it.")
        await expect(row).to_contain_text("Is given the variable TOKEN")
        await expect(row).to_contain_text("from your secret GH")
        await _is_usable(device)
        await device.opens("#/more/secrets")
        secret = page.locator("[data-secret=GH]")
        await expect(secret).to_contain_text("Given to servers of tools: fake.")
        await _is_usable(device)
        await secret.get_by_role("button", name="Remove GH").click()
        await secret.get_by_role("button", name="Yes, remove it").click()
        await expect(page.locator("#toasts")).to_contain_text("The server of tools fake is given")
        await device.opens("#/more/connections")
        await expect(row).to_contain_text("Does not work now")
        await expect(device.at("missing-secret")).to_contain_text("GH is not stored")
        await _is_usable(device)
        assert VALUE not in await page.content()


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_an_address_is_sent_headers_and_a_form_can_be_left(
    tmp_path: Path, browser: Browser, size: Size
) -> None:
    home = Home(tmp_path)
    home.write_by_hand()
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.opens("#/more/secrets")
        await _stores(device)
        await device.opens("#/more/connections")
        await device.at("add-server").click()
        form = device.at("new-server")
        await form.get_by_label("Name", exact=True).fill("far")
        await form.get_by_label("It is").select_option("address")
        await form.get_by_label("Address", exact=True).fill("https://a.example/mcp")
        await device.at("add-header").click()
        line = form.get_by_role("group", name="Header 1")
        await line.get_by_label("Its name").fill("Authorization")
        await line.get_by_label("Word before the secret").select_option("Bearer")
        await line.get_by_label("Secret", exact=True).select_option("GH")
        await _is_usable(device)
        await device.at("ask-server").click()
        card = await device.sees_a_card("Add the server of tools far")
        words = "is sent the header Authorization from your secret GH: Bearer ${secret:GH}"
        await expect(card).to_contain_text(words)
        await _is_usable(device)
        await device.declines()
        await device.comes_back()
        await device.opens("#/more/connections")
        await device.at("add-server").click()
        await expect(form.get_by_label("Name", exact=True)).to_have_value("")
        await form.get_by_role("button", name="Leave it out").click()
        await expect(form).to_have_count(0)
        await expect(device.at("add-server")).to_be_visible()
