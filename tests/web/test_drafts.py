"""An answer that grows on the page, and what takes its place."""

from pathlib import Path

from playwright.async_api import expect

from tests.support.speaking import Speaker, direct, pieces
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import NewDevice

pytestmark = in_a_browser

ANSWER = "Good morning. It is <b>nine</b>, and `tea` is ready."


def elsewhere(tmp_path: Path) -> Home:
    """A home beside that of the cockpit which every test here has."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    return Home(place)


async def test_an_answer_grows_on_the_page_and_its_message_takes_its_place(
    tmp_path: Path, new_device: NewDevice
) -> None:
    speaker = Speaker(pieces(direct(ANSWER), 3), paced=True)
    async with a_cockpit(elsewhere(tmp_path), models={"proxy": speaker.model}) as cockpit:
        device = await cockpit.paired(new_device)
        other = await cockpit.paired(new_device)
        await device.says("what time is it?")
        for come, shown in (
            ("Good morning. It", "Good"),
            ("<b>nine", "Good morning. It is"),
            ("`tea` is", "nine</b>, and"),
        ):
            speaker.release_through(come)
            for one in (device, other):
                await expect(one.page.locator(".coming .text")).to_contain_text(shown)
        assert await device.at("heard").count() == 0
        speaker.release(300)
        heard = device.at("heard").last
        await expect(heard.locator(".text")).to_have_text(ANSWER.replace("`", ""))
        await expect(heard.locator("code")).to_have_text("tea")
        for one in (device, other):
            await expect(one.page.locator(".coming")).to_have_count(0)
            assert await one.page.locator(".log-list b").count() == 0


async def test_a_page_that_is_opened_in_the_middle_sees_what_was_said_so_far(
    tmp_path: Path, new_device: NewDevice
) -> None:
    wrong = direct("Wrong, quite wrong.").removesuffix("}") + "]"
    speaker = Speaker(pieces(wrong), pieces(direct("Right.")), paced=True)
    async with a_cockpit(elsewhere(tmp_path), models={"proxy": speaker.model}) as cockpit:
        device = await cockpit.paired(new_device)
        await device.says("hello")
        coming = device.page.locator(".coming .text")
        speaker.release_through("Wrong, quite wrong")
        await expect(coming).to_contain_text("Wrong,")
        await device.page.reload()
        await device.is_connected()
        await expect(coming).to_contain_text("Wrong,")
        speaker.release(300)
        await expect(device.at("heard").last).to_contain_text("Right.")
        await expect(device.page.locator(".coming")).to_have_count(0)
        await expect(device.page.locator("#stream")).not_to_contain_text("Wrong")
