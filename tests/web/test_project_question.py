"""A task of a project asks its owner in the cockpit, and his answer lets the project go on."""

import re

import pytest
from playwright.async_api import Browser, expect

from silas.testing import CallTool
from tests.projects.kit import chain, project_text
from tests.stream.kit import planned, proposing
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import PHONE, Size, devices
from tests.work.kit import DONE

pytestmark = in_a_browser

_ASKS = CallTool("ask_owner", {"question": "Which colour?", "options": ["red", "blue"]})


def _writes(name: str) -> CallTool:
    return CallTool("shell_exec", {"argv": ["sh", "-c", f"echo {name} >> out.txt"]})


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_question_of_a_task_waits_and_its_answer_lets_the_project_go_on(
    home: Home, browser: Browser, size: Size
) -> None:
    given = chain("a", "b", "c")
    for name, fields in given.items():
        check = {"name": "right", "run": f"grep -q {name} out.txt", "expect": {"exit_code": 0}}
        fields.update(workspace=str(home.workspace), verify=[check], body="Do it.")
    executor = [_writes("a"), DONE, _ASKS, _writes("b"), DONE, _writes("c"), DONE]
    models = planned(proposing(project_text(given)), executor=executor)
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.says("deploy it")
        await device.sees_a_card("Deploy it")
        await device.answers("Approve and run this project")
        card = await device.sees_a_card("Which colour?")
        await expect(card).to_contain_text(
            "A question from the task 'Do b' (b) of the project 'Deploy it' (project-deploy)"
        )
        await device.page.evaluate("location.hash = '#/more/ahead'")
        states = device.page.locator("[data-testid=project] [data-state]")
        await expect(states).to_have_text(
            [
                re.compile("Do a done"),
                re.compile("Do b waits for your answer"),
                re.compile("Do c not begun"),
            ]
        )
        await expect(states.nth(1)).to_have_attribute("data-state", "waiting")
        assert await device.overflow() == 0
        await device.page.evaluate("location.hash = '#/more/work/project-deploy'")
        await expect(states.nth(1)).to_have_text(re.compile("Do b waits for your answer"))
        await device.comes_back()
        await device.sees_a_card("Which colour?")
        await device.answers("blue")
        await device.comes_back()
        await expect(device.at("result").last).to_contain_text("All 3 tasks are done")
        assert (home.workspace / "out.txt").read_text(encoding="utf-8") == "a\nb\nc\n"
        assert "The owner chose 2: blue" in str(models["executor"].requests)
