"""The page shows the files that a plan runs as the terminal does, and a result the changed ones."""

import re
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.async_api import expect

from silas.channels import card_lines
from silas.channels.web.questions import ApprovalRequest
from silas.plans import plan_bytes, plan_card
from silas.plans.bound_files import files_of
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import PHONE, SIZES, NewDevice, Size

pytestmark = in_a_browser
ASKED = "weaken the check"
PLAN = """\
---
runbook:
  phrases: [weaken the check]
  parameters:
    workspace:
      description: the directory of the work, as an absolute path
      pattern: '/.+'
      example: /home/me/project
id: weaken
type: task
title: Weaken the check
interaction_mode: act_and_report
workspace: {workspace}
budget: {{ max_tokens: 10000, max_cost_usd: 0.10, max_wall_time_seconds: 600, max_attempts: 1 }}
verify:
  - name: looked_at
    run: "sh tests/check.sh"
    expect: {{ exit_code: 0 }}
---

# What to do

```sh
sh work.sh
```
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose workspace has a script that changes what the check runs."""
    home = Home(tmp_path)
    (home.workspace / "tests").mkdir()
    (home.workspace / "work.sh").write_text("echo true > tests/check.sh\n")
    (home.workspace / "tests" / "check.sh").write_text("test -s result.txt\n")
    (home.plans / "weaken.md").write_text(PLAN.format(workspace="$workspace"), encoding="utf-8")
    return home


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_the_card_lists_the_files_that_the_plan_runs_as_the_terminal_does(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says(ASKED)
    card = await device.sees_a_card("Weaken the check")
    (event,) = cockpit.channel.cards
    assert isinstance(event, ApprovalRequest)
    waiting = await cockpit.running.silas.runs.proposer.question(event.work_item_id)
    assert waiting is not None
    in_terminal = plan_card(
        plan_bytes(waiting.item), rationale=waiting.rationale, files=files_of(waiting.item)
    )
    terminal = re.sub(r"[\s\\`]", "", "".join(card_lines(in_terminal)))
    part = card.locator("details").filter(has_text="What must be the same when it runs")
    await part.locator("summary").click()
    for name in ("work.sh", "tests/check.sh"):
        digest = sha256((cockpit.home.workspace / name).read_bytes()).hexdigest()
        await expect(part).to_contain_text(f"{name}, which it runs:")
        await expect(part).to_contain_text(f"sha256:{digest}")
        assert digest in terminal
        assert f"{name},whichitruns:" in terminal


async def test_a_result_names_the_files_of_its_own_checks_that_the_work_changed(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device, PHONE)
    await device.says(ASKED)
    await device.sees_a_card("Weaken the check")
    await device.answers("Approve and run once")
    await device.goes_to("stream")
    result = device.at("result")
    await expect(result).to_contain_text("Done")
    told = result.get_by_test_id("checks-changed")
    await expect(told).to_contain_text("Its own checks run what this work changed:")
    await expect(told.locator("code")).to_have_text(["tests/check.sh"])
    await device.page.evaluate(
        "id => { location.hash = `#/more/work/${id}`; }", await result.get_attribute("data-work")
    )
    await expect(device.page.get_by_test_id("checks-changed").last).to_contain_text(
        "tests/check.sh"
    )
