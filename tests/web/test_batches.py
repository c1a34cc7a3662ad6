"""A folder is tidied from the page: the selection is edited and approved, and files go back."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.batches.folders import PDF, listed, put
from tests.cockpit.test_pictures import a_png
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import SIZES, Device, NewDevice, Size

pytestmark = in_a_browser


async def _photographed(device: Device, name: str) -> None:
    if place := os.environ.get("SILAS_PICTURES"):
        await device.page.screenshot(path=Path(place) / f"{name}-{device.size.name}.png")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_batch_is_chosen_from_moved_and_taken_back_by_one_and_by_all(
    cockpit: Cockpit,
    new_device: NewDevice,
    size: Size,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place, now = tmp_path / "Downloads", datetime.now(UTC)
    for name, content in (("a.pdf", PDF), ("b.pdf", PDF + b"b"), ("c.png", a_png())):
        put(place, name, content, now=now)
    before = listed(place)
    device = await cockpit.paired(new_device, size)
    await device.says("tidy my Downloads")
    card = await device.sees_a_card("Move 3 files")
    await expect(card.get_by_test_id("batch-picture")).to_be_visible()  # without a tap
    await card.locator("label", has_text="c.png").click()
    await expect(card).to_contain_text("2 of 3 chosen")
    await expect(card.get_by_test_id("batch-picture")).to_have_count(1)
    await _photographed(device, "batch-card")
    await device.answers("Move only those chosen: 2 of 3")
    await device.sees_a_card("Move 2 files")  # exactly what was chosen, on a card of its own
    await device.answers("Move exactly these 2")
    await device.comes_back()
    await expect(device.at("heard").last).to_contain_text("2 files")
    assert set(listed(place)) == {"Documents/a.pdf", "Documents/b.pdf", "c.png"}
    await device.goes_to("more")
    await device.page.get_by_role("link", name="Moved files").click()
    files = device.at("moved-file")
    await expect(files.filter(has_text="moved:")).to_have_count(2)
    assert await device.violations() == []
    await _photographed(device, "moved-files")
    await files.filter(has_text="b.pdf").get_by_test_id("undo-file").click()
    await expect(files.filter(has_text="back where it was")).to_have_count(1)
    assert set(listed(place)) == {"Documents/a.pdf", "b.pdf", "c.png"}
    await device.at("undo-batch").click()
    await device.page.get_by_role("button", name="Yes, put them back").click()
    await expect(files.filter(has_text="back where it was")).to_have_count(2)
    assert listed(place) == before
