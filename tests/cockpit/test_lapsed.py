"""A plan that lapsed and is shown again: what it is bound to is read anew, or refuses in words."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from silas.clock import SystemClock
from silas.plans.binding import BINDS
from silas.sandbox.toolchains.search import digest
from silas.sandbox.toolchains.table import RULES
from tests.cockpit.program_page import ProgramPage, a_page
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Cockpit, Home, a_cockpit

ASKED = "run the script"
_YES = {"type": "approval_response", "verdict": "approved"}
_LONG = 300.0
_PLAN = """\
---
runbook:
  phrases: [run the script]
  parameters:
    workspace:
      description: the directory of the work, as an absolute path
      pattern: '/.+'
      example: /home/me/project
id: script
type: task
title: Run the script
interaction_mode: act_and_report
workspace: $workspace
budget: { max_tokens: 10000, max_cost_usd: 0.10, max_wall_time_seconds: 600, max_attempts: 1 }
verify:
  - name: looked_at
    run: "test -s result.txt"
    expect: { exit_code: 0 }
---

# What to do

```sh
sh work.sh
```
"""
_BEFORE = "echo before > result.txt\n"
_AFTER = "echo after > result.txt\n"


class _Patient(SystemClock):
    """A clock whose long waits end when a test says so."""

    def __init__(self) -> None:
        self._over = asyncio.Event()

    def passes(self) -> None:
        """Those who wait now have waited; whoever begins after this waits anew."""
        self._over.set()
        self._over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await (self._over.wait() if seconds >= _LONG else super().sleep(seconds))


class _Lapsed(NamedTuple):
    """A plan whose card lapsed, on a page that is connected."""

    cockpit: Cockpit
    page: ProgramPage
    first: dict[str, Any]

    async def shows_again(self) -> None:
        """Press "Show again"."""
        answer = await self.page.post(f"/work/{self.first['work_item_id']}/ask")
        assert answer.status_code == 200, answer.text

    async def bound(self) -> dict[str, Any]:
        """What the owner's yes binds."""
        item = await self.cockpit.running.silas.runs.store.get(self.first["work_item_id"])
        assert item is not None
        assert item.approval_token is not None
        return item.approval_token.conditions[BINDS]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home whose workspace has a script and a tool of its own; no tools of this machine."""
    home = Home(tmp_path)
    (home.plans / "script.md").write_text(_PLAN, encoding="utf-8")
    (home.workspace / "work.sh").write_text(_BEFORE, encoding="utf-8")
    (own := tmp_path / "owner").mkdir()
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    for moved in filter(None, (rule.variable for rule in RULES)):
        monkeypatch.delenv(moved, raising=False)
    tool = home.workspace / "node_modules" / ".bin" / "lint"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho one\n", encoding="utf-8")
    tool.chmod(0o755)
    return home


@asynccontextmanager
async def _lapsed(home: Home) -> AsyncGenerator[_Lapsed]:
    clock = _Patient()
    async with (
        a_cockpit(home, clock=clock, SILAS_SANDBOX__TOOLS__DISCOVER="true") as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        await page.say(ASKED)
        first = await page.next("approval_request")
        clock.passes()
        closed = await page.next("card_closed")
        assert (closed["request_id"], closed["outcome"]) == (first["request_id"], "expired")
        yield _Lapsed(cockpit, page, first)


def _lines(request: dict[str, Any]) -> str:
    details = request["card"]["details"]
    return "\n".join(line for detail in details for line in detail["lines"])


def _edit_script(home: Home) -> None:
    (home.workspace / "work.sh").write_text(_AFTER, encoding="utf-8")


def _edit_tool(home: Home) -> None:
    tool = home.workspace / "node_modules" / ".bin" / "lint"
    tool.write_text("#!/bin/sh\necho another one\n", encoding="utf-8")


def _another_folder(home: Home) -> None:
    home.workspace.rename(home.workspace.with_name("former"))
    home.workspace.mkdir()
    _edit_script(home)


@pytest.mark.parametrize(
    ("change", "result"),
    [(_edit_script, "after\n"), (_edit_tool, "before\n"), (_another_folder, "after\n")],
    ids=["file", "tool", "folder"],
)
async def test_what_changed_since_it_lapsed_is_on_the_new_card_and_bound_by_its_yes(
    home: Home, change: Callable[[Home], None], result: str
) -> None:
    async with _lapsed(home) as lapsed:
        page, first = lapsed.page, lapsed.first
        change(home)
        await lapsed.shows_again()
        second = await page.next("approval_request")
        assert second["work_item_id"] == first["work_item_id"]
        assert second["request_id"] != first["request_id"]
        assert second["digest"] != first["digest"]
        script = sha256((home.workspace / "work.sh").read_bytes()).hexdigest()
        assert f"sha256:{script}" in _lines(second)
        await page.answer(second, **_YES)
        ended = await page.next("post_execution")
        assert ended["status"] == "done", ended["summary"]
        assert home.result.read_text(encoding="utf-8") == result
        bound = await lapsed.bound()
        assert bound["files"][str(home.workspace / "work.sh")]["sha256"] == script
        assert bound["paths"][str(home.workspace)]["inode"] == home.workspace.stat().st_ino
        tools = home.workspace / "node_modules" / ".bin"
        assert (str(tools) in bound.get("tools", {})) == tools.exists()
        if tools.exists():
            assert bound["tools"][str(tools)]["sha256"] == digest(tools, ())
            assert "project node_modules" in _lines(second)


async def test_a_yes_to_the_card_that_lapsed_runs_nothing(home: Home) -> None:
    async with _lapsed(home) as lapsed:
        await lapsed.page.answer(lapsed.first, **_YES)
        assert (await lapsed.page.next("error"))["message"]
        assert "plan_approved" not in await lapsed.cockpit.events()
    assert not home.result.exists()


def _folder_gone(home: Home) -> None:
    home.workspace.rename(home.workspace.with_name("former"))


def _folder_led_elsewhere(home: Home) -> None:
    _folder_gone(home)
    home.workspace.symlink_to(home.workspace.with_name("former"))


@pytest.mark.parametrize("change", [_folder_gone, _folder_led_elsewhere], ids=["gone", "a link"])
async def test_what_cannot_be_bound_any_more_is_said_in_a_sentence_and_nobody_is_asked(
    home: Home, change: Callable[[Home], None]
) -> None:
    async with _lapsed(home) as lapsed:
        change(home)
        before = (await lapsed.cockpit.events()).count("plan_proposed")
        await lapsed.shows_again()
        async with asyncio.timeout(SECONDS):
            while str(home.workspace) not in (await lapsed.page.next("message"))["text"]:
                pass
        events = await lapsed.cockpit.events()
        assert events.count("plan_proposed") == before
        assert "plan_approved" not in events
        assert lapsed.cockpit.channel.cards == ()
