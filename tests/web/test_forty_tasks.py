"""A project of 40 tasks in a German cockpit: its card, the graph while it runs, and its undo."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from silas.language import speak
from tests.goals.kit import until
from tests.journeys.test_project_of_forty import NAMES, PLACES, PLAN, TASK
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import PHONE, NewDevice, Size

pytestmark = in_a_browser

_WAITS = NAMES[20]
"""Waits for a sign, so that the graph is looked at while half of it runs."""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """Four places, and the project that fills them; its owner reads German."""
    made = Home(tmp_path)
    file = made.home / "config.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('{"silas": {', '{"silas": {"language": "de", '), encoding="utf-8")
    for place in PLACES:
        (tmp_path / place).mkdir()
        (tmp_path / place / "parts").write_text("", encoding="utf-8")
    plan = PLAN.format(workspace=tmp_path / PLACES[0], tasks=json.dumps(NAMES)).replace(
        "---\n", "---\nrunbook:\n  phrases: [baue vierzig Teile]\n  parameters: {}\n", 1
    )
    sign = f"until test -e {made.signals.folder}/go; do sleep 0.1; done\n"
    for number, name in enumerate(NAMES):
        before = NAMES[number - 4] if number >= 4 else ""
        task = TASK.format(
            name=name,
            number=number,
            workspace=tmp_path / PLACES[number % 4],
            part=number // 4 + 1,
            before=before,
            after=json.dumps([before] if before else []),
        )
        if name == _WAITS:
            task = task.replace("```sh\n", f"```sh\n{sign}", 1)
            task = task.replace("depends_on", f"read: [{made.signals.folder}]\ndepends_on", 1)
        plan += f"\n=== task: {name} ===\n{task}"
    (made.plans / "forty.md").write_text(plan, encoding="utf-8")
    yield made
    speak("en")


def _parts(home: Home) -> list[list[str]]:
    return [(home.folder / one / "parts").read_text(encoding="utf-8").split() for one in PLACES]


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_forty_tasks_are_looked_at_run_and_taken_back(
    home: Home, cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says("baue vierzig Teile")
    card = await device.sees_a_card()
    await expect(card).to_contain_text("Build forty parts")
    assert await device.overflow() == 0
    await device.answers("Dieses Projekt genehmigen und ausführen")
    await until(lambda: len(_parts(home)[1]) == 10)
    await device.page.evaluate("location.hash = '#/more/ahead'")
    await expect(device.page.locator("[data-state=running]")).to_have_count(1)
    await expect(device.page.locator("[data-state=done]")).to_have_count(35)
    assert await device.overflow() == 0
    home.signals.go()
    await device.comes_back()
    stream = device.page.locator(".stream-scroll")
    await expect(stream).to_contain_text("Alle 40 Aufgaben sind erledigt und geprüft: whole.")
    await expect(device.at("result")).to_contain_text("4 Dateien, +40 −0")
    await device.page.evaluate("location.hash = '#/more/work'")
    rows = device.page.locator("#more-body .rows > li")
    await expect(rows).to_have_count(1)
    await rows.locator("a").click()
    tasks = device.at("project").locator("[data-state=done]")
    await expect(tasks).to_have_count(40)
    assert await device.violations() == []
    assert await device.overflow() == 0
    await device.page.locator("#more-body").get_by_test_id("undo").click()
    await expect(device.at("project").locator("[data-state=undone]")).to_have_count(40)
    assert _parts(home) == [[], [], [], []]
