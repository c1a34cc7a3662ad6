"""A folder is tidied every Friday from the page: asked for, approved, due, chosen from, undone."""

from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest
from playwright.async_api import Browser, Route, expect

from silas.testing import MockClock
from tests.batches.folders import PDF, listed, put
from tests.cockpit.test_pictures import a_png
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import devices

pytestmark = in_a_browser

TUESDAY = datetime(2026, 11, 24, 8, 10, tzinfo=UTC)
TO_FRIDAY = 3 * 24 * 3600 + 10 * 3600
"""Seconds to a quarter past six in the evening of that Friday; the owner's zone is UTC."""
REQUEST = "tidy my Downloads every Friday at six pm"
GERMAN = "räum meine Downloads jeden Freitag um 18 Uhr auf"


@pytest.mark.parametrize("request_words", [REQUEST, GERMAN], ids=["english", "german"])
async def test_a_folder_is_tidied_by_the_clock_and_goes_back_by_one_and_by_all(
    request_words: str,
    home: Home,
    browser: Browser,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    clock, place = MockClock(TUESDAY), tmp_path / "Downloads"
    for name, content in (("a.pdf", PDF), ("b.pdf", PDF + b"b"), ("c.png", a_png())):
        put(place, name, content, now=TUESDAY)
    before = listed(place)
    async with (
        a_cockpit(home, clock=clock, SILAS_SCHEDULER__TIMEZONE="UTC") as cockpit,
        devices(browser, "block") as new,
    ):
        device = await cockpit.paired(new)

        async def dated(route: Route) -> None:
            if route.request.resource_type != "fetch":
                await route.continue_()
                return
            answer = await route.fetch()
            date = format_datetime(clock.now(), usegmt=True)
            await route.fulfill(response=answer, headers={**answer.headers, "date": date})

        await device.page.route("**/*", dated)  # whose time the page goes by
        await device.says(request_words)
        await expect(await device.sees_a_card()).to_contain_text("18:00")
        await device.answers("Approve this goal")
        await expect(device.no_card()).to_be_attached()
        await device.comes_back()
        await expect(device.at("result").locator(".status")).to_have_text("Approved")  # it stands
        assert listed(place) == before
        clock.advance(TO_FRIDAY)
        await device.page.clock.set_system_time(clock.now())
        await device.page.reload()  # its owner comes back to it
        card = await device.sees_a_card("Move 3 files")
        await expect(card).to_contain_text("Goal “Tidy Downloads”: ")
        await card.locator("label", has_text="c.png").click()
        await device.answers("Move only those chosen: 2 of 3")
        await device.sees_a_card("Move 2 files")
        await device.answers("Move exactly these 2")
        await device.comes_back()
        await expect(device.at("heard").last).to_contain_text("Moved 2 files")
        await expect(device.at("heard").last).not_to_contain_text("silas batch")
        assert set(listed(place)) == {"Documents/a.pdf", "Documents/b.pdf", "c.png"}
        await device.goes_to("more")
        await device.page.get_by_role("link", name="Moved files").click()
        files = device.at("moved-file")
        await files.filter(has_text="b.pdf").get_by_test_id("undo-file").click()
        await expect(files.filter(has_text="back where it was")).to_have_count(1)
        assert set(listed(place)) == {"Documents/a.pdf", "b.pdf", "c.png"}
        await device.at("undo-batch").click()
        await device.page.get_by_role("button", name="Yes, put them back").click()
        await expect(files.filter(has_text="back where it was")).to_have_count(2)
        assert listed(place) == before
        assert "approval.used" in await cockpit.events()
