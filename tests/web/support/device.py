"""A device of the owner's: a page in a context of its own, and all that went wrong in it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import axe_playwright_python
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    FloatRect,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

from tests.support.waits import SECONDS

PATIENCE_MS = SECONDS * 1000
"""The longest that anything is waited for in a page."""

expect.set_options(timeout=PATIENCE_MS)

_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

_WATCH = """
window.__seen = { shift: 0, shifts: [], paint: 0, blocked: 0 };
const watch = (type, each) => new PerformanceObserver((list) => list.getEntries().forEach(each))
  .observe({ type, buffered: true });
watch('layout-shift', (entry) => {
  if (entry.hadRecentInput) return;
  __seen.shift += entry.value;
  __seen.shifts.push({
    by: entry.value,
    names: entry.sources.map((s) => s.node && (s.node.className || s.node.nodeName)),
    from: entry.sources.map((s) => s.previousRect.toJSON()),
    to: entry.sources.map((s) => s.currentRect.toJSON()),
    screen: innerWidth,
  });
});
watch('largest-contentful-paint', (entry) => { __seen.paint = entry.startTime; });
watch('longtask', (entry) => { __seen.blocked += Math.max(0, entry.duration - 50); });
"""


class Size(NamedTuple):
    """A screen, in CSS pixels."""

    name: str
    width: int
    height: int
    touch: bool


PHONE = Size("phone", 375, 812, True)
DESKTOP = Size("desktop", 1280, 800, False)
SIZES = (PHONE, DESKTOP)
Scheme = Literal["light", "dark"]
Gesture = Literal["tap", "chip", "slide"]
"""What an answer took: one tap, a second one on a chip, or a slide (spec 0.5.2)."""
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


class Measures(NamedTuple):
    """What Lighthouse would look at, by the browser's own entries.

    Attributes:
        shift: Cumulative layout shift that nobody's hand caused, from the page's start until now.
        shifts: What moved, for whoever has to mend it: by how much, what, from where to where.
        paint_ms: Largest contentful paint.
        blocked_ms: Total blocking time: of every task longer than 50 ms what is beyond these.
        octets: What came over the network, as it was transferred.
        requests: How many requests that took.
    """

    shift: float
    shifts: list[dict[str, Any]]
    paint_ms: float
    blocked_ms: float
    octets: float
    requests: int


_GO = """
(hash) => new Promise((done) => {
  if (location.hash === hash) return done();
  addEventListener("hashchange", () => requestAnimationFrame(() => done()), { once: true });
  location.hash = hash;
})
"""
"""Go there, and wait until the page has begun to draw it: before that it is quiet, too."""

_HEARD = "() => new Promise((done) => requestAnimationFrame(() => done()))"
"""Wait until the page has heard of what was pressed just now: before that it is quiet, too."""

_LOOKED_AT = """async (options) => {
  if (!("axe" in window)) return null;
  await Promise.allSettled(document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().endTime !== Infinity)
    .map((one) => one.finished));
  const { violations } = await axe.run(document, options);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => [id, target, failureSummary]));
}"""
"""Waits for what comes into view: halfway it has other colours. Gives what is wrong and nothing
of what is right, which is most of what axe-core has to tell."""


_KEEP = """() => {
  const gone = Element.prototype.remove;
  Element.prototype.remove = function () { if (!this.matches(".toast")) gone.call(this); };
}"""


async def keep_notices(page: Page) -> None:
    """Let a word about what just happened stay until another comes, however long one looks."""
    await page.evaluate(_KEEP)


async def box_of(place: Locator) -> FloatRect:
    """Where something is, once it stands still: a hand that aims at it must not miss."""
    await place.scroll_into_view_if_needed()
    box = await place.bounding_box()
    assert box is not None
    return box


async def violations(page: Page, *rules: str) -> list[str]:
    """What axe-core finds wrong on a page, a line each; see `Device.violations`."""
    only = {"runOnly": {"type": "rule", "values": list(rules)}} if rules else {}
    options = {"resultTypes": ["violations"], **only}
    found: list[tuple[str, Any, str]] | None = await page.evaluate(_LOOKED_AT, options)
    if found is None:
        await page.evaluate(_AXE)
        found = await page.evaluate(_LOOKED_AT, options)
    assert found is not None
    return [f"{rule}: {target} {summary}" for rule, target, summary in found]


class Device:
    """One page. Whatever the browser complains about is kept, and fails the test at its end.

    Attributes:
        page: The page.
        troubles: Console errors, exceptions, failed requests, refusals, requests to other hosts.
        expected: Parts of troubles that this test makes on purpose.
    """

    def __init__(self, context: BrowserContext, page: Page, origin: str, size: Size) -> None:
        self.context = context
        self.size = size
        self.page = page
        self.origin = origin
        self.troubles: list[str] = []
        self.expected: list[str] = []
        self.requested: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", self._raised)
        context.on("request", self._asked)
        context.on("requestfailed", self._failed)
        context.on("response", self._answered)

    def _said(self, message: ConsoleMessage) -> None:
        if "status of 503" in message.text and "/static/" in message.location.get("url", ""):
            return  # as in `_answered`
        if message.text == "Service Worker registration blocked by Playwright":
            return  # as this device was made
        if "closed before the connection is established" in message.text:
            return  # the network is back: an attempt that began without it is given up for another
        if message.type in ("error", "warning"):
            self.troubles.append(f"console {message.type}: {message.text}")

    def _raised(self, error: Error) -> None:
        self.troubles.append(f"exception: {error.message}")

    def _asked(self, request: Request) -> None:
        self.requested.append(request.url)
        own = urlsplit(self.origin).netloc
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != own:
            self.troubles.append(f"another host: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure == "net::ERR_ABORTED" and request.method == "GET":
            return  # the browser's own doing: the page was left while something was on its way
        if request.failure == "net::ERR_CONNECTION_REFUSED" and "/static/" in request.url:
            return  # the server ended while a part of the page was still to come, as below
        self.troubles.append(f"failed: {request.method} {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status == 503 and "/static/" in response.url:
            return  # the server's: it was ending while a part of the page was on its way
        if response.status >= 400:
            self.troubles.append(f"{response.status}: {response.request.method} {response.url}")

    def unexpected(self) -> list[str]:
        """What went wrong and was not meant to."""
        return [t for t in self.troubles if not any(part in t for part in self.expected)]

    def forgets_troubles(self) -> list[str]:
        """The same, and none of it is told again: for a device that several tests use."""
        found = self.unexpected()
        self.troubles.clear()
        self.expected.clear()
        return found

    def expects_anything(self) -> None:
        """Whatever goes wrong from here on is this test's doing."""
        self.expected.append("")

    def at(self, test_id: str) -> Locator:
        """A part of the page by the name that is there for tests."""
        return self.page.get_by_test_id(test_id)

    async def pair(self, link: str, name: str = "Test device") -> None:
        """Open the link as its owner would, and wait until the page is connected."""
        await self.page.goto(link)
        await self.page.get_by_label("What to call it").fill(name)
        await self.at("pair").click()
        await self.is_connected()

    async def is_connected(self) -> None:
        """Until the page shows the Stream and is connected."""
        await expect(self.page.locator("#link")).to_have_attribute("data-link", "open")

    async def goes_to(
        self, surface: Literal["stream", "conversations", "review", "activity", "more"]
    ) -> None:
        """Another surface, by its link."""
        await self.page.locator(f"[data-to={surface}]:visible").first.click()
        await expect(self.page.locator(f"#{surface}")).to_be_visible()

    async def comes_back(self) -> None:
        """To the Stream, from wherever."""
        await self.page.evaluate("() => { location.hash = '#/stream'; }")
        await expect(self.page.locator("#stream")).to_be_visible()

    async def opens(self, address: str) -> None:
        """A place of the page by its address, such as `#/more/work`, until it is drawn."""
        await self.page.evaluate(_GO, address)
        await self.is_quiet()

    async def is_quiet(self) -> None:
        """Until everything that was asked of the server is drawn."""
        await self.page.evaluate(_HEARD)
        await expect(self.page.locator("[aria-busy=true], .skeleton")).to_have_count(0)

    async def says(self, text: str) -> None:
        """Write and send."""
        await self.at("composer").fill(text)
        await self.page.keyboard.press("Enter")
        await expect(self.at("said").last).to_contain_text(text)

    async def sees_a_card(self, intent: str = "") -> Locator:
        """The card on the table, where Review is."""
        if self.size.touch and await self.page.evaluate("document.body.dataset.view") != "review":
            await self.goes_to("review")
        card = self.at("active-card")
        await expect(card).to_be_visible()
        if intent:
            await expect(card).to_contain_text(intent)
        return card

    async def answers(self, label: str, *, exact: bool = True) -> Gesture:
        """Press an action of the card by its words, finish its gesture, and say which it was."""
        card = self.at("active-card")
        await card.get_by_role("button", name=label, exact=exact).click()
        gesture = self.page.locator("[data-testid=confirm], [data-testid=slide]")
        closed = self.page.locator("[data-testid=active-card].answered")
        await expect(gesture.or_(closed).or_(self.no_card())).to_be_attached()
        if await self.at("confirm").is_visible():
            await self.at("confirm").click()
            return "chip"
        if await self.at("slide").is_visible():
            await self.slides()
            return "slide"
        return "tap"

    async def declines(self) -> None:
        """Say no, by the card's own words for it."""
        await self.at("active-card").get_by_test_id("action-decline").click()

    async def tabs_to(self, target: Locator, most: int = 60) -> None:
        """Press Tab until this has the focus, as somebody without a mouse does."""
        for _ in range(most):
            if await target.evaluate("(node) => node === document.activeElement"):
                return
            await self.page.keyboard.press("Tab")
        raise AssertionError(f"{most} presses of Tab do not lead to {target}")

    async def loses_the_connection(self) -> None:
        """The device leaves the network, as in a tunnel; what it was loading then is lost."""
        self.expected.append("ERR_INTERNET_DISCONNECTED")
        await self.context.set_offline(True)
        await self.page.evaluate("dispatchEvent(new Event('offline'))")
        await expect(self.page.locator("#link")).to_have_attribute("data-link", "lost")

    async def has_a_connection_again(self) -> None:
        """It is back."""
        await self.context.set_offline(False)
        await self.page.evaluate("dispatchEvent(new Event('online'))")
        await self.is_connected()

    def no_card(self) -> Locator:
        """What is there when no question is open."""
        return self.page.locator("#review:not(:has([data-testid=active-card]))")

    async def slides(self) -> None:
        """Draw the slider to its end, as a finger or a mouse does."""
        box = await box_of(self.at("slide"))
        y = box["y"] + box["height"] / 2
        mouse = self.page.mouse
        await mouse.move(box["x"] + 20, y)
        await mouse.down()
        for step in range(1, 21):
            await mouse.move(box["x"] + 20 + (box["width"] - 22) * step / 20, y)
        await mouse.up()

    async def violations(self, *rules: str) -> list[str]:
        """What axe-core finds wrong on the page as it is now, a line each; none is the aim.

        Args:
            rules: These alone; all of them, best practices included, where none is named.
        """
        return await violations(self.page, *rules)

    async def measures(self) -> Measures:
        """What the page cost so far."""
        seen = await self.page.evaluate("window.__seen")
        loaded: list[float] = await self.page.evaluate(
            "[...performance.getEntriesByType('navigation'),"
            " ...performance.getEntriesByType('resource')].map((e) => e.transferSize)"
        )
        return Measures(
            float(seen["shift"]),
            seen["shifts"],
            float(seen["paint"]),
            float(seen["blocked"]),
            sum(loaded),
            len(loaded),
        )

    async def overflow(self) -> int:
        """By how many pixels the page is wider than its screen."""
        wide: int = await self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return wide


NewDevice = Callable[..., Awaitable[Device]]


@asynccontextmanager
async def devices(
    browser: Browser, workers: Literal["allow", "block"] = "allow"
) -> AsyncGenerator[NewDevice]:
    """Makes devices; at the end each is closed, and one that had unexpected trouble fails.

    Args:
        browser: Where they are.
        workers: Whether the page may keep its files for when Silas is away, by a service worker.
    """
    made: list[Device] = []

    async def new(
        origin: str,
        size: Size = DESKTOP,
        scheme: Scheme = "light",
        *,
        motion: Literal["reduce", "no-preference"] = "reduce",
    ) -> Device:
        context = await browser.new_context(
            viewport={"width": size.width, "height": size.height},
            has_touch=size.touch,
            is_mobile=size.touch,
            color_scheme=scheme,
            reduced_motion=motion,
            locale="en-GB",
            timezone_id="Etc/UTC",
            service_workers=workers,
        )
        context.set_default_timeout(PATIENCE_MS)
        await context.add_init_script(_WATCH)
        made.append(Device(context, await context.new_page(), origin, size))
        return made[-1]

    try:
        yield new
    finally:
        for device in made:
            await device.context.close()
    troubles = [trouble for device in made for trouble in device.unexpected()]
    if troubles:
        raise AssertionError("\n".join(troubles))
