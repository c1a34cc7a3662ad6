"""What the owner said is forgotten: no door shows it, or what was made of it, any more (16.14)."""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from silas.agents import ExecutorAgentOutput
from silas.services.mcp_server import Services
from silas.stream.scope_work import NOT_SHOWN
from silas.testing import ScriptedModel
from tests.cockpit.program_page import ProgramPage, a_page
from tests.support.command import ROOT, environment, person, run, silas
from tests.support.plans import a_workspace
from tests.web.support.cockpit import Cockpit, Home, a_cockpit, forget
from tests.web.support.library import COPY
from tests.work.kit import sh

Door = Callable[[], Awaitable[str]]

REMEMBER = "remember that Mia is seven"


def telling() -> dict[str, Any]:
    """An executor that writes, prints and reports what the owner had said before."""
    report = ExecutorAgentOutput(summary="Mia is seven.")
    does = sh("cp input.txt result.txt; echo Mia >> result.txt; echo Mia")
    return {"executor": ScriptedModel([does, report])}


def pages(cockpit: Cockpit, page: ProgramPage, item: str, applied: int) -> dict[str, Door]:
    """What a page asks for, and what an MCP client is told."""

    def door(path: str) -> Door:
        async def shown() -> str:
            return (await page.get(path)).text

        return shown

    async def told() -> str:
        silas = cockpit.running.silas
        return await Services(silas, silas.ahead).plan_status({"id": item})

    async def reconnects() -> str:
        await page.gone()
        return json.dumps((await page.connect())["transcript"])

    async def api() -> str:
        result = await cockpit.running.silas.runs.work.result(item)
        return "" if result is None else result.model_dump_json()

    return {
        "transcript": door("/transcript?before=1000"),
        "work": door("/work"),
        "one piece of work": door(f"/work/{item}"),
        "activity": door(f"/activity/{applied}"),
        "a page that connects": reconnects,
        "MCP": told,
        "Python": api,
    }


TELLS_NO_WORDS = {"work"}
"""Doors that have none of it before, either: their summary is a count of checks."""


async def test_what_the_owner_said_is_forgotten_at_every_door(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with (
        a_cockpit(home, models=telling()) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        await page.say(REMEMBER)
        await page.next("message")  # his own words
        await page.next("message")  # the answer
        await page.say(COPY)
        plan = await page.next("approval_request")
        await page.answer(plan, type="approval_response", verdict="approved")
        result = await page.next("post_execution")
        item = result["work_item_id"]
        entries: Any = (await page.get(f"/activity?item={item}&everything=true")).json()
        (applied,) = [
            one["seq"] for one in entries["entries"] if one["event"] == "workspace_applied"
        ]
        doors = pages(cockpit, page, item, applied)
        before = {name: await shown() for name, shown in doors.items()}
        assert {name for name, text in before.items() if "Mia" not in text} == TELLS_NO_WORDS

        await forget(cockpit.config, "channel:web")
        withheld = await page.next("withheld")
        assert {1, 2, result["seq"]} <= set(withheld["seqs"])
        after = {name: await shown() for name, shown in doors.items()}
        assert {name: text for name, text in after.items() if "Mia" in text} == {}
        hidden = {name for name, text in after.items() if NOT_SHOWN in text}
        assert doors.keys() - hidden <= {"activity"}  # an entry shows its diff or none

        await page.say("remember that Rex is three")  # said after it, so it stays
        await page.next("message")
        await page.next("message")
        kept = await doors["a page that connects"]()
        assert "Rex is three" in kept
        assert "Mia" not in kept


RUNBOOK = """---
runbook:
  phrases: [write it down]
  parameters:
    workspace: { description: the directory, example: /home/me/desk }
id: note
type: task
title: Write it down
workspace: $workspace
verify:
  - { name: written, run: cat note.txt, expect: { contains: Mia } }
---

```sh
echo Mia > note.txt; echo Mia
```
"""


def test_no_command_shows_it_either(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "out.json"
    env = environment(home)
    assert run(silas("init"), env).code == 0
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "note.md").write_text(RUNBOOK)
    settings = {"silas": {"plans_dirs": [str(tmp_path / "plans")]}}
    (home / "config.yaml").write_text(json.dumps(settings))
    workspace = a_workspace(tmp_path / "desk")
    assert run(silas("ask", REMEMBER), env).code == 0
    ask = ["ask", "write it down", "--workspace", str(workspace), "--json"]
    apart = ["sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", str(out)]
    with person([*apart, sys.executable, "-m", "silas", *ask], env, cwd=ROOT) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        assert owner.leaves() == 0
    result = json.loads(out.read_text())["result"]
    assert "Mia" in result["output"]  # the document of a request has all of it
    item = result["work_item_id"]
    doors = {
        "show": ("show", item),
        "show --json": ("show", item, "--json"),
        "diff": ("diff", item),
        "diff --json": ("diff", item, "--json"),
    }

    def told() -> dict[str, str]:
        """Without the plan, which stays as it was signed: its check names what it looks for."""
        ended = {name: run(silas(*words), env) for name, words in doors.items()}
        assert {one.code for one in ended.values()} == {0}
        kept = {name: one.out + one.err for name, one in ended.items()}
        document = json.loads(ended["show --json"].out)
        assert "Mia" in json.dumps(document.pop("plan"))
        kept["show --json"] = json.dumps(document)
        kept["show"] = kept["show"].partition("What it printed")[2] or kept["show"][-1500:]
        return kept

    assert {name for name, text in told().items() if "Mia" not in text} == set()
    search = ("memory", "search", "Mia", "--raw")
    assert "Mia" in run(silas(*search), env).out
    assert run(silas("memory", "forget", "channel:cli", "--yes"), env).code == 0
    after = told()
    assert {name for name, text in after.items() if "Mia" in text} == set()
    assert {name for name, text in after.items() if NOT_SHOWN not in text} == set()
    assert "Mia" not in run(silas(*search), env).out
    assert run(silas("undo", item), env).code == 0  # what was done can still be taken back
