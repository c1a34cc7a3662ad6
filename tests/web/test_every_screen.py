"""Every screen, light and dark, on a phone and on a desktop: readable for everybody, and quiet."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import SIZES, NewDevice, Size
from tests.web.support.examples import GATE
from tests.web.support.library import COPY
from tests.web.support.screens import SCREENS, each_screen, live_in

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
_BELOW_THE_STEPS = {"log-box", "run-message"}
"""What stands below the steps of work, and moves where one more of them begins."""
_SEEN = 0.001
"""A move that an eye sees: a hundredth of what counts as good (0.1); a row that moves by its height
is twice that. Less may be the browser's own: once in some hundred runs it laid the words of the
frame's navigation anew, and nothing else, which no delay of a script or a sheet brings about."""
_MOST_OCTETS = 150_000
"""Of the whole page, fetched for the first time: half a second on a poor line."""


@_EACH_SIZE
async def test_everybody_can_use_every_screen_in_light_and_in_dark(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await live_in(cockpit, device)
    wrong: dict[str, list[str]] = {}
    async for name in each_screen(cockpit, device):
        await device.page.emulate_media(color_scheme="dark")
        dark = await device.violations("color-contrast")
        await device.page.emulate_media(color_scheme="light")
        wrong[name] = [*await device.violations(), *dark]
        if await device.overflow():
            wrong[name].append("it is wider than the screen")
    told = [f"{name}: {what}" for name, found in wrong.items() for what in found]
    assert not told, "\n".join(told)


_LONGER = "document.scrollingElement.scrollHeight - innerHeight"


@_EACH_SIZE
async def test_the_page_itself_is_never_longer_than_the_screen(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    for number in range(1, 4):
        await device.says("help")
        await expect(device.at("heard")).to_have_count(number)
    longer = {"stream": await device.page.evaluate(_LONGER)}
    for screen in SCREENS:
        if screen.name.startswith("more") and screen.name != "more-work-item":
            await screen.arrive(cockpit, device)
            longer[screen.name] = await device.page.evaluate(_LONGER)
    assert not {name: by for name, by in longer.items() if by > 0}


@pytest.mark.proves("S0.5.1-THREE-SURFACES")
@_EACH_SIZE
async def test_the_three_surfaces_are_at_hand_from_each_of_them(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    for here in ("#/stream", "#/review", "#/activity"):
        await device.opens(here)
        for there in ("stream", "review", "activity"):
            at_hand = f".tabs [data-to={there}]" if size.touch else f"#{there}:not(.side)"
            if there == "activity" and not size.touch:  # two side by side; it slides over them
                at_hand = ".wide-nav [data-to=activity]"
            await expect(device.page.locator(at_hand)).to_be_visible()


@pytest.mark.proves("S1.5-ONBOARDING")
@_EACH_SIZE
async def test_everybody_can_pair_and_set_up(
    cockpit: Cockpit, home: Home, new_device: NewDevice, size: Size
) -> None:
    device = await new_device(cockpit.origin, size)
    wrong: list[str] = []
    await device.page.goto(f"{cockpit.origin}/pair")
    await expect(device.page.get_by_text("not complete")).to_be_visible()
    wrong += await device.violations()
    device.expected.append("401")
    await device.page.goto(f"{cockpit.origin}/")
    await expect(device.page.get_by_text("not paired")).to_be_visible()
    wrong += await device.violations()
    await device.page.goto(await cockpit.link())
    await expect(device.at("pair")).to_be_visible()
    wrong += await device.violations()
    (cockpit.config.data_dir / "first-run.json").unlink()  # as if it were the first time
    await device.at("pair").click()
    for words in ("Get started", "Continue", "Continue", "Go to the Stream"):
        button = device.page.locator("#setup").get_by_role("button", name=words)
        await expect(button).to_be_visible()
        wrong += await device.violations()
        await button.click()
    await expect(device.at("composer")).to_be_visible()
    wrong += await device.violations()
    assert not wrong, "\n".join(wrong)


@_EACH_SIZE
async def test_nothing_on_the_page_moves_by_itself_and_little_is_fetched(
    cockpit: Cockpit, whole_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(whole_device, size)
    cold = await device.measures()
    await device.says(COPY)
    await device.sees_a_card()
    await device.answers("Approve and run once")
    await device.comes_back()
    await expect(device.at("result")).to_contain_text("Done")
    asked = cockpit.asking(GATE)  # a question comes while nobody touches anything
    await expect(
        device.page.locator("[data-testid=review-bar], [data-testid=active-card]").first
    ).to_be_attached()
    lived = await device.measures()
    await device.page.reload()
    await device.is_connected()
    await expect(device.at("result")).to_be_visible()
    again = await device.measures()
    for measured in (cold, lived, again):
        moved = [one for one in measured.shifts if not set(one["names"]) <= _BELOW_THE_STEPS]
        assert sum(one["by"] for one in moved) < _SEEN, moved
    assert cold.octets <= _MOST_OCTETS
    assert not asked.done()


async def test_the_page_says_so_when_silas_is_not_there_and_keeps_nothing_of_what_was_said(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    device = await cockpit.paired(keeping_device)
    await device.says("a sentence that nobody else may read")
    await expect(device.at("heard").first).to_be_visible()
    for place in ("#/activity", "#/more/work", "#/more/settings", "#/stream"):
        await device.opens(place)
    await device.page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
    kept: list[str] = await device.page.evaluate(
        """async () => {
          const texts = [];
          for (const name of await caches.keys()) {
            const cache = await caches.open(name);
            for (const request of await cache.keys()) {
              const text = await (await cache.match(request)).text();
              texts.push(`${new URL(request.url).pathname} ${text}`);
            }
          }
          return texts;
        }"""
    )
    assert kept
    assert not [text for text in kept if "nobody else may read" in text]
    paths = {text.partition(" ")[0] for text in kept}
    assert {path for path in paths if not path.startswith("/static/")} <= {"/"}
    device.expects_anything()
    await device.context.set_offline(True)
    await device.page.reload()
    await expect(device.page.get_by_text("cannot be reached").first).to_be_visible()


@pytest.mark.proves("S1.6-PWA")
async def test_the_page_can_be_installed_as_an_application(
    cockpit: Cockpit, whole_device: NewDevice
) -> None:
    device = await cockpit.paired(whole_device, SIZES[0])
    tools: Any = await device.context.new_cdp_session(device.page)
    manifest = await tools.send("Page.getAppManifest")
    assert not manifest["errors"]
    await device.page.evaluate("navigator.serviceWorker.ready.then(() => 1)")
    refused = await tools.send("Page.getInstallabilityErrors")
    reasons = {one["errorId"] for one in refused["installabilityErrors"]}
    assert reasons <= {"in-incognito"}  # as every page of a test is
