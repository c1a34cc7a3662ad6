"""Reminders, memories, secrets and devices, looked after under More as their owner does it."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from silas.home.secret_store import secrets_of
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import SIZES, Device, Size, devices

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)


Pages = dict[str, Device]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def house(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[tuple[Cockpit, Pages]]:
    """One for all: each test looks after things of its own kind, and leaves none of them."""
    home = Home(tmp_path_factory.mktemp("kept"))
    async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
        yield cockpit, {size.name: await cockpit.paired(new, size) for size in SIZES}


@pytest.fixture
def cockpit(house: tuple[Cockpit, Pages]) -> Cockpit:
    """The house's."""
    return house[0]


@pytest_asyncio.fixture(loop_scope="session")
async def pages(house: tuple[Cockpit, Pages]) -> AsyncGenerator[Pages]:
    """A page of each size; what goes wrong in one is told of the test that it went wrong in."""
    yield house[1]
    troubles = {name: page.forgets_troubles() for name, page in house[1].items()}
    assert not any(troubles.values()), troubles


async def _at(pages: Pages, size: Size, name: str) -> Device:
    device = pages[size.name]
    await device.goes_to("more")
    await device.page.locator(f"#more-body a[href='#/more/{name}']").click()
    await device.is_quiet()
    return device


def _button(place: Locator | Device, name: str) -> Locator:
    within = place.page.locator("#more-body") if isinstance(place, Device) else place
    return within.get_by_role("button", name=name)


async def _is_usable(device: Device) -> None:
    assert await device.violations() == []
    assert await device.overflow() == 0


@_EACH_SIZE
async def test_a_reminder_is_read_made_moved_and_cancelled(pages: Pages, size: Size) -> None:
    device = await _at(pages, size, "reminders")
    device.expected.append("400")  # what says no time is refused
    field = device.page.get_by_label("What to remind you of, and when")
    await field.fill("call the dentist")
    await device.page.keyboard.press("Enter")
    await expect(device.page.locator("#more-body [role=alert]").first).to_contain_text("Say when")
    await expect(field).to_have_value("call the dentist")
    await field.fill("in 20 minutes to call the dentist")
    await device.page.keyboard.press("Enter")
    shown = device.at("reminder-shown")
    await expect(shown).to_contain_text("Remind you: call the dentist")
    await expect(device.at("reminder-yes")).to_be_focused()
    await _is_usable(device)
    await expect(device.at("reminders")).to_have_count(0)  # nothing counts before the yes
    await device.at("reminder-yes").click()
    row = device.at("reminders").locator("> li")
    await expect(row).to_contain_text("call the dentist")
    await _button(row, "Move call the dentist").click()
    await device.page.get_by_label("When instead").fill("every second Friday at ten")
    await device.page.keyboard.press("Enter")
    await expect(shown.locator("li")).to_have_count(4)
    await _is_usable(device)
    await device.at("reminder-yes").click()
    await expect(row).to_contain_text("every 2 weeks on Friday")
    await _button(row, "Cancel call the dentist").click()
    await _is_usable(device)
    await _button(row, "Yes, cancel it").click()
    await expect(device.page.get_by_text("Nothing is to come.")).to_be_visible()


_DRAWN = """import("/static/state.js").then((state) => {
  window.drawn = new Promise((done) => state.on("happened", () => setTimeout(done, 1500)));
})"""


async def test_an_open_field_outlives_what_happens_meanwhile(pages: Pages) -> None:
    phone, desktop = [await _at(pages, size, "reminders") for size in SIZES]
    await _is_reminded(phone, "the first")
    await _button(desktop, "Move see the first").click()
    await desktop.page.evaluate(_DRAWN)
    await _is_reminded(phone, "the second")
    await desktop.page.evaluate("window.drawn")
    await expect(desktop.page.get_by_label("When instead")).to_be_focused()
    await _button(desktop, "Move see the first").click()  # closed: what happened is shown
    for name in ("the first", "the second"):
        await _button(desktop, f"Cancel see {name}").click()
        await _button(desktop, "Yes, cancel it").click()
    await expect(phone.page.get_by_text("Nothing is to come.")).to_be_visible()


async def _is_reminded(device: Device, text: str) -> None:
    await device.page.get_by_label("What to remind you of").fill(f"in 20 minutes to see {text}")
    await device.page.keyboard.press("Enter")
    await device.at("reminder-yes").click()
    row = device.at("reminders").locator("> li").filter(has_text=text)
    await expect(row).to_be_visible()


@_EACH_SIZE
async def test_a_memory_is_added_explained_corrected_and_forgotten(
    pages: Pages, size: Size
) -> None:
    device = await _at(pages, size, "memory")
    await device.at("memory-add").click()
    await device.page.get_by_label("What should Silas remember?").fill("The dentist is Odile.")
    await _is_usable(device)
    await _button(device, "Remember it").click()
    row = device.at("memories").locator("li")
    await expect(row).to_contain_text("The dentist is Odile.")
    await row.locator("summary").click()
    await expect(row).to_contain_text("only your own words change it")
    await expect(row).to_contain_text("It came from this page.")
    await _button(row, "Correct").click()
    words = device.page.get_by_label("What is right")
    await expect(words).to_have_value("The dentist is Odile.")
    await words.fill("The dentist is Ada.")
    await _is_usable(device)
    await _button(row, "Put it in its place").click()
    await expect(row).to_contain_text("The dentist is Ada.")
    await _button(row, "Forget").click()
    await _button(row, "Yes, forget it").click()
    await expect(row).to_have_count(0)
    await expect(device.page.get_by_text("Nothing is remembered yet.")).to_be_visible()


@_EACH_SIZE
async def test_a_secret_is_added_listed_and_removed_and_shown_nowhere(
    cockpit: Cockpit, pages: Pages, size: Size
) -> None:
    value = "a-value-that-nobody-sees"
    device = await _at(pages, size, "secrets")
    await device.page.get_by_label("Name").fill("NOTION_TOKEN")
    await device.page.get_by_label("Value").fill(value)
    await _is_usable(device)
    await _button(device, "Keep it").click()
    row = device.at("secrets").locator("li")
    await expect(row).to_contain_text("NOTION_TOKEN")
    assert value not in await device.page.content()
    assert [one.name for one in secrets_of(cockpit.config).facts()] == ["NOTION_TOKEN"]
    await expect(device.no_card()).to_be_attached()
    await _is_usable(device)
    await _button(row, "Remove NOTION_TOKEN").click()
    await _button(row, "Yes, remove it").click()
    await expect(device.page.get_by_text("There are no secrets.")).to_be_visible()
    assert secrets_of(cockpit.config).facts() == ()


@_EACH_SIZE
async def test_a_device_is_called_otherwise(cockpit: Cockpit, pages: Pages, size: Size) -> None:
    device, name = await _at(pages, size, "devices"), f"the kitchen {size.name}"
    at = list(pages).index(size.name)
    before = [one.name for one in cockpit.running.door.devices()]
    await _button(device, "Rename").nth(at).click()
    await device.page.get_by_label("What to call it").fill(name)
    await _is_usable(device)
    await device.page.keyboard.press("Enter")
    await expect(device.page.locator("#more-body .row b").nth(at)).to_have_text(name)
    after = [one.name for one in cockpit.running.door.devices()]
    assert after == [*before[:at], name, *before[at + 1 :]]


_ENDS_FIRST = """import("/static/keys.js").then(async (keys) => {
  let ended = false;
  const put = IDBObjectStore.prototype.put;
  IDBObjectStore.prototype.put = function (...what) {
    this.transaction.addEventListener("complete", () => { ended = true; });
    return put.apply(this, what);
  };
  await keys.put("probe", "x");
  IDBObjectStore.prototype.put = put;
  return [ended, await keys.get("probe")];
})"""


async def test_what_a_browser_keeps_is_kept_before_the_page_goes_on(pages: Pages) -> None:
    """A page that is left before the end of the transaction loses its key, as a new phone did."""
    (page, *_) = [device.page for device in pages.values()]
    assert await page.evaluate(_ENDS_FIRST) == [True, "x"]
