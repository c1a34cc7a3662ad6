"""Servers of tools under More: how they fare, trying one again, and trusting one no more."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect

from silas.audit.log import AuditLog
from silas.clock import SystemClock
from silas.db import Database
from silas.home.database import migrate
from silas.home.secret_store import secrets_of
from silas.keys.secret_registry import SecretRegistry
from silas.sandbox import SandboxConfig, default
from silas.services.mcp import MCPService
from silas.services.mcp_servers.configuration import ConfiguredServers, PlannedServer
from silas.stream.owner import Owner
from silas.testing import MockClock, a_signer
from silas.tools.mcp.trust import SqlTrust
from tests.mcp.house import ENVIRONMENT, PYTHON, SERVER, Fake, a_tool
from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import PHONE, SIZES, Device, NewDevice, Size, devices
from tests.web.support.servers import form_that_changes, is_usable, put_servers, servers_of

pytestmark = in_a_browser


def _configured(home: Home, fake: Fake) -> None:
    """A home whose configuration names the fake server, and one that nobody looked at."""
    servers = fake.settings()
    servers["mcpServers"]["notes"] = {"url": "https://notes.example/mcp"}
    put_servers(home, servers)


async def _trusts(home: Home, name: str) -> None:
    """What `silas mcp trust NAME` does on a yes."""
    config, clock = home.config(), SystemClock()
    config.data_dir.mkdir(parents=True, exist_ok=True)
    database = Database(config.data_dir / "silas.db", clock)
    try:
        migrate(database)
        audit = AuditLog(database, clock, a_signer())
        sandbox = default(SandboxConfig(), forbidden=())
        secrecy = SecretRegistry(secrets_of(config), clock.now)
        service = MCPService(config, sandbox, database, audit, SqlTrust(database, clock), secrecy)
        await service.trust(await service.look(name))
        await audit.write_checkpoint()
    finally:
        database.close()


async def _opens(cockpit: Cockpit, new: NewDevice, size: Size) -> tuple[Device, Locator]:
    device = await cockpit.paired(new, size)
    await device.goes_to("more")
    await device.page.locator("#more-body a[href='#/more/connections']").click()
    await device.is_quiet()
    return device, device.page.locator("[data-server=fake]")


async def _does(row: Locator, first: str, then: str) -> None:
    await row.get_by_role("button", name=first).click()
    await row.get_by_role("button", name=then).click()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_server_says_how_it_fares_and_ends_at_once_when_it_is_trusted_no_more(
    tmp_path: Path, browser: Browser, size: Size
) -> None:
    home, fake = Home(tmp_path), Fake(tmp_path / "fake", a_tool())
    _configured(home, fake)
    await _trusts(home, "fake")
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device, row = await _opens(cockpit, new, size)
        for words in ("Works", "It is there, as you trusted it.", "fake__act", "no host"):
            await expect(row).to_contain_text(words)
        await expect(row).to_contain_text(str(fake.folder))  # what it may change
        other = device.page.locator("[data-server=notes]")
        await expect(other).to_contain_text("It is not started")
        await expect(other).to_contain_text("https://notes.example/mcp")
        hollow = "(one) => getComputedStyle(one).backgroundColor"  # not as one that works
        assert await other.locator(".dot").evaluate(hollow) == "rgba(0, 0, 0, 0)"
        await expect(other.get_by_role("button")).to_have_count(3)  # looked at, changed, or removed
        await expect(device.at("channels")).to_contain_text("Browser")
        assert await device.violations() == []
        assert await device.overflow() == 0
        await _does(row, "Trust it no more", "Yes, end it now")
        await expect(row).to_contain_text("Not in use")
        await expect(row).not_to_contain_text("fake__act")
        assert "mcp.distrusted" in await cockpit.events()
        await device.page.evaluate("() => { location.hash = '#/more/tools'; }")
        tool = device.page.locator("#more-body li").filter(has_text="fake__act")
        await expect(tool).to_contain_text("Does not work now")
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device, row = await _opens(cockpit, new, size)
        await expect(row).to_have_attribute("data-standing", "untrusted")
        await expect(row.get_by_role("button", name="Remove fake", exact=True)).to_be_visible()
        gone = device.page.locator("[data-server=notes]")
        await expect(gone).to_be_visible()
        put_servers(home, fake.settings())
        await cockpit.paired(new, size)  # so that something happened
        await expect(gone).to_have_count(0)  # it was removed elsewhere


async def test_a_server_that_is_not_there_is_tried_at_once_on_the_owners_word(
    tmp_path: Path, browser: Browser
) -> None:
    home, fake = Home(tmp_path), Fake(tmp_path / "fake", a_tool())
    _configured(home, fake)
    await _trusts(home, "fake")
    script = fake.folder / "script.json"
    script.rename(fake.folder / "away")
    clock = MockClock(SystemClock().now())  # no pause ever ends by itself
    async with a_cockpit(home, clock=clock) as cockpit, devices(browser, "block") as new:
        device, row = await _opens(cockpit, new, PHONE)
        await expect(row).to_contain_text("Does not work now")
        assert await device.violations() == []
        await _does(row, "Try it now", "Yes, start it")
        await expect(device.page.locator("#toasts")).to_contain_text("It is not there now")
        await expect(row).to_contain_text("Does not work now")
        (fake.folder / "away").rename(script)
        await _does(row, "Try it now", "Yes, start it")
        await expect(row).to_contain_text("It is there, as you trusted it.")


async def _writes(device: Device, fake: Fake) -> None:
    """The whole of the fake server, into the form."""
    form = device.at("new-server")
    await form.get_by_label("Name", exact=True).fill("fake")
    await form.get_by_label("Program", exact=True).fill(PYTHON)
    args = [str(SERVER), *(str(fake.folder / one) for one in ("script.json", "log.jsonl"))]
    await form.get_by_label("Arguments, one a line").fill("\n".join(args))
    await form.get_by_label("Paths that it may read").fill("\n".join((*ENVIRONMENT, str(SERVER))))
    await form.get_by_label("Paths that it may change").fill(str(fake.folder))


async def _looks_and_trusts(device: Device, row: Locator) -> None:
    """Its tools, in its own words, which stay words; then the yes."""
    await device.page.evaluate("() => { location.hash = '#/more/connections'; }")
    await expect(row).to_contain_text("It is not started")
    await row.get_by_role("button", name="Look at the tools of fake").click()
    card = await device.sees_a_card("Trust the MCP server fake with one tool")
    await expect(card).to_contain_text("Acts <b>on</b> [what](https://a.example).")
    assert await card.locator("b:text-is('on'), a[href*='a.example']").count() == 0
    await is_usable(device)
    await device.answers("Trust this tool")
    await device.comes_back()
    await expect(device.at("heard").last).to_contain_text("The tools of fake are trusted")


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_server_is_added_trusted_looked_at_again_and_removed_without_a_terminal(
    tmp_path: Path, browser: Browser, size: Size
) -> None:
    home = Home(tmp_path)
    home.write_by_hand()
    file = home.home / "config.yaml"
    before = file.read_text(encoding="utf-8")
    fake = Fake(tmp_path / "fake", a_tool(description="Acts <b>on</b> [what](https://a.example)."))
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device, row = await _opens(cockpit, new, size)
        await device.at("add-server").click()
        form = device.at("new-server")
        await expect(form.get_by_label("Name", exact=True)).to_be_focused()
        await device.at("ask-server").click()
        await expect(form.get_by_role("alert")).to_contain_text("A server's name is 1 to 31")
        await _writes(device, fake)
        await is_usable(device)
        await form.get_by_label("Hosts that it may reach").fill("http://odd")
        await device.at("ask-server").click()
        await expect(form.get_by_role("alert")).to_contain_text("http://odd is no host")
        refused = device.forgets_troubles()
        assert {one for one in refused if one.startswith("400")} == {
            f"400: POST {cockpit.origin}/connections"
        }
        await form.get_by_label("Hosts that it may reach").fill("")
        await device.at("ask-server").click()
        card = await device.sees_a_card("Add the server of tools fake")
        for words in (PYTHON, str(SERVER), "no host", str(fake.folder), "sha256:"):
            await expect(card).to_contain_text(words)
        await is_usable(device)
        within = "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert await card.locator("summary").evaluate_all(within)  # a long path, too
        assert file.read_text(encoding="utf-8") == before
        await device.answers("Add it")
        await device.comes_back()
        await expect(device.at("heard").last).to_contain_text("is added, and not started")
        assert fake.heard == []

        await _looks_and_trusts(device, row)
        await device.page.evaluate("() => { location.hash = '#/more/connections'; }")
        await expect(row).to_contain_text("It is there, as you trusted it.")
        await expect(row).to_contain_text("fake__act")
        await _does(row, "Remove", "Yes, remove it")
        await expect(row).to_have_count(0)
        await is_usable(device)
        assert file.read_text(encoding="utf-8") == before
        events = await cockpit.events()
        assert [one for one in events if one in ("mcp.added", "mcp.trusted", "mcp.removed")] == [
            "mcp.added",
            "mcp.trusted",
            "mcp.removed",
        ]


async def test_a_server_that_changed_shows_what_changed_and_is_trusted_again_in_the_page(
    tmp_path: Path, browser: Browser
) -> None:
    home, fake = Home(tmp_path), Fake(tmp_path / "fake", a_tool())
    _configured(home, fake)
    await _trusts(home, "fake")
    fake.becomes(a_tool(description="Acts otherwise."))
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device, row = await _opens(cockpit, new, PHONE)
        await expect(row).to_contain_text("It is not as you trusted it")
        await expect(row).not_to_contain_text("silas mcp")
        await row.get_by_role("button", name="Look at the tools of fake").click()
        card = await device.sees_a_card("Trust the MCP server fake")
        await expect(card).to_contain_text("Changed since you trusted it")
        await expect(card).to_contain_text("act said: Acts.")
        await expect(card).to_contain_text("act says now: Acts otherwise.")
        await is_usable(device)
        await device.answers("Trust this tool")
        await device.comes_back()
        await expect(device.at("heard").last).to_contain_text("are trusted, and it is started")
        await device.page.evaluate("() => { location.hash = '#/more/connections'; }")
        await expect(row).to_have_attribute("data-standing", "connected")


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_server_is_changed_in_the_form_that_it_fills(
    tmp_path: Path, browser: Browser, size: Size
) -> None:
    home, fake = Home(tmp_path), Fake(tmp_path / "fake", a_tool())
    _configured(home, fake)
    file = home.home / "config.yaml"
    servers = servers_of(home)
    servers["fake"]["env"] = {"PLAIN": "by-hand-4711-none-may-see"}
    put_servers(home, {"mcpServers": servers})
    await _trusts(home, "fake")
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device, row = await _opens(cockpit, new, size)
        await expect(row).to_contain_text("It is there, as you trusted it.")
        form = await form_that_changes(device, "fake")
        await expect(form.get_by_label("Program", exact=True)).to_have_value(PYTHON)
        await expect(form.get_by_label("Paths that it may change")).to_have_value(str(fake.folder))
        await expect(form).to_contain_text("The variable PLAIN stays as the file has it.")
        await is_usable(device)
        await device.at("ask-change").click()
        await expect(form.get_by_role("alert")).to_contain_text("There is nothing to change.")
        device.forgets_troubles()
        await form.get_by_label("Hosts that it may reach").fill("a.example")
        await form.get_by_role("button", name="Take out PLAIN").click()
        await device.at("ask-change").click()
        card = await device.sees_a_card("Change the server of tools fake")
        for words in ("before: reaches: no host", "after: reaches: a.example", "variables: PLAIN"):
            await expect(card).to_contain_text(words)
        await is_usable(device)
        await device.answers("Change it")
        await device.comes_back()
        await expect(device.at("heard").last).to_contain_text("is changed, and ended")
        await device.page.evaluate("() => { location.hash = '#/more/connections'; }")
        await expect(row).to_have_attribute("data-standing", "untrusted")
        await expect(row).to_contain_text("a.example")
        await expect(device.at("changed-server")).to_have_count(0)
        assert "by-hand-4711" not in await device.page.content()
        assert "by-hand-4711" not in file.read_text(encoding="utf-8")
        form = await form_that_changes(device, "fake")
        await form.get_by_role("button", name="Leave it as it is").click()
        await expect(form).to_have_count(0)
        await is_usable(device)


async def test_the_page_that_is_opened_while_a_yes_is_carried_out_corrects_itself(
    tmp_path: Path, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path)
    home.write_by_hand()
    written, may_write, elsewhere = asyncio.Event(), asyncio.Event(), asyncio.Event()
    add, tell = ConfiguredServers.add, Owner.tell

    async def slowly(self: ConfiguredServers, planned: PlannedServer) -> None:
        written.set()
        await may_write.wait()
        await add(self, planned)

    async def tells_all(self: Owner, text: str) -> None:
        await tell(self, text)
        if "is added" in text:
            await elsewhere.wait()

    monkeypatch.setattr(ConfiguredServers, "add", slowly)  # a disk that takes its time
    monkeypatch.setattr(Owner, "tell", tells_all)  # so does another channel, after this page
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        device, _ = await _opens(cockpit, new, PHONE)
        await device.at("add-server").click()
        form = device.at("new-server")
        await form.get_by_label("Name", exact=True).fill("far")
        await form.get_by_label("It is", exact=True).select_option("address")
        await form.get_by_label("Address", exact=True).fill("https://a.example/mcp")
        await device.at("ask-server").click()
        await device.sees_a_card("Add the server of tools far")
        await device.answers("Add it")
        await asyncio.wait_for(written.wait(), SECONDS)
        await device.page.evaluate("() => { location.hash = '#/more/connections'; }")
        await expect(device.at("asks")).to_be_visible()
        may_write.set()
        await expect(device.at("asks")).to_have_count(0)
        await expect(device.page.locator("[data-server=far]")).to_be_visible()
        elsewhere.set()
