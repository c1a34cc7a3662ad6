"""The main job from a browser: ask, plan card, approve, watch, verified, undo; and saying no."""

import re

import pytest
from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PHONE, SIZES, Device, NewDevice, Scheme, Size
from tests.web.support.library import COPY, SLOWLY
from tests.web.support.mirror import mirrored, written

pytestmark = in_a_browser


@pytest.mark.proves("S0.5.5-UNDO-WINDOW")
@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_what_is_asked_is_planned_approved_done_verified_and_taken_back(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says(COPY)
    card = await device.sees_a_card("Copy the notes")
    await expect(card).to_contain_text("result_is_there")
    assert not cockpit.home.result.exists()
    await device.answers("Approve and run once")
    await device.goes_to("stream") if size.touch else None
    result = device.at("result")
    await expect(result).to_contain_text("Done")
    await expect(result.get_by_label("Checks")).to_contain_text("result_is_there passed")
    await result.get_by_text("What changed").click()
    await expect(result).to_contain_text("+as it was")
    assert cockpit.home.result.read_text() == "as it was\n"
    await device.at("undo").click()
    await expect(result).to_contain_text("Taken back")
    assert not cockpit.home.result.exists()
    events = await cockpit.events()
    order = ("card_answered", "approval.issued", "approval.used", "tool_call.attempted")
    assert [event for event in events if event in order] == list(order)
    assert (await cockpit.running.silas.audit.verify_chain()).valid


async def test_a_plan_that_is_declined_leaves_everything_as_it_was(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device, PHONE)
    await device.says(COPY)
    await device.sees_a_card("Copy the notes")
    await device.declines()
    await expect(device.no_card()).to_be_attached()
    await device.goes_to("stream")
    await expect(device.at("heard").last).to_contain_text("nothing was run")
    assert not cockpit.home.result.exists()


async def test_running_work_is_watched_and_stopped_from_the_page(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device)
    await device.says(SLOWLY)
    await device.sees_a_card("slowly")
    await device.answers("Approve and run once")
    run = device.at("running")
    await expect(run).to_contain_text("Copy the notes, slowly")
    under_way = run.locator(".steps li[data-state=running] span[dir=auto]")
    await expect(under_way).to_contain_text("Run Python")  # where it stays until it is stopped
    await expect(run.locator(".run-message.unseen")).to_have_text(await under_way.inner_text())
    await expect(run.locator(".log")).to_contain_text("waiting for the word")  # it still runs
    await expect(run.locator(".step-time")).to_have_text(re.compile(r", (under 1|\d+) s"))
    await expect(run.locator(".nearly")).to_have_count(0)  # one of one attempts is no alarm
    assert await device.violations() == []
    assert await mirrored(device) == []
    await written(device, "ltr")
    await run.get_by_role("button", name="Stop this").click()
    await expect(run).to_have_count(0)
    await expect(device.at("result")).not_to_contain_text("Done")
    assert not cockpit.home.result.exists()


@pytest.mark.proves("B10-BUTTON")
async def test_the_emergency_stop_ends_work_and_the_owner_lets_it_go_on(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device, other = await cockpit.paired(new_device), await cockpit.paired(new_device, PHONE)
    await device.says(SLOWLY)
    await device.sees_a_card("slowly")
    await device.answers("Approve and run once")
    await expect(device.at("running")).to_be_visible()
    await other.at("stop").click()
    await other.at("stop-now").click()
    for one in (device, other):
        await expect(one.page.locator("#stopped")).to_be_visible()
    assert cockpit.stopped()
    await expect(device.at("running")).to_have_count(0)
    await device.at("resume").click()
    for one in (device, other):
        await expect(one.page.locator("#stopped")).to_be_hidden()
    assert not cockpit.stopped()
    assert not cockpit.home.result.exists()


async def test_the_main_job_is_done_with_the_keyboard_alone(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await new_device(cockpit.origin)
    keys = device.page.keyboard
    await device.page.goto(await cockpit.link())
    await expect(device.at("pair")).to_be_visible()
    await device.tabs_to(device.at("pair"))
    await keys.press("Enter")
    await device.is_connected()
    await device.tabs_to(device.at("composer"))
    await keys.type(COPY)
    await keys.press("Enter")
    yes = device.at("active-card").get_by_role("button", name="Approve and run")
    await expect(yes).to_be_visible()
    await device.tabs_to(yes)
    await keys.press("Enter")
    await expect(device.at("confirm").or_(device.at("slide"))).to_be_focused()
    if await device.at("slide").is_visible():
        await keys.press("End")
    await keys.press("Enter")
    await expect(device.at("result")).to_contain_text("Done")
    await device.tabs_to(device.at("undo"))
    await keys.press("Enter")
    await expect(device.at("result")).to_contain_text("Taken back")


@pytest.mark.proves("S0.5-AUDIT-PLAIN-LANGUAGE", "S8.2-CHAT-APART")
async def test_what_happened_is_told_in_sentences_and_what_is_said_is_no_question(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device)
    await device.says("good morning")
    await expect(device.at("heard").last).to_be_visible()
    await expect(device.no_card()).to_be_attached()
    await expect(device.page.locator("#review")).not_to_contain_text("good morning")
    await device.says(COPY)
    await device.sees_a_card("Copy the notes")
    await device.answers("Approve and run once")
    await expect(device.at("result")).to_contain_text("Done")
    await device.goes_to("activity")
    entries = device.page.locator("#activity-body")
    await expect(entries).to_contain_text("You approved the plan “Copy the notes”.")
    await entries.get_by_role("button", name="Decided").click()
    await expect(device.at("entry").filter(has_text="approved the plan")).to_have_count(1)
    await device.at("entry").filter(has_text="approved the plan").click()
    await expect(entries).to_contain_text("What was shown")
    await expect(entries).to_contain_text("What it may touch")


_OFF = """
const There = Date, off = %d * 60_000;
window.Date = class extends There {
  constructor(...given) { given.length ? super(...given) : super(There.now() + off); }
  static now() { return There.now() + off; }
};
"""


@pytest.mark.parametrize("minutes", [10, -10, 400 * 24 * 60], ids=["ahead", "behind", "a year"])
async def test_what_a_phone_whose_clock_is_off_signs_counts_and_it_counts_down_by_silas(
    cockpit: Cockpit, new_device: NewDevice, minutes: int
) -> None:
    async def off(origin: str, size: Size = PHONE, scheme: Scheme = "light") -> Device:
        device = await new_device(origin, size, scheme)
        await device.context.add_init_script(_OFF % minutes)
        return device

    phone = await cockpit.paired(off, PHONE)
    await phone.says(COPY)
    card = await phone.sees_a_card("Copy the notes")
    await expect(card.locator(".until")).to_contain_text(re.compile(r"Waits [1-4]:\d\d more"))
    await phone.answers("Approve and run once")
    await phone.goes_to("stream")
    await expect(phone.at("result")).to_contain_text("Done")
    assert cockpit.home.result.exists()
    assert "message_replayed" not in await cockpit.events()
