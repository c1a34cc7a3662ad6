"""The rest of a project that has ended is asked about from its page, with a card of its own."""

import re

import pytest
from playwright.async_api import Browser, expect

from silas.testing import CallTool, ScriptedModel
from tests.projects.kit import chain, project_text
from tests.stream.kit import planned, proposing
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import PHONE, SIZES, Size, devices
from tests.web.test_conversations import begins, enters
from tests.work.kit import DONE

pytestmark = in_a_browser


def _writes(name: str) -> CallTool:
    return CallTool("shell_exec", {"argv": ["sh", "-c", f"echo {name} >> out.txt"]})


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_the_rest_of_a_failed_project_is_asked_about_and_run(
    home: Home, browser: Browser, size: Size
) -> None:
    given = chain("a", "b", "c")
    for name, fields in given.items():
        run = f"grep -q {name} out.txt" + (" && grep -q go go.txt" if name == "b" else "")
        check = {"name": "right", "run": run, "expect": {"exit_code": 0}}
        fields.update(workspace=str(home.workspace), verify=[check], body="Do it.")
    executor = [_writes("a"), DONE, _writes("b"), DONE, _writes("b"), DONE, _writes("c"), DONE]
    models = planned(proposing(project_text(given)), executor=executor)
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.says("deploy it")
        await device.sees_a_card("Deploy it")
        await device.answers("Approve and run this project")
        await device.comes_back()
        ended = device.at("result").last
        await expect(ended).to_contain_text("“Work” under “More” asks about what is not done")
        (home.workspace / "go.txt").write_text("go\n", encoding="utf-8")
        await device.page.evaluate("location.hash = '#/more/work/project-deploy'")
        button = device.page.locator("#more-body").get_by_test_id("rest")
        await expect(button).to_have_text("Ask about the rest")
        assert await device.overflow() == 0
        assert await device.violations() == []
        await button.click()
        card = await device.sees_a_card("Deploy it (the rest)")
        await expect(card).to_contain_text(re.compile("Do b"))
        await device.answers("Approve and run this project")
        await device.comes_back()
        await expect(device.at("result").last).to_contain_text("All 2 tasks are done")
        assert (home.workspace / "out.txt").read_text(encoding="utf-8") == "a\nb\nc\n"
        await device.page.evaluate("location.hash = '#/more/work/project-deploy'")
        await expect(device.at("project").last).to_be_visible()
        await expect(button).to_have_count(0)


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_what_a_used_up_budget_left_is_asked_about_with_a_budget_of_its_own(
    home: Home, browser: Browser, size: Size
) -> None:
    given = chain("a", "b", "c", "d")
    for name, fields in given.items():
        check = {"name": "right", "run": f"grep -q {name} out.txt", "expect": {"exit_code": 0}}
        fields.update(workspace=str(home.workspace), verify=[check], body="Do it.")
        fields["budget"] = {"max_tokens": 1000, "max_attempts": 1}
    text = project_text(given, budget={"max_tokens": 2000})
    models = planned(proposing(text), executor=[])
    steps = [step for name in given for step in (_writes(name), DONE)]
    models["executor"] = ScriptedModel(steps, tokens=(400, 100))
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.says("deploy it")
        await device.sees_a_card("Deploy it")
        await device.answers("Approve and run this project")
        await device.comes_back()
        await expect(device.at("result").last).to_contain_text("2,000 of 2,000 tokens")
        await device.page.evaluate("location.hash = '#/more/work/project-deploy'")
        page = device.page.locator("#more-body")
        states = device.at("project").last.locator("[data-state]")
        await expect(states).to_have_text([re.compile(f"Do {name}") for name in given])
        await expect(page.get_by_test_id("rest-as")).to_have_count(0)
        assert await device.overflow() == 0
        await page.get_by_test_id("rest").click()
        card = await device.sees_a_card("Deploy it (the rest)")
        await expect(card).to_contain_text("This is the rest of the project project-deploy.")
        await expect(card).to_contain_text("Done before: a, b.")
        await expect(card).to_contain_text("2,000 tokens")
        await expect(card).to_contain_text("project-deploy-rest")
        assert await device.overflow() == 0
        await device.answers("Approve and run this project")
        await device.comes_back()
        await expect(device.at("result").last).to_contain_text("All 2 tasks are done")
        assert (home.workspace / "out.txt").read_text(encoding="utf-8") == "a\nb\nc\nd\n"
        await device.page.evaluate("location.hash = '#/more/work/project-deploy'")
        link = page.get_by_test_id("rest-as")
        await expect(link).to_have_text("Its rest is a project of its own: project-deploy-rest")
        await expect(page.get_by_test_id("rest")).to_have_count(0)
        assert await device.overflow() == 0
        assert await device.violations() == []
        await link.click()
        await expect(page.locator("h2")).to_have_text("Deploy it (the rest)")
        await expect(states).to_have_text([re.compile("Do c done"), re.compile("Do d done")])


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_the_rest_stands_in_the_conversation_in_which_the_project_was_asked_for(
    home: Home, browser: Browser, size: Size
) -> None:
    given = chain("a", "b")
    for name, fields in given.items():
        run = f"grep -q {name} out.txt" + (" && grep -q go go.txt" if name == "b" else "")
        check = {"name": "right", "run": run, "expect": {"exit_code": 0}}
        fields.update(workspace=str(home.workspace), verify=[check], body="Do it.")
    executor = [_writes("a"), DONE, _writes("b"), DONE, _writes("b"), DONE]
    models = planned(proposing(project_text(given)), executor=executor)
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await begins(device)
        await device.says("deploy it")
        await device.sees_a_card("Deploy it")
        await device.answers("Approve and run this project")
        await device.comes_back()
        await expect(device.at("result")).to_have_count(1)
        await begins(device)  # the owner looks at yet another one
        (home.workspace / "go.txt").write_text("go\n", encoding="utf-8")
        await device.page.evaluate("location.hash = '#/more/work/project-deploy'")
        await device.page.locator("#more-body").get_by_test_id("rest").click()
        await device.sees_a_card("Deploy it (the rest)")
        await device.goes_to("conversations")
        row = device.at("conversation").filter(has_text="deploy it")
        await expect(row).to_contain_text("1 card waits")
        await device.comes_back()
        await device.sees_a_card("Deploy it (the rest)")
        await device.answers("Approve and run this project")
        await enters(device, "deploy it")
        await expect(device.at("result")).to_have_count(2)
        await expect(device.at("result").last).to_contain_text("Deploy it (the rest)")
        await enters(device, "Main conversation")
        await expect(device.at("result")).to_have_count(0)
