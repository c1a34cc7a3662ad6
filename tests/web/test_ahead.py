"""The page Ahead under More: a goal that was asked for in words, paused, resumed and taken back."""

import pytest
from playwright.async_api import Locator, expect

from tests.support.clocks import far_hour
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import SIZES, Device, NewDevice, Size
from tests.web.support.library import COPY
from tests.web.support.mirror import mirrored, written
from tests.web.test_conversations import photographed

pytestmark = in_a_browser


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_goal_is_looked_after_on_the_page_ahead(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    at = f"{far_hour(cockpit.config.scheduler.zone):02}:00"
    await device.says(f"every day at {at}, copy the notes")
    await device.sees_a_card()
    await device.answers("Approve this goal")
    await expect(device.no_card()).to_be_attached()
    await device.goes_to("more")
    await device.page.locator("#more-body a[href='#/more/ahead']").click()
    coming = device.at("coming").locator("> li")
    await expect(coming).to_contain_text(at)
    await expect(coming).to_contain_text(f"every day at {at}")
    await expect(device.at("alone").locator("> li")).to_contain_text("used 0 of 20")
    await expect(device.at("alone")).not_to_contain_text("`")
    await expect(device.at("alone").locator("code").first).to_be_visible()
    assert await device.violations() == []
    assert await device.overflow() == 0
    body = device.page.locator("#more-body")
    await body.get_by_role("button", name="Pause").click()
    await expect(device.at("paused").locator("> li")).to_have_count(1)
    await expect(device.at("coming")).to_have_count(0)
    await body.get_by_role("button", name="Resume").click()
    await expect(coming).to_contain_text(at)
    await body.get_by_role("button", name="Take back").click()
    await body.get_by_role("button", name="Yes, ask me again").click()
    await expect(device.at("alone")).to_have_count(0)
    await expect(body).to_contain_text("Each piece of work asks you first.")
    row = device.at("paused").locator("> li")  # without its yes it does not run
    await expect(row).to_have_count(1)
    await expect(row.get_by_role("button", name="Resume")).to_have_count(0)
    await expect(device.at("coming")).to_have_count(0)
    await photographed(device, f"ahead-taken-back-{size.name}")
    await expect(row).to_contain_text("taken back")
    assert await device.violations() == []
    assert await device.overflow() == 0
    assert "approval.revoked" in await cockpit.events()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_goal_that_stands_is_a_result_and_what_is_said_next_stands_below_it(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says(f"every day at {far_hour(cockpit.config.scheduler.zone):02}:00, {COPY}")
    await device.sees_a_card()
    await device.answers("Approve this goal")
    await device.comes_back()
    await expect(device.at("result").locator(".status")).to_have_text("Approved")
    await expect(device.at("running")).to_have_count(0)
    await device.says("show my goals")
    told = device.at("heard").last
    await expect(told).to_contain_text("“Copy the notes”: By the clock")
    await expect(told).to_be_in_viewport()
    below = "(one) => one.getBoundingClientRect().top"
    assert await told.evaluate(below) > await device.at("result").evaluate(below)


_PROJECT = """\
---
runbook:
  phrases: [move the site]
  parameters: {{}}
id: project-site
type: project
title: Move the whole site to where it belongs
workspace: {place}
tasks: [task-get, task-copy, task-tell]
---

Move it.
"""
_TASK = """
=== task: {name} ===
---
id: {name}
type: task
title: {title}
workspace: {place}
read: [{read}]
depends_on: [{after}]
budget: {{ max_attempts: 1 }}
verify:
  - {{ name: there, run: "test -f {name}.txt", expect: {{ exit_code: 0 }} }}
---

```sh
{steps}
touch {name}.txt
```
"""


@pytest.fixture
def site(home: Home) -> Home:
    """A project whose second task waits for the word and then fails; its third never begins."""
    wait = f"until test -e {home.signals.folder}/go; do sleep 0.1; done\nexit 1"
    tasks = {
        "task-get": ("Get every file of the site", "", "true"),
        "task-copy": ("Copy them to where they belong", "task-get", wait),
        "task-tell": ("Tell all the others about it", "task-copy", "true"),
    }
    text = _PROJECT.format(place=home.workspace)
    for name, (title, after, steps) in tasks.items():
        text += _TASK.format(
            name=name, title=title, after=after, steps=steps, place=home.workspace,
            read=home.signals.folder if after == "task-get" else "",
        )  # fmt: skip
    (home.plans / "site.md").write_text(text, encoding="utf-8")
    return home


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_project_is_a_graph_that_can_be_read_and_that_goes_on_by_itself(
    site: Home, cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says("move the site")
    await device.sees_a_card()
    await device.answers("Approve and run this project")
    await device.page.evaluate("location.hash = '#/more/ahead'")
    graph = device.at("project")
    task = graph.locator("[data-state]")
    await expect(task.nth(1)).to_have_attribute("data-state", "running")
    await expect(task).to_have_count(3)
    await expect(task.nth(0)).to_contain_text("done")
    await expect(task.nth(2)).to_contain_text("after Copy them to where they belong")
    for link in await graph.locator("a").all():
        box = await link.bounding_box()
        assert box is not None
        assert box["width"] > 150, "its words stand one under the other"
    assert await device.violations() == []
    assert await device.overflow() == 0
    assert await mirrored(device) == []
    await written(device, "ltr")
    await graph.locator("a").nth(1).focus()
    site.signals.go()
    await expect(graph).to_have_count(0)  # without a hand: it has ended
    await device.page.evaluate("location.hash = '#/more/work'")
    rows = device.page.locator("#more-body .rows > li")
    await expect(rows).to_have_count(1)  # its tasks are on its own page
    await rows.locator("a").click()
    for one, state in zip(await _tasks(device, 3), ("done", "failed", "never"), strict=True):
        await expect(one).to_have_attribute("data-state", state)
    await expect(graph).to_contain_text("never begun")
    assert await device.violations() == []
    assert await device.overflow() == 0
    await device.at("undo").click()
    await expect(task.nth(0)).to_have_attribute("data-state", "undone")


async def _tasks(device: Device, many: int) -> list[Locator]:
    found = device.at("project").locator("[data-state]")
    await expect(found).to_have_count(many)
    return await found.all()


async def test_what_one_device_changes_the_other_shows(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    one = await cockpit.paired(new_device)
    other = await cockpit.paired(new_device)
    at = f"{far_hour(cockpit.config.scheduler.zone):02}:00"
    await one.says(f"every day at {at}, copy the notes")
    await one.sees_a_card()
    await one.answers("Approve this goal")
    await expect(one.no_card()).to_be_attached()
    for device in (one, other):
        await device.page.evaluate("location.hash = '#/more/ahead'")
        await expect(device.at("alone")).to_be_visible()
    await one.page.locator("#more-body").get_by_role("button", name="Pause").click()
    await expect(other.at("paused").locator("> li")).to_have_count(1)
    await other.page.locator("#more-body").get_by_role("button", name="Take back").click()
    await one.page.locator("#more-body").get_by_role("button", name="Resume").click()
    await expect(one.at("coming")).to_contain_text(at)
    yes = other.page.locator("#more-body").get_by_role("button", name="Yes, ask me again")
    await yes.click()  # whoever is asked is not drawn over
    await expect(one.at("alone")).to_have_count(0)
