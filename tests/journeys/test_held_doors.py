"""Changes that wait for a yes, from every door: nothing is applied, nothing is lost (B22)."""

import io
import json
import sys
from pathlib import Path
from typing import Any

from silas.agents import ExecutorAgentOutput
from silas.cards import Card, HeldCard, PlanAnswer, PlanCard
from silas.channels.mcp import OwnerElsewhere
from silas.plans import WorkItemStatus
from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel
from silas.testing.cards import a_card
from silas.tools import RunApprovalMode, RunApprovalPolicy
from tests.cockpit.house import a_house
from tests.journeys.reporting_model import PRINTED, REPORT
from tests.support.command import ROOT, environment, person, run, silas
from tests.support.plans import a_workspace, sh_plan, writing_plan
from tests.work.kit import state_of

DONE = ExecutorAgentOutput(summary="Did it.")

RUNBOOK = """---
runbook:
  phrases: [tidy the desk]
  parameters:
    workspace: { description: the directory, example: /home/me/desk }
id: tidy
type: task
title: Tidy the desk
workspace: $workspace
---

```sh
rm input.txt
```
"""


class Owner:
    """Approves plans; says one word to changes that wait, or nothing."""

    def __init__(self) -> None:
        self.word = ""
        self.channel = ScriptedChannel(self._answer)

    def _answer(self, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return PlanAnswer(verdict="approved")
        return (isinstance(card, HeldCard) and self.word) or card.safe

    @property
    def held(self) -> list[HeldCard]:
        return [card for card in self.channel.cards if isinstance(card, HeldCard)]


def test_the_commands_keep_show_apply_and_drop_without_a_terminal(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    workspace = a_workspace(tmp_path / "desk")
    plan = tmp_path / "plan.md"
    blocks = ("echo to be seen; seq 1000 1400", "rm input.txt")
    plan.write_text(sh_plan(*blocks, workspace=str(workspace), verify=None, id="task-tidy"))
    checked = run(silas("plan", "check", plan), env).out
    assert "may change: nothing; what it changes is shown to you first" in checked
    digest = checked.rpartition("sha256:")[2].split()[0]
    before = state_of(workspace)

    ended = run(silas("run", plan, "--approve", f"sha256:{digest}"), env)
    assert (ended.code, state_of(workspace)) == (3, before)
    assert "Apply 1 change" in ended.out
    printed = ["    to be seen", *(f"    {number}" for number in range(1000, 1401))]
    assert "\n".join(printed) in ended.out
    assert "silas approvals approve task-tidy" in ended.err
    assert "held       task-tidy" in run(silas("status"), env).out
    [row] = json.loads(run(silas("approvals", "list", "--json"), env).out)
    assert (row["state"], row["paths"][0]["path"]) == ("held", "input.txt")
    shown = run(silas("approvals", "show", "task-tidy"), env).out
    assert "-as it was" in shown
    assert f"sha256:{row['changes_hash']}" in shown
    assert shown.index("What it printed (not Silas's words)") < shown.index("to be seen")
    assert " 1400" in shown
    assert "Not applied" in run(silas("diff", "task-tidy"), env).err
    assert "\n".join(printed) in run(silas("show", "task-tidy"), env).out
    document = json.loads(run(silas("show", "task-tidy", "--json"), env).out)
    assert [line for line in document["output"].split("\n") if line in printed] == printed

    # nobody to ask, another hash: nothing; the hash of these changes: applied
    for given in ([], ["--approve", f"sha256:{digest}"]):
        again = run(silas("approvals", "approve", "task-tidy", *given), env)
        assert (again.code, state_of(workspace)) == (3, before)
    yes = ["--approve", f"sha256:{row['changes_hash']}"]
    applied = run(silas("approvals", "approve", "task-tidy", *yes), env)
    assert (applied.code, state_of(workspace)) == (0, {}), applied.err
    assert run(silas("undo", "task-tidy"), env).code == 0
    assert state_of(workspace) == before

    assert run(silas("run", plan, "--approve", f"sha256:{digest}", "--json"), env).code == 3
    assert run(silas("approvals", "deny", "task-tidy"), env).code == 0
    assert json.loads(run(silas("approvals", "list", "--json"), env).out) == []
    assert run(silas("approvals", "approve", "task-tidy"), env).code != 0
    assert state_of(workspace) == before
    assert run(silas("audit", "verify"), env).code == 0


def test_no_command_tells_of_held_work_what_was_forgotten(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    workspace = a_workspace(tmp_path / "desk")
    plan = tmp_path / "plan.md"
    plan.write_text(
        sh_plan("cat secret.txt", "rm input.txt", workspace=str(workspace), verify=None, id="tidy")
    )
    (workspace / "secret.txt").write_text("to be seen\n")
    digest = run(silas("plan", "check", plan), env).out.rpartition("sha256:")[2].split()[0]
    assert run(silas("run", plan, "--approve", f"sha256:{digest}"), env).code == 3
    doors = (["approvals", "show", "tidy"], ["approvals", "approve", "tidy"], ["show", "tidy"])
    for door in doors:
        assert "to be seen" in run(silas(*door), env).out
    assert run(silas("memory", "forget", "tool:shell_exec", "--yes"), env).code == 0
    for door in doors:
        told = run(silas(*door), env).out
        assert "to be seen" not in told
        assert "Not shown, because what it rests on was forgotten." in told


def test_the_document_of_a_request_has_all_that_held_work_printed_and_reported(
    tmp_path: Path,
) -> None:
    home, out = tmp_path / "home", tmp_path / "out.json"
    env = environment(home, SILAS_MODELS__EXECUTOR="python:tests.journeys.reporting_model:make")
    assert run(silas("init"), environment(home)).code == 0
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "tidy.md").write_text(RUNBOOK)
    settings = {"silas": {"plans_dirs": [str(tmp_path / "plans")]}}
    (home / "config.yaml").write_text(json.dumps(settings))
    workspace = a_workspace(tmp_path / "desk")
    before = state_of(workspace)
    ask = ["ask", "tidy the desk", "--workspace", str(workspace), "--json"]
    apart = ["sh", "-c", 'out=$1; shift; exec "$@" > "$out"', "sh", str(out)]
    with person([*apart, sys.executable, "-m", "silas", *ask], env, cwd=ROOT) as owner:
        owner.waits_for("Tidy the desk")
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        owner.waits_for("3  Apply nothing, keep them")
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("3\r")
        assert owner.leaves() == 3
    document = json.loads(out.read_text())
    result = document["result"]
    assert (document["outcome"], result["status"]) == ("dispatched", "blocked")
    assert result["output"].split("\n")[1:] == [f"    {line}" for line in PRINTED]
    assert result["report"] == REPORT
    [row] = json.loads(run(silas("approvals", "list", "--json"), env).out)
    assert (row["work_item"], row["changes_hash"]) == (result["work_item_id"], result["held"])
    assert state_of(workspace) == before


async def test_the_python_api_ends_blocked_and_names_what_waits(tmp_path: Path) -> None:
    workspace, owner = a_workspace(tmp_path / "desk"), Owner()
    async with Harness(owner.channel) as h:
        result = await h.silas.run(writing_plan(workspace, writes="none"))
        assert (result.status, result.held) == (WorkItemStatus.blocked, owner.held[0].digest)
        assert not (workspace / "result.txt").exists()
        owner.word = "apply"
        assert (await h.silas.answer(result.work_item_id)).status is WorkItemStatus.done
    assert (workspace / "result.txt").exists()


async def test_a_request_starts_work_whose_changes_wait(tmp_path: Path) -> None:
    workspace, owner = a_workspace(tmp_path / "desk"), Owner()
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "tidy.md").write_text(RUNBOOK)
    settings = {"plans_dirs": [str(tmp_path / "plans")]}
    async with Harness(owner.channel, settings=settings) as h:
        reply = await h.silas.ask("tidy the desk", workspace=workspace)
        assert reply.plan is not None, reply.text
        result = await h.silas.wait(reply.plan.id)
        assert result is not None
        assert (result.status, len(owner.held)) == (WorkItemStatus.blocked, 1)
    assert (workspace / "input.txt").exists()


async def test_the_cockpit_lists_what_waits_and_asks_again(tmp_path: Path) -> None:
    workspace, owner = a_workspace(tmp_path / "desk"), Owner()
    async with a_house(owner.channel) as house:
        result = await house.harness.silas.run(writing_plan(workspace, writes="none"))
        (row,) = await house.get("/work")
        assert (row["status"], row["undoable"]) == ("waiting", False)
        assert "wait" in row["summary"]
        owner.word = "apply"
        assert (await house.post(f"/work/{result.work_item_id}/ask")).status_code == 200
        await house.harness.silas.stream.stop()  # waits for what is under way
        (row,) = await house.get("/work")
        assert (row["status"], len(owner.held)) == ("done", 2)
    assert (workspace / "result.txt").exists()


async def test_whoever_asks_over_mcp_applies_nothing() -> None:
    log = io.StringIO()
    assert await OwnerElsewhere(log).ask("owner", a_card(HeldCard)) == "keep"


async def test_a_worker_follows_what_the_one_that_sent_it_had_read(tmp_path: Path) -> None:
    workspace, owner = a_workspace(tmp_path / "desk"), Owner()
    folder = tmp_path / "workers"
    folder.mkdir()
    for name, more in (("lead", "delegates: [helper]\n"), ("helper", "")):
        (folder / f"{name}.worker").write_text(
            f"---\nname: {name}\ndescription: The {name}.\nmodel: python:harness:{name}\n"
            f"toolsets: {{ shell: }}\n{more}---\nDo it.\n"
        )
    cat = CallTool("shell_exec", {"argv": ["cat", "input.txt"]})
    hand_on = CallTool("delegate", {"worker": "helper", "task": "Remove input.txt."})
    remove = CallTool("shell_exec", {"argv": ["rm", "input.txt"]})
    models = {
        "lead": ScriptedModel([cat, hand_on, DONE]),
        "helper": ScriptedModel([remove, DONE]),
    }
    settings = {"workers_dir": str(folder)}
    async with Harness(owner.channel, models=models, settings=settings) as h:
        plan = writing_plan(workspace, worker="lead", verify=[_PASSES])
        result = await h.silas.run(plan)
        assert result.status is WorkItemStatus.blocked, result.summary
    assert (workspace / "input.txt").exists()
    [card] = owner.held
    [sources] = [d.lines for d in card.details if d.heading == "Whose words led there"]
    assert any("Run cat input.txt" in line for line in sources)


_PASSES = {"name": "ok", "run": "true", "expect": {"exit_code": 0}}


async def test_a_run_that_asks_nobody_keeps_its_changes(tmp_path: Path) -> None:
    workspace, owner = a_workspace(tmp_path / "desk"), Owner()
    owner.word = "apply"
    policy = RunApprovalPolicy(mode=RunApprovalMode("reject_all"))
    async with Harness(owner.channel) as h:
        result = await h.silas.run(writing_plan(workspace, writes="none"), policy=policy)
        assert (result.status, owner.held) == (WorkItemStatus.blocked, [])
        assert h.silas.runs.holding.held.ids() == [result.work_item_id]
    assert not (workspace / "result.txt").exists()
