"""What is forgotten beside an open page leaves it: its Stream and the work that it shows."""

from pathlib import Path

from playwright.async_api import Browser, expect

from silas.agents import ExecutorAgentOutput
from silas.stream.scope_work import NOT_SHOWN
from silas.testing import ScriptedModel
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit, forget
from tests.web.support.device import devices
from tests.web.support.library import COPY
from tests.work.kit import sh

pytestmark = in_a_browser


async def test_an_open_page_replaces_what_was_forgotten(browser: Browser, tmp_path: Path) -> None:
    report = ExecutorAgentOutput(summary="Mia is 7.")
    models = {"executor": ScriptedModel([sh("cp input.txt result.txt; echo Mia"), report])}
    async with a_cockpit(Home(tmp_path), models=models) as cockpit, devices(browser) as new:
        device = await cockpit.paired(new)
        await device.says(COPY)
        await device.sees_a_card("Copy the notes")
        await device.answers("Approve and run once")
        result, body = device.at("result"), device.page.locator("body")
        await expect(result.get_by_test_id("output")).to_contain_text("Mia")
        await expect(result.get_by_test_id("report")).to_contain_text("Mia is 7.")
        await device.page.evaluate(
            "id => { location.hash = `#/more/work/${id}`; }",
            await result.get_attribute("data-work"),
        )
        work = device.page.locator("#more-body")
        await expect(work.get_by_test_id("report")).to_contain_text("Mia is 7.")
        await forget(cockpit.config, "tool:shell_exec")
        for part in ("output", "report"):
            await expect(result.get_by_test_id(part)).to_contain_text(NOT_SHOWN)
        await expect(work.get_by_test_id("report")).to_contain_text(NOT_SHOWN)
        await expect(body).not_to_contain_text("Mia")
        await expect(device.at("said")).to_contain_text(COPY)
        await forget(cockpit.config, "channel:web")
        await expect(device.at("said")).to_contain_text(NOT_SHOWN)
        await expect(result).not_to_contain_text("as it was")
        await device.loses_the_connection()
        await device.has_a_connection_again()
        await expect(body).not_to_contain_text("Mia")
        await expect(device.at("said")).to_contain_text(NOT_SHOWN)
