"""A folder is tidied from the page: the selection is edited and approved, and files go back."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.batches.folders import PDF, ZIP, listed, put
from tests.cockpit.test_pictures import a_png
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PHONE, SIZES, Device, NewDevice, Size

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
    assert await device.page.evaluate(_OFF_THE_LINE) <= 3
    await files.filter(has_text="b.pdf").get_by_test_id("undo-file").click()
    await expect(files.filter(has_text="back where it was")).to_have_count(1)
    assert set(listed(place)) == {"Documents/a.pdf", "b.pdf", "c.png"}
    await device.at("undo-batch").click()
    await device.page.get_by_role("button", name="Yes, put them back").click()
    await expect(files.filter(has_text="back where it was")).to_have_count(2)
    assert listed(place) == before


_OFF_THE_LINE = """() => {
  const middle = (node) => {
    const words = document.createRange();
    words.selectNodeContents(node);
    const { top, height } = words.getBoundingClientRect();
    return top + height / 2;
  };
  const of = (one) => middle(document.querySelector(one));
  return Math.abs(of("[data-testid=undo-batch]") - of(".undo-time"));
}"""


MANY = 214
ENDINGS = ("pdf", "png", "zip", "txt", "csv")


def _filled(place: Path) -> dict[str, bytes]:
    """214 files; most pictures are copies of seven, which a rule may be wrong about."""
    heads = {"pdf": PDF, "zip": ZIP, "txt": b"Dear Anna,\n", "csv": b"a,b\n"}
    for number in range(MANY):
        ending = ENDINGS[number % len(ENDINGS)]
        content = (
            a_png((40 + number % 7, 30))
            if ending == "png"
            else heads[ending] + str(number).encode()
        )
        put(place, f"file-{number:03d}.{ending}", content, now=datetime.now(UTC))
    return listed(place)


async def _answers_all(device: Device) -> None:
    """Every card that is left, each with all of its files."""
    for number in range(2, 23):
        card = await device.sees_a_card(f"({number} of 22)")
        if await card.get_by_text("out of the ordinary").count():
            await expect(card).to_contain_text("0 of ")
            await card.get_by_test_id("choose-all").click()
            await expect(card).not_to_contain_text("left out")
        move = card.get_by_role("button", name="Move exactly these")
        assert await device.answers(await move.inner_text()) == "chip"


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_full_folder_is_moved_in_groups_and_goes_back_whole(
    cockpit: Cockpit,
    new_device: NewDevice,
    size: Size,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / "Downloads"
    before = _filled(place)
    device = await cockpit.paired(new_device, size)
    await device.says("tidy my Downloads")
    card = await device.sees_a_card("(1 of 22)")
    for group in ("To Documents", "To Pictures"):
        await expect(card.locator("li.batch-count", has_text=group)).to_be_visible()
    await expect(card.get_by_test_id("batch-picture").first).to_be_visible()  # others to come
    await expect(card.locator("label", has_text=".txt").first).to_contain_text("Dear Anna,")
    await card.locator("label", has_text="file-000.pdf").click()
    await _photographed(device, "many-card")
    await device.answers("Move only those chosen: 9 of 10")
    await device.sees_a_card("Move 9 files")
    await device.answers("Move exactly these 9")
    await _answers_all(device)
    await device.comes_back()
    await expect(device.at("heard").last).to_contain_text(f"Moved {MANY - 1} files")
    await expect(device.at("heard").last).to_contain_text("In 22 batches; until")
    await _photographed(device, "many-answer")
    now = listed(place)
    assert [name for name in now if "/" not in name] == ["file-000.pdf"]
    assert sorted(now.values()) == sorted(before.values())
    await device.goes_to("more")
    await device.page.get_by_role("link", name="Moved files").click()
    await expect(device.at("batch")).to_have_count(22)  # each of them can go back
    files = device.at("moved-file")
    await files.last.get_by_test_id("undo-file").click()
    await expect(files.filter(has_text="back where it was")).to_have_count(1)
    assert len([name for name in listed(place) if "/" in name]) == MANY - 2
    await device.at("undo-all-batches").click()
    assert await device.violations() == []
    await _photographed(device, "many-moved")
    await device.page.get_by_role("button", name="Yes, put them back").click()
    await expect(files.filter(has_text="back where it was")).to_have_count(MANY - 1)
    await expect(device.at("undo-all-batches")).to_have_count(0)
    assert listed(place) == before


async def test_too_full_a_folder_is_one_sentence_and_a_page_that_goes_on(
    cockpit: Cockpit, new_device: NewDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / "Downloads"
    for number in range(10_000):
        put(place, f"{number}.pdf", now=datetime.now(UTC))
    device = await cockpit.paired(new_device)
    await device.says("tidy my Downloads")
    heard = device.at("heard").last
    await expect(heard).to_contain_text("holds 10,000 files, and Silas looks at 1,000 at most")
    await _photographed(device, "too-many")
    await device.says("what is 2+2?")
    await expect(device.at("heard").last).to_contain_text("4")
    assert len(listed(place)) == 10_000


async def test_of_two_devices_that_answer_one_batch_card_at_once_one_is_told_of_the_other(
    cockpit: Cockpit, new_device: NewDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    place, now = tmp_path / "Downloads", datetime.now(UTC)
    for name, content in (("a.pdf", PDF), ("b.pdf", PDF + b"b"), ("c.pdf", PDF + b"c")):
        put(place, name, content, now=now)
    devices = [await cockpit.paired(new_device) for _ in range(2)]
    await devices[0].says("tidy my Downloads")
    for device, left in zip(devices, ("c.pdf", "a.pdf"), strict=True):
        card = await device.sees_a_card("Move 3 files")
        await card.locator("label", has_text=left).click()
        await expect(card).to_contain_text("2 of 3 chosen")
    with monkeypatch.context() as meeting:
        _meet(cockpit, meeting)
        label = "Move only those chosen: 2 of 3"
        await asyncio.gather(*(device.answers(label) for device in devices))
        told = [device.page.locator("#toasts .toast") for device in devices]
        for one in told:
            await expect(one).to_contain_text("Answered")
        words = sorted([(await one.inner_text()).partition(":")[0] for one in told])
        assert words == ["Answered", "Answered elsewhere"]
    for device in devices:  # the card of what was chosen by who was heard
        await device.sees_a_card("Move 2 files")
    await devices[0].answers("Move exactly these 2")
    await expect(devices[0].at("heard").last).to_contain_text("2 files")
    assert set(listed(place)) in ({"Documents/a.pdf", "Documents/b.pdf", "c.pdf"}, _OTHER)


_OTHER = {"a.pdf", "Documents/b.pdf", "Documents/c.pdf"}


def _meet(cockpit: Cockpit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two answers be looked at before either counts, as those of two devices may be."""
    meet, both = cockpit.channel, asyncio.Barrier(2)
    check = type(meet)._objection  # pyright: ignore[reportPrivateUsage]

    async def after_both(*asked: Any) -> str:
        await both.wait()
        return await check(meet, *asked)

    monkeypatch.setattr(meet, "_objection", after_both)
