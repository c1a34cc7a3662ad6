"""13.4 and 13.5 in the cockpit: a goal that repairs what it watches, and a project to its end."""

import pytest
from playwright.async_api import expect

from tests.goals.kit import until
from tests.journeys.test_project import BEFORE, PLAN, TASK, TASKS
from tests.support.clocks import far_hour
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import PHONE, SIZES, NewDevice, Size

pytestmark = in_a_browser

_MONITOR = """\
---
runbook:
  phrases: [watch the bot]
  parameters: {{}}
id: goal-health-monitor
type: goal
title: Prediction bot health monitor
interaction_mode: act_and_report
schedule: "0 {hour} * * *"
workspace: {place}
budget: {{ max_wall_time_seconds: 120 }}
verify:
  - {{ name: api_responding, run: "cat health", expect: {{ equals: "ok" }} }}
  - {{ name: bot_process_alive, run: "test -s heartbeat", expect: {{ exit_code: 0 }} }}
  - {{ name: last_trade_recent, run: "cat age", expect: {{ output_lt: 3600 }} }}
on_failure: spawn_task
failure_context: |
  The prediction bot health check failed.

  $failed_checks

  ```sh
  echo 120 > age
  ```
---

Health monitor for the prediction market trading bot.
"""


@pytest.fixture
def place(home: Home) -> Home:
    """The bot's folder, and what 13.4 and 13.5 are asked for by."""
    for name, text in {**BEFORE, "health": "ok\n", "heartbeat": "1\n", "age": "9000\n"}.items():
        (home.workspace / name).write_text(text, encoding="utf-8")
    hour = far_hour(home.config().scheduler.zone)  # it runs when its owner says so
    watch = _MONITOR.format(place=home.workspace, hour=hour)
    (home.plans / "watch.md").write_text(watch, encoding="utf-8")
    deploy = PLAN.format(place=home.workspace).replace(
        "---\n", "---\nrunbook:\n  phrases: [deploy version two]\n  parameters: {}\n", 1
    )
    names = list(TASKS)
    for name, (step, check, after) in TASKS.items():
        waits = names[after] if isinstance(after, int) else ""
        title = name.removeprefix("task-").replace("-", " ").capitalize()
        task = TASK.format(
            name=name, title=title, place=home.workspace, step=step, check=check, after=waits
        )
        deploy += f"\n=== task: {name} ===\n{task}"
    (home.plans / "deploy.md").write_text(deploy, encoding="utf-8")
    return home


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_goal_repairs_what_it_watches_under_the_yes_it_was_given(
    place: Home, cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says("watch the bot")
    card = await device.sees_a_card()
    await expect(card).to_contain_text("Prediction bot health monitor")
    await device.answers("Approve this goal")
    await expect(device.no_card()).to_be_attached()
    await device.page.evaluate("location.hash = '#/more/ahead'")
    alone = device.at("alone").locator("> li")
    await expect(alone).to_contain_text("used 0 of 20")
    await device.page.locator("#more-body").get_by_role("button", name="Run now").click()
    await expect(alone).to_contain_text("used 1 of 20")
    await device.page.evaluate("location.hash = '#/more/work'")
    rows = device.page.locator("#more-body .rows > li")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Prediction bot health monitor")
    await until(lambda: (place.workspace / "age").read_text(encoding="utf-8") == "120\n")
    await expect(device.no_card()).to_be_attached()
    assert await device.violations() == []
    assert await device.overflow() == 0
    told = await cockpit.events()
    assert told.count("approval.used") == 1


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_project_is_deployed_with_one_yes_and_taken_back_with_one_tap(
    place: Home, cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says("deploy version two")
    card = await device.sees_a_card()
    for name in ("Run tests", "Build image", "Deploy staging", "Smoke test", "Deploy prod"):
        await expect(card).to_contain_text(name)
    await device.answers("Approve and run this project")
    await device.comes_back()
    stream = device.page.locator(".stream-scroll")
    await expect(stream).to_contain_text("All 5 tasks are done, and verified: prod_healthy.")
    assert (place.workspace / "prod/app").read_text(encoding="utf-8") == "v2\n"
    await device.page.evaluate("location.hash = '#/more/work'")
    rows = device.page.locator("#more-body .rows > li")
    await expect(rows).to_have_count(1)
    await rows.locator("a").click()
    tasks = device.at("project").locator("[data-state]")
    await expect(tasks).to_have_count(5)
    await expect(device.at("project").locator("[data-state=done]")).to_have_count(5)
    assert await device.violations() == []
    assert await device.overflow() == 0
    await device.page.locator("#more-body").get_by_test_id("undo").click()
    await expect(device.at("project").locator("[data-state=undone]")).to_have_count(5)
    assert not (place.workspace / "prod").exists()
    assert (place.workspace / "image").read_text(encoding="utf-8") == BEFORE["image"]
