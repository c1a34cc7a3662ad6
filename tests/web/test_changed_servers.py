"""A server at an address, and one with secrets, become other ones in the form of the page."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.mcp.house import Fake, a_tool
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import PHONE, Device, NewDevice, Size, devices
from tests.web.support.servers import form_that_changes, is_usable, put_servers, servers_of

pytestmark = in_a_browser

VALUE = "ghp-canary-5f0c9d1e"
BY_HAND = "by-hand-4711-none-may-see"


def _configured(home: Home, fake: Fake) -> None:
    """An address that is sent two headers, and a program that is given two variables."""
    given = fake.settings()
    given["mcpServers"]["fake"]["env"] = {"TOKEN": "${secret:GH}", "PLAIN": BY_HAND}
    given["mcpServers"]["far"] = {
        "url": "https://a.example/mcp",
        "headers": {"Authorization": "Bearer ${secret:GH}", "X-Api-Key": BY_HAND},
    }
    put_servers(home, given)


async def _opens(cockpit: Cockpit, new: NewDevice, size: Size) -> Device:
    """The page of connections, on a device where two secrets are stored."""
    device = await cockpit.paired(new, size)
    await device.opens("#/more/secrets")
    for name in ("GH", "OTHER"):
        await device.page.locator("#secret-name").fill(name)
        await device.page.locator("#secret-value").fill(VALUE)
        await device.page.get_by_role("button", name="Keep it").click()
        await expect(device.page.locator(f"[data-secret={name}]")).to_be_visible()
    await device.opens("#/more/connections")
    return device


async def _form_of(device: Device, name: str) -> Locator:
    form = await form_that_changes(device, name)
    await is_usable(device)
    return form


async def _says_yes(device: Device, name: str, *words: str) -> None:
    await device.at("ask-change").click()
    card = await device.sees_a_card(f"Change the server of tools {name}")
    for one in words:
        await expect(card).to_contain_text(one)
    assert BY_HAND not in await card.inner_text()
    await is_usable(device)
    await device.answers("Change it")
    await device.comes_back()
    await expect(device.at("heard").last).to_contain_text(f"{name} is changed, and ended")
    await device.opens("#/more/connections")


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_an_address_with_headers_is_changed_and_becomes_a_program(
    tmp_path: Path, browser: Browser, size: Size
) -> None:
    home, fake = Home(tmp_path), Fake(tmp_path / "fake", a_tool())
    _configured(home, fake)
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device = await _opens(cockpit, new, size)
        row = device.page.locator("[data-server=far]")
        form = await _form_of(device, "far")
        await expect(form.get_by_label("Address", exact=True)).to_have_value(
            "https://a.example/mcp"
        )
        await expect(form.get_by_label("Program", exact=True)).to_be_hidden()
        await expect(form).to_contain_text("The header X-Api-Key stays as the file has it.")
        line = form.get_by_role("group", name="Header 1")
        await expect(line.get_by_label("Its name")).to_have_value("Authorization")
        await expect(line.get_by_label("Word before the secret")).to_have_value("Bearer")
        await expect(line.get_by_label("Secret", exact=True)).to_have_value("GH")
        await device.at("ask-change").click()
        await expect(form.get_by_role("alert")).to_contain_text("There is nothing to change.")
        await form.get_by_label("Address", exact=True).fill("http://b.example/mcp")
        await device.at("ask-change").click()
        await expect(form.get_by_role("alert")).to_contain_text("The address must be https://")
        await expect(form.get_by_label("Address", exact=True)).to_have_value("http://b.example/mcp")
        device.forgets_troubles()
        await form.get_by_label("Address", exact=True).fill("https://b.example/mcp")
        await line.get_by_label("Secret", exact=True).select_option("OTHER")
        await form.get_by_role("button", name="Take out X-Api-Key").click()
        await _says_yes(
            device,
            "far",
            "before: runs: over HTTP, outside this machine's sandbox: https://a.example/mcp",
            "after: runs: over HTTP, outside this machine's sandbox: https://b.example/mcp",
            "before: is sent the header Authorization from your secret GH",
            "after: is sent the header Authorization from your secret OTHER",
            "before: is sent the headers: X-Api-Key",
        )
        await expect(row).to_contain_text("https://b.example/mcp")
        await expect(row).to_contain_text("from your secret OTHER")
        assert servers_of(home)["far"] == {
            "url": "https://b.example/mcp",
            "headers": {"Authorization": "Bearer ${secret:OTHER}"},
        }
        form = await _form_of(device, "far")
        await form.get_by_label("It is", exact=True).select_option("program")
        await expect(form.get_by_label("Address", exact=True)).to_be_hidden()
        await form.get_by_label("Program", exact=True).fill("cat")
        await _says_yes(
            device,
            "far",
            "before: is sent the header Authorization from your secret OTHER",
            "after: runs: in the sandbox, started with Silas: cat",
        )
        await expect(row).to_contain_text("no host")
        assert servers_of(home)["far"] == {"command": "cat"}
        assert VALUE not in await device.page.content()


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_program_with_secrets_is_changed_and_becomes_an_address(
    tmp_path: Path, browser: Browser, size: Size
) -> None:
    home, fake = Home(tmp_path), Fake(tmp_path / "fake", a_tool())
    _configured(home, fake)
    program = servers_of(home)["fake"]
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device = await _opens(cockpit, new, size)
        row = device.page.locator("[data-server=fake]")
        form = await _form_of(device, "fake")
        line = form.get_by_role("group", name="Variable 1")
        await expect(line.get_by_label("Its name")).to_have_value("TOKEN")
        await expect(line.get_by_label("Secret", exact=True)).to_have_value("GH")
        await line.get_by_label("Secret", exact=True).select_option("OTHER")
        await device.at("add-env").click()
        more = form.get_by_role("group", name="Variable 2")
        await more.get_by_label("Its name").fill("PLAIN")
        await more.get_by_label("Secret", exact=True).select_option("GH")
        await device.at("ask-change").click()
        await expect(form.get_by_role("alert")).to_contain_text("PLAIN is there twice")
        device.forgets_troubles()
        await more.get_by_label("Its name").fill("MORE")
        await _says_yes(
            device,
            "fake",
            "before: is given the variable TOKEN from your secret GH",
            "after: is given the variable TOKEN from your secret OTHER",
            "after: is given the variable MORE from your secret GH",
        )
        given = {"TOKEN": "${secret:OTHER}", "PLAIN": BY_HAND, "MORE": "${secret:GH}"}
        assert servers_of(home)["fake"] == {**program, "env": given}
        form = await _form_of(device, "fake")
        await form.get_by_label("It is", exact=True).select_option("address")
        await expect(form.get_by_text("The variable PLAIN stays")).to_be_hidden()
        await form.get_by_label("Address", exact=True).fill("https://a.example/mcp")
        await device.at("add-header").click()
        line = form.get_by_role("group", name="Header 1")
        await line.get_by_label("Its name").fill("X-Api-Key")
        await line.get_by_label("Secret", exact=True).select_option("GH")
        await _says_yes(
            device,
            "fake",
            "before: runs: in the sandbox",
            "before: is given the variables: PLAIN",
            "after: runs: over HTTP, outside this machine's sandbox: https://a.example/mcp",
            "after: is sent the header X-Api-Key from your secret GH",
        )
        await expect(row).to_contain_text("what its own machine reaches")
        assert servers_of(home)["fake"] == {
            "url": "https://a.example/mcp",
            "headers": {"X-Api-Key": "${secret:GH}"},
        }
        assert fake.heard == []
        assert VALUE not in await device.page.content()
