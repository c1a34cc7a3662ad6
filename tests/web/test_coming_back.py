"""Connections break, pages reload, Silas restarts, devices go: nothing is lost or doubled."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.projects.kit import PROJECT, project_text
from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import DESKTOP, PHONE, SIZES, NewDevice, Size, devices
from tests.web.support.examples import FOR_GOOD, GATE
from tests.web.support.library import COPY, SLOWLY

pytestmark = in_a_browser

_BROKEN = ("WebSocket connection", "net::ERR", "failed: GET", "503")
"""What a browser says where there is no server for a while."""


async def test_a_reload_in_mid_run_shows_the_same_run_and_then_its_end(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    device = await cockpit.paired(keeping_device)
    await device.says(SLOWLY)
    await device.sees_a_card()
    await device.answers("Approve and run once")
    await expect(device.at("running")).to_contain_text("Copy the notes, slowly")
    await device.page.reload()
    await device.is_connected()
    await expect(device.at("running")).to_contain_text("Copy the notes, slowly")
    await expect(device.at("said")).to_have_count(1)
    cockpit.home.signals.go()
    await expect(device.at("result")).to_contain_text("Done")
    await expect(device.at("running")).to_have_count(0)


async def test_what_is_undone_elsewhere_is_taken_back_on_every_device_also_after_a_restart(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    device, other = (
        await cockpit.paired(keeping_device),
        await cockpit.paired(keeping_device, PHONE),
    )
    await device.says(COPY)
    await device.sees_a_card("Copy the notes")
    await device.answers("Approve and run once")
    for one in (device, other):
        await expect(one.at("undo")).to_be_attached()
    item = await device.at("result").get_attribute("data-work")
    await cockpit.running.silas.undo(str(item))  # as a program does it; no page asked for it
    assert not cockpit.home.result.exists()
    for one in (device, other):
        await expect(one.at("result")).to_contain_text("Taken back. Everything is as it was")
        await expect(one.at("undo")).to_have_count(0)
        await expect(one.at("result").locator(".status")).to_have_text("Taken back")
    await device.page.reload()
    await device.is_connected()
    await expect(device.at("result")).to_contain_text("Taken back. Everything is as it was")
    await expect(device.at("result").locator(".status")).to_have_text("Taken back")


def _writes(name: str, after: list[str], place: str) -> dict[str, Any]:
    return {
        "workspace": place,
        "depends_on": after,
        "verify": [{"name": "right", "run": f"test -s {name}", "expect": {"exit_code": 0}}],
        "body": f"Do it.\n\n```sh\necho {name} > {name}\n```",
    }


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_project_that_is_undone_elsewhere_is_taken_back_on_its_card(
    cockpit: Cockpit, keeping_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(keeping_device, size)
    place = str(cockpit.home.workspace)
    tasks = {"a": _writes("a", [], place), "b": _writes("b", ["a"], place)}
    run = asyncio.create_task(cockpit.running.silas.run(project_text(tasks)))
    await device.sees_a_card("Deploy it")
    await device.answers("Approve and run this project")
    assert (await asyncio.wait_for(run, SECONDS)).status == "done"
    await device.comes_back()
    result = device.page.locator(f"[data-work={PROJECT}]")
    await expect(result.get_by_test_id("undo")).to_be_attached()
    await cockpit.running.silas.undo(PROJECT)  # as a program does it; no page asked for it
    await expect(result).to_contain_text("Taken back. Everything is as it was")
    await expect(result.get_by_test_id("undo")).to_have_count(0)
    assert await device.violations() == []
    assert await device.overflow() == 0


async def test_a_card_outlives_a_reload_and_is_answered_once(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    device = await cockpit.paired(keeping_device)
    asked = cockpit.asking(GATE)
    await device.sees_a_card(GATE.intent)
    await device.page.reload()
    await device.sees_a_card(GATE.intent)
    await device.answers("Go on")
    assert await asyncio.wait_for(asked, SECONDS) == "approve"
    assert (await cockpit.events()).count("card_answered") == 1


async def test_what_is_said_and_answered_without_a_connection_arrives_when_it_is_back(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    device = await cockpit.paired(keeping_device)
    device.expected += _BROKEN
    asked = cockpit.asking(GATE)
    await device.sees_a_card(GATE.intent)
    await device.loses_the_connection()
    await device.answers("Go on")
    await device.at("composer").fill("good morning")
    await device.page.keyboard.press("Enter")
    await expect(device.at("said").last).to_contain_text("Waits for the connection")
    assert not asked.done()
    await device.has_a_connection_again()
    assert await asyncio.wait_for(asked, SECONDS) == "approve"
    await expect(device.at("heard").first).to_be_visible()
    said = [one for one in cockpit.channel.transcript.after(0, 50).kept if one.type == "message"]
    assert [one.text for one in said if one.sender == "owner"] == ["good morning"]


async def test_with_no_page_connected_nobody_is_asked_and_the_safe_answer_stands(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    assert await asyncio.wait_for(cockpit.ask(FOR_GOOD), SECONDS) == "block"
    device = await cockpit.paired(keeping_device)
    await expect(device.no_card()).to_be_attached()


async def test_two_devices_see_the_same_conversation_and_the_same_run(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    phone, desktop = (
        await cockpit.paired(keeping_device, PHONE),
        await cockpit.paired(keeping_device),
    )
    await phone.says(SLOWLY)
    await expect(desktop.at("said")).to_contain_text(SLOWLY)
    await desktop.sees_a_card()
    await phone.sees_a_card()
    await desktop.answers("Approve and run once")
    await expect(phone.no_card()).to_be_attached()
    await phone.goes_to("stream")
    for device in (phone, desktop):
        await expect(device.at("running")).to_contain_text("slowly")
    cockpit.home.signals.go()
    for device in (phone, desktop):
        await expect(device.at("result")).to_contain_text("Done")


async def test_a_restart_in_mid_run_loses_nothing_and_asks_again_before_it_goes_on(
    browser: Browser, home: Home
) -> None:
    async with devices(browser) as new:
        async with a_cockpit(home) as cockpit:
            port = cockpit.port
            device = await cockpit.paired(new, DESKTOP)
            device.expected += _BROKEN
            await device.says(SLOWLY)
            await device.sees_a_card()
            await device.answers("Approve and run once")
            await expect(device.at("running")).to_be_visible()
        await expect(device.page.locator("#offline")).to_be_visible()
        assert not home.result.exists()
        home.signals.go()
        async with a_cockpit(home, port=port) as cockpit:
            await device.is_connected()
            await expect(device.page.locator("#offline")).to_be_hidden()
            await expect(device.at("said")).to_have_count(1)
            await device.says(COPY)
            await device.sees_a_card("Copy the notes")
            await device.answers("Approve and run once")
            await expect(device.at("result").last).to_contain_text("Done")


_HELD = """\
---
runbook: { phrases: [write beside it], parameters: {} }
id: beside
type: task
title: Write beside what it may
workspace: WORKSPACE
writes: [else.txt]
budget: { max_attempts: 1 }
verify:
  - { name: there, run: "test -s result.txt", expect: { exit_code: 0 } }
---

```sh
cp input.txt result.txt
```
"""


async def test_changes_that_wait_for_a_yes_are_in_review_after_a_restart(
    browser: Browser, home: Home
) -> None:
    text = _HELD.replace("WORKSPACE", str(home.workspace))
    (home.plans / "beside.md").write_text(text, encoding="utf-8")
    question = "Apply 1 change"
    async with devices(browser) as new:
        async with a_cockpit(home) as cockpit:
            port = cockpit.port
            device = await cockpit.paired(new, DESKTOP)
            device.expected += _BROKEN
            await device.says("write beside it")
            await device.sees_a_card("Write beside what it may")
            await device.answers("Approve and run once")
            await device.sees_a_card(question)
        async with a_cockpit(home, port=port):
            await device.is_connected()
            again = device.page.get_by_role("button", name="Show the plan Write beside")
            await again.click()
            await device.sees_a_card(question)
            await expect(again).to_have_count(0)
            await device.answers("Apply exactly these changes")
            await expect(device.at("result").last).to_contain_text("Done")
    assert home.result.exists()


async def test_a_device_that_is_revoked_is_let_go_at_once_and_can_do_nothing_more(
    cockpit: Cockpit, keeping_device: NewDevice
) -> None:
    lost, kept = await cockpit.paired(keeping_device, PHONE), await cockpit.paired(keeping_device)
    lost.expected += ("401", "403")
    asked = cockpit.asking(GATE)
    await lost.sees_a_card(GATE.intent)
    one, _ = sorted(cockpit.running.door.devices(), key=lambda facts: facts.paired_at)
    await cockpit.running.door.revoke(one.id)
    await expect(lost.page.locator("#offline")).to_contain_text("no longer paired")
    await kept.is_connected()
    await lost.answers("Go on")
    await kept.sees_a_card(GATE.intent)
    assert not asked.done()
    await lost.page.reload()
    await expect(lost.page.get_by_text("not paired")).to_be_visible()
    await kept.declines()
    assert await asyncio.wait_for(asked, SECONDS) == "block"
