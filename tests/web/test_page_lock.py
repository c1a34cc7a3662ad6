"""What cannot be undone: the slide, and the device's own lock where it has one (spec 0.5.2)."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from silas.channels.web.wire import GateResponse, decision_bytes, inbound
from tests.web.support.chromium import in_a_browser
from tests.web.support.examples import FOR_GOOD
from tests.web.support.stage import Stage, shown, stage

pytestmark = in_a_browser

NAMED = "localhost:9"  # no browser offers its lock to a page whose host is a number


async def _locked(there: Stage, *, opens: bool) -> None:
    """Give the device a lock that its owner opens, or does not."""
    session: Any = await there.page.context.new_cdp_session(there.page)
    await session.send("WebAuthn.enable")
    lock = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasUserVerification": True,
        "hasResidentKey": True,
        "isUserVerified": opens,
        "automaticPresenceSimulation": True,
    }
    await session.send("WebAuthn.addVirtualAuthenticator", {"options": lock})


async def _slides(there: Stage) -> None:
    there.send(shown(FOR_GOOD))
    await there.page.get_by_test_id("action-recommended").click()
    await expect(there.page.get_by_test_id("slide")).to_be_focused()
    await there.page.keyboard.press("End")
    await there.page.keyboard.press("Enter")


@pytest.mark.parametrize("host", [NAMED, "127.0.0.1:9"])
async def test_what_cannot_be_undone_is_slid_and_the_lock_is_asked_where_there_is_one(
    browser: Browser, host: str
) -> None:
    async with stage(browser, host) as there:
        if host == NAMED:
            await _locked(there, opens=True)
        for _ in range(2):  # the first makes the lock known, the second asks it
            await _slides(there)
            response = inbound.validate_python(await there.next())
            assert isinstance(response, GateResponse)
            assert response.proof is not None
            assert response.verdict == "approve"
            digest = shown(FOR_GOOD).digest
            assert there.signed(decision_bytes(response, digest), response.proof)
            await there.page.reload()
            await there.is_connected()


async def test_a_lock_that_is_not_opened_sends_nothing_and_says_so(browser: Browser) -> None:
    async with stage(browser, NAMED) as there:
        await _locked(there, opens=False)
        await _slides(there)
        confirm = there.page.get_by_role("group", name="Confirm")
        await expect(confirm).to_contain_text("nothing was sent")
        await expect(there.page.get_by_test_id("slide")).to_have_value("0")
        assert there.heard == []
        await there.page.get_by_test_id("action-decline").click()
        assert (await there.next())["verdict"] == "block"
