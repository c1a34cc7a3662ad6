"""The browser itself: the tests around the cockpit mean something only if it is a real one."""

import pytest
from playwright.async_api import Browser, Error

from tests.web.support.chromium import in_a_browser

pytestmark = in_a_browser


async def test_the_browser_makes_keys_that_nobody_can_take_out_of_it(browser: Browser) -> None:
    page = await browser.new_page()
    await page.route("**/*", lambda route: route.fulfill(body="<title>here</title>"))
    await page.goto("http://127.0.0.1:9/")
    made = "crypto.subtle.generateKey('Ed25519', false, ['sign'])"
    assert await page.evaluate(f"async () => (await {made}).privateKey.extractable") is False
    await page.close()


async def test_the_browser_reaches_no_other_machine(browser: Browser) -> None:
    page = await browser.new_page()
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        await page.goto("http://example.com/")
    await page.close()
