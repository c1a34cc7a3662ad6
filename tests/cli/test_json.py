"""Every command that reads has `--json`: one JSON document on stdout and nothing else."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import silas as silas_package
from silas.main import cli
from tests.support.command import environment, run, silas
from tests.support.plans import a_workspace, check, sh_plan
from tests.support.tree import commands

BUNDLED = Path(silas_package.__file__).parent / "skills" / "bundled"

READS: dict[str, tuple[str, ...]] = {
    "approvals clock": (),
    "ahead": (),
    "approvals list": ("--all",),
    "approvals showing": (),
    "audit show": ("--last", "3"),
    "audit verify": (),
    "batch list": (),
    "calls list": (),
    "config path": (),
    "config show": (),
    "config validate": (),
    "conversations list": (),
    "conversations search": ("anything",),
    "conversations show": ("first",),
    "devices list": (),
    "doctor": (),
    "goals list": (),
    "projects list": (),
    "keys export": (),
    "keys show": (),
    "mcp list": (),
    "memory list": (),
    "memory search": ("anything",),
    "persona show": (),
    "plan check": ("PLAN",),
    "queue list": (),
    "remind list": (),
    "secrets list": (),
    "service status": (),
    "skills list": (),
    "skills validate": ("SKILL",),
    "status": (),
    "tools list": (),
    "workers list": (),
}
"""Commands that only look, and what they are given here."""

READS_ONE = {
    "approvals show",
    "batch show",
    "diff",
    "goals history",
    "goals next",
    "goals show",
    "projects show",
    "memory show",
    "conversations files",
    "show",
}
"""Commands that only look at one thing that must be kept first: each has tests of its own."""

ACTS = {
    "approve",
    "approvals approve",
    "approvals ask-again",
    "approvals deny",
    "approvals narrow",
    "approvals revoke",
    "approvals tighten",
    "ask",
    "audit accept",
    "audit export",
    "audit witness",
    "batch tidy",
    "batch undo",
    "calls settle",
    "chat",
    "config set",
    "conversations archive",
    "conversations delete",
    "conversations export",
    "conversations rename",
    "conversations restore",
    "demo",
    "devices link",
    "devices name",
    "devices revoke",
    "goals pause",
    "goals resume",
    "goals run",
    "init",
    "keys rotate",
    "mcp add",
    "mcp change",
    "mcp distrust",
    "mcp remove",
    "mcp serve",
    "mcp trust",
    "memory add",
    "memory correct",
    "memory export",
    "memory forget",
    "memory import",
    "persona feedback",
    "persona preset",
    "projects rest",
    "queue done",
    "remind cancel",
    "remind me",
    "remind move",
    "resume",
    "run",
    "secrets add",
    "secrets remove",
    "service install",
    "service remove",
    "setup",
    "signer",
    "skills import",
    "skills install",
    "skills remove",
    "start",
    "stop",
    "undo",
}


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def has_json(command: click.Command) -> bool:
    return any("--json" in parameter.opts for parameter in command.params)


def test_every_command_reads_or_acts_and_every_one_that_reads_has_json() -> None:
    known = dict(commands())
    assert known.keys() == READS.keys() | READS_ONE | ACTS
    assert len(known) == len(READS) + len(READS_ONE) + len(ACTS)
    without = {name for name in known.keys() - ACTS if not has_json(known[name])}
    assert without == set()


@pytest.mark.parametrize("name", READS)
def test_what_it_prints_is_one_document(name: str, here: Path, tmp_path: Path) -> None:
    assert here.is_dir()
    plan = tmp_path / "plan.md"
    plan.write_text(sh_plan("true", id="task-json", verify=check("true")), encoding="utf-8")
    skill = next(each for each in BUNDLED.iterdir() if (each / "SKILL.md").is_file())
    given = {"PLAN": str(plan), "SKILL": str(skill)}
    done = invoke(*name.split(), *(given.get(word, word) for word in READS[name]), "--json")
    assert done.exit_code == 0, done.output
    assert isinstance(json.loads(done.stdout), list | dict), done.stderr


def test_a_checked_plan_is_its_hash_and_all_of_it(tmp_path: Path, here: Path) -> None:
    assert here.is_dir()
    plan = tmp_path / "plan.md"
    plan.write_text(sh_plan("true", id="task-json", verify=check("true")), encoding="utf-8")
    digest = invoke("plan", "check", plan).stdout.splitlines()[-1]
    document = json.loads(invoke("plan", "check", plan, "--json").stdout)
    assert f"sha256:{document['plan_hash']}" == digest
    assert (document["id"], document["plan"]["id"]) == ("task-json", "task-json")


def test_a_diff_as_json_is_the_patch_and_whether_it_waits(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    work = a_workspace(tmp_path / "work")
    plan = tmp_path / "plan.md"
    text = sh_plan("touch made.txt", id="task-json", workspace=str(work), verify=check("true"))
    plan.write_text(text, encoding="utf-8")
    digest = run(silas("plan", "check", plan), env).out.splitlines()[-1]
    assert run(silas("run", plan, "--approve", digest), env).code == 0
    patch = run(silas("diff", "task-json"), env).out
    assert "made.txt" in patch
    document = json.loads(run(silas("diff", "task-json", "--json"), env).out)
    facts = {"held": False, "words": "", "taken_back": ""}
    assert document == {"work_item": "task-json", "patch": patch, **facts}
    entries = json.loads(run(silas("audit", "show", "--json"), env).out)
    ended = next(each for each in entries if each["event"] == "work_item_finished")
    assert ended["data"]["work_item_id"] == "task-json"
    assert ended["words"] == "task-json ended: done."


def test_a_record_that_does_not_hold_says_so_as_json_too(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    done = run(silas("audit", "verify", "--head", f"9999:{'0' * 64}", "--json"), env)
    assert (done.code, done.err) == (1, "")
    document = json.loads(done.out)
    assert document["valid"] is False
    assert "9999" in document["reason"]


def test_the_record_tells_which_call_failed_and_why(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    work = a_workspace(tmp_path / "work")
    plan = tmp_path / "plan.md"
    text = sh_plan("ls missing", id="task-fails", workspace=str(work), verify=check("true"))
    plan.write_text(text, encoding="utf-8")
    digest = run(silas("plan", "check", plan), env).out.splitlines()[-1]
    assert run(silas("run", plan, "--approve", digest), env).code == 1, "its step failed"
    entries = json.loads(run(silas("audit", "show", "--json"), env).out)
    failed = next(each for each in entries if each["event"] == "tool_call.failed")
    assert failed["data"]["why"] == "exit code 2"
    shown = " ".join(run(silas("audit", "show"), env).out.split())
    assert (
        f"Silas used shell_exec, which failed. (for task-fails; arguments "
        f"sha256:{failed['data']['digest'][:12]}; because: exit code 2)"
    ) in shown


ALONE = {
    **dict.fromkeys(("audit", "config", "keys", "persona"), "show"),
    "service": "status",
}
"""What a group does without a command where that is not to list; `plan` takes a file."""


GROUPS = sorted({words.split()[0] for words, _ in commands() if " " in words} - {"plan"})


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_alone_does_what_is_most_usual(name: str, here: Path) -> None:
    assert here.is_dir()
    whole = f"{name} {ALONE.get(name, 'list')}".split()
    for options in ([], ["--json"]):
        alone = invoke(name, *options)
        assert (alone.exit_code, alone.stderr) == (0, "")
        assert alone.stdout == invoke(*whole, *options).stdout
    told = CliRunner().invoke(cli, [name, "-h"], prog_name="silas").stdout
    assert f"`silas {name}` alone is `silas {' '.join(whole)}`." in " ".join(told.split())
