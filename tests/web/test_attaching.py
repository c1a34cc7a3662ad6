"""Files attached in the page as their owner does it: chosen, dropped, pasted, listed, removed."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.cockpit.test_pictures import SVG, a_photograph, a_png
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import DESKTOP, SIZES, Device, NewDevice, Size, box_of

pytestmark = in_a_browser

LEASE = b"# Lease\n\nIt ends in May. Pay on time.\n"

_GIVE = """([where, name, size, type]) => {
  const given = new DataTransfer();
  given.items.add(new File([new Uint8Array(size).fill(65)], name, { type }));
  const event = where === "drop"
    ? new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true })
    : new ClipboardEvent("paste", { clipboardData: given, bubbles: true, cancelable: true });
  document.getElementById("say").dispatchEvent(event);
  return event.defaultPrevented;
}"""

_HUGE = """() => {
  const given = new DataTransfer();
  const file = new File(["x"], "disk.iso");
  Object.defineProperty(file, "size", { value: 3_000_000_000 });
  const event = new DragEvent("drop", { bubbles: true, cancelable: true });
  const files = Object.assign([file], { item: (n) => [file][n] });
  Object.defineProperty(event, "dataTransfer", { value: { types: ["Files"], files } });
  document.getElementById("say").dispatchEvent(event);
}"""


async def chooses(device: Device, *files: tuple[str, bytes]) -> None:
    async with device.page.expect_file_chooser() as choosing:
        await device.at("attach").click()
    chooser = await choosing.value
    await chooser.set_files([
        {"name": name, "mimeType": "text/plain", "buffer": content} for name, content in files
    ])  # fmt: skip


async def photographed(device: Device, name: str) -> None:
    if place := os.environ.get("SILAS_PICTURES"):
        await device.page.screenshot(path=Path(place) / f"{name}.png")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_chosen_file_is_summarised_saved_listed_and_removed(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await chooses(device, ("My lease.txt", LEASE), ("My lease.txt", LEASE[:-1]))
    chips = device.at("attaching").locator("li")
    await expect(chips).to_have_text(["My-lease.txt38 bytes×", "My-lease-2.txt37 bytes×"])
    await photographed(device, f"attaching-{size.name}")
    await device.page.reload()
    await device.is_connected()
    await expect(chips).to_have_count(2)  # what was not sent is not lost
    await device.page.get_by_label("Do not send My-lease-2.txt").click()
    await expect(chips).to_have_count(1)
    await device.says("summarise this")
    await expect(device.at("heard").last).to_contain_text("It ends in May.")
    await expect(chips).to_have_count(0)
    files = device.at("said").last.get_by_test_id("attached")
    await expect(files).to_contain_text("My-lease.txt")
    await expect(device.at("said").last.locator(".text")).to_have_text("summarise this")
    await photographed(device, f"attached-{size.name}")
    assert await device.violations() == []
    assert await device.overflow() == 0
    async with device.page.expect_download() as saving:
        await files.get_by_role("button", name="Save My-lease.txt").click()
    assert Path(await (await saving.value).path()).read_bytes() == LEASE
    await device.goes_to("conversations")
    await device.at("change").first.click()
    await device.at("show-files").click()
    listed = device.at("files").locator("li")
    await expect(listed).to_have_count(1)
    await photographed(device, f"files-{size.name}")
    assert await device.violations() == []
    await device.page.get_by_label("Remove My-lease.txt").click()
    await expect(listed).to_have_count(0)
    assert list((cockpit.config.data_dir / "attachments" / "first").iterdir()) == []
    events = await cockpit.events()
    assert (events.count("attachment.added"), events.count("attachment.removed")) == (2, 2)


async def test_dropped_and_pasted_files_are_attached_and_one_of_3_gb_is_refused_at_once(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device, DESKTOP)
    sent: list[str] = []
    device.page.on("request", lambda one: sent.append(one.url))
    for where, name in (("drop", "a.txt"), ("paste", "b.txt")):
        assert await device.page.evaluate(_GIVE, [where, name, 5, "text/plain"])
    chips = device.at("attaching").locator("li")
    await expect(chips).to_contain_text(["5 bytes", "5 bytes"])
    asked = len([url for url in sent if "attachments" in url])
    await device.page.evaluate(_HUGE)
    problem = device.at("composer-problem")
    await expect(problem).to_have_text(
        "disk.iso has 3,000 MB, and a file of at most 25 MB can be attached; put it into the "
        "workspace and name it in your message."
    )
    assert len([url for url in sent if "attachments" in url]) == asked
    await expect(chips).to_have_count(2)
    await device.page.keyboard.press("Tab")
    await device.at("composer").fill("compare these")
    await device.page.keyboard.press("Enter")
    await expect(device.at("heard").last).to_contain_text("hold the same")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_pictures_are_shown_in_the_message_and_an_svg_is_never_rendered(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    device.expected.append("409")
    files = (
        ("shot.png", a_png((320, 200))),
        ("seen.jpeg", a_photograph("JPEG", (300, 200))),
        ("evil.svg", SVG),
        ("evil.png", SVG),
    )
    await chooses(device, *files)
    await expect(device.at("attaching").locator("li")).to_contain_text(["bytes"] * 4)
    await device.at("composer").focus()
    await device.page.keyboard.press("Enter")
    said = device.at("said").last
    await expect(said).to_contain_text(
        "evil.png is no PNG, JPEG, GIF or WebP, so it is shown as a file."
    )
    shown = said.locator("img")
    await expect(shown).to_have_count(2)
    for at, (name, width) in enumerate((("shot.png", 320), ("seen.jpeg", 300))):
        await expect(shown.nth(at)).to_have_attribute("alt", name)
        decoded = "(img) => img.decode().then(() => img.naturalWidth)"
        assert await shown.nth(at).evaluate(decoded) == width
    await expect(said.locator("svg, script, iframe, object")).to_have_count(0)
    await photographed(device, f"picture-{size.name}")
    assert await device.violations() == []
    assert await device.overflow() == 0


async def test_a_message_asked_again_says_which_one_it_replaces_on_every_device(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device, other = await cockpit.paired(new_device), await cockpit.paired(new_device)
    await device.says("what is 17 % of 240")
    await expect(device.at("heard")).to_have_count(1)
    await device.at("ask-again").click()
    await expect(device.at("composer")).to_have_value("what is 17 % of 240")
    await device.says("what is 17 % of 250")
    for one in (device, other):
        await expect(one.at("said").first.locator(".meta")).to_contain_text("replaced")
        await expect(one.at("said").last.locator(".meta")).not_to_contain_text("replaced")
    await device.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await device.at("copy-message").first.click()
    await expect(device.page.locator(".toast")).to_have_text("Copied.")
    copied = await device.page.evaluate("navigator.clipboard.readText()")
    assert copied == "what is 17 % of 240"
    await device.page.reload()
    await device.is_connected()
    await expect(device.at("said").first.locator(".meta")).to_contain_text("replaced")


async def _chosen(device: Device, file: Path) -> None:
    async with device.page.expect_file_chooser() as choosing:
        await device.at("attach").click()
    await (await choosing.value).set_files(file)


async def _dropped(device: Device, file: Path) -> None:
    """Drag a file of the disk onto the composer and let it go, as the window system says it."""
    box = await box_of(device.at("composer"))
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
    browser = await device.page.context.new_cdp_session(device.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, **place, "data": data}
        await browser.send("Input.dispatchDragEvent", event)  # pyright: ignore[reportUnknownMemberType]


@pytest.mark.parametrize("give", [_chosen, _dropped], ids=["chosen", "dropped"])
async def test_a_real_file_of_3_gb_is_refused_in_one_sentence_and_the_page_goes_on(
    cockpit: Cockpit,
    new_device: NewDevice,
    tmp_path: Path,
    give: Callable[[Device, Path], Awaitable[None]],
) -> None:
    device = await cockpit.paired(new_device, DESKTOP)
    huge = tmp_path / "holiday film.mkv"
    with huge.open("wb") as file:
        file.truncate(3 * 1024**3)  # sparse: it takes no room
    sent: list[str] = []
    await chooses(device, ("small.txt", b"It fits."))
    await expect(device.at("attaching").locator("li")).to_have_text(["small.txt8 bytes×"])
    await device.at("composer").fill("what was")
    device.page.on("request", lambda one: sent.append(one.url))
    await give(device, huge)
    await expect(device.at("composer-problem")).to_have_text(
        "holiday film.mkv has 3,221 MB, and a file of at most 25 MB can be attached; put it into "
        "the workspace and name it in your message."
    )
    assert [url for url in sent if "attachments" in url] == []
    await expect(device.at("attaching").locator("li")).to_have_text(["small.txt8 bytes×"])
    await expect(device.at("composer")).to_have_value("what was")
    assert await device.overflow() == 0
    address = device.page.url
    await device.says("summarise this")
    await expect(device.at("heard").last).to_contain_text("It fits.")
    assert device.page.url == address  # the browser did not open the file instead
