"""A new user at the command line, from nothing to a verified change and back."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.support.command import ROOT, Ended, environment, person, run, silas
from tests.support.plans import a_workspace, check, sh_plan, writing_plan


def hash_of(plan: Path, env: dict[str, str]) -> str:
    done = run(silas("plan", "check", plan), env)
    assert done.code == 0, done.err
    return done.out.splitlines()[-1]


def begun(home: Path) -> dict[str, str]:
    env = environment(home)
    assert run(silas("init"), env).code == 0
    return env


def clean(done: Ended) -> Ended:
    assert "Traceback" not in done.out + done.err
    return done


def test_from_nothing_to_a_verified_change_and_back(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    work = a_workspace(tmp_path / "work")
    plan = tmp_path / "plan.md"
    plan.write_text(writing_plan(work, id="task-journey", title="Copy the input"))

    unready = clean(run(silas("run", plan), env))
    assert (unready.code, unready.out) == (2, "")
    assert "run `silas init`" in unready.err
    first = clean(run(silas("init"), env))
    second = clean(run(silas("init"), env))
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out  # the same key in the same place
    assert "Nothing yet" in run(silas("status"), env).out

    digest = hash_of(plan, env)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", digest)
    done = clean(run(silas("run", plan, "--approve", digest), env))
    assert done.code == 0, done.err
    assert digest in done.out
    assert "done: Done and verified: checked." in done.out
    assert "+as it was" in done.out
    assert "To take it back: silas undo task-journey" in done.out
    assert (work / "result.txt").read_text() == "as it was\n"

    status = run(silas("status"), env).out
    assert re.search(r"^done +task-journey  Copy the input$", status, re.MULTILINE)
    back = clean(run(silas("undo", "task-journey"), env))
    assert back.code == 0
    assert [path.name for path in work.iterdir()] == ["input.txt"]

    shown = clean(run(silas("audit", "show"), env))
    assert "You approved the plan task-journey" in shown.out
    verified = clean(run(silas("audit", "verify"), env))
    assert verified.code == 0
    assert re.search(r"holds: \d+ entries verified", verified.out)


def test_the_exported_record_verifies_without_silas(tmp_path: Path) -> None:
    env = begun(tmp_path / "home")
    assert run(silas("ask", "hello"), env).code == 0
    file = tmp_path / "the record.jsonl"
    exported = clean(run(silas("audit", "export", file), env))
    assert exported.code == 0
    key, head = re.findall(r"([0-9a-f]{64}) --head (\d+:[0-9a-f]{64})$", exported.out.strip())[0]
    alone = tmp_path / "verify.py"
    alone.write_bytes((ROOT / "silas/audit/verify.py").read_bytes())
    python = [sys.executable, "-I", "-S", str(alone), str(file), key, "--head", head]
    assert run(python, {}, cwd=tmp_path).code == 0
    file.write_bytes(file.read_bytes().replace(b"stream_started", b"stream_stopped", 1))
    assert run(python, {}, cwd=tmp_path).code == 1


def test_asking_ends_in_the_work_it_started(tmp_path: Path) -> None:
    env = begun(tmp_path / "home")
    work = a_workspace(tmp_path / "work")
    with person(silas("ask", f"list the files of {work}"), env) as owner:
        owner.waits_for("List the files of a directory")
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        assert owner.leaves() == 0
    assert "done: Done and verified: directory_is_readable." in owner.seen


def test_json_is_one_document_on_stdout_and_everything_else_is_on_stderr(tmp_path: Path) -> None:
    env = begun(tmp_path / "home")
    plan = tmp_path / "plan.md"
    plan.write_text(sh_plan("echo hello", id="task-json", verify=check("true")))
    digest = hash_of(plan, env)
    done = run(silas("run", plan, "--approve", digest, "--json"), env)
    document = json.loads(done.out)
    assert done.code == 0
    assert document["status"] == "done"
    assert f"sha256:{document['plan_hash']}" == digest
    assert "working: attempt 1" in done.err

    declined = run(silas("run", plan, "--json"), env)
    assert declined.code == 3
    assert json.loads(declined.out)["status"] == "blocked"
    assert "Approve and run once" in declined.err

    asked = run(silas("ask", "hello", "--json"), env)
    assert asked.code == 0
    assert json.loads(asked.out)["outcome"] == "answered"
    assert "without a language model" in asked.err

    told = json.loads(run(silas("status", "--json"), env).out)
    assert [(item["id"], item["status"]) for item in told] == [("task-json", "done")]


@pytest.mark.parametrize("flag", ["--config", "SILAS_HOME"])
def test_the_named_configuration_wins(tmp_path: Path, flag: str) -> None:
    env = environment(tmp_path / "home")
    other = tmp_path / "other"
    other.mkdir()
    file = other / "config.yaml"
    file.write_text("silas: {data_dir: here, owner_id: somebody}\n")
    words: list[str] = []
    if flag == "--config":
        words = ["--config", str(file)]
    else:
        env["SILAS_HOME"] = str(other)
    assert run(silas(*words, "config", "path"), env).out.strip() == str(file)
    assert run(silas(*words, "init"), env).code == 0
    assert (other / "here" / "keys" / "somebody.key.json").exists()
    assert not (tmp_path / "home").exists()
    assert run(silas(*words, "status"), env).code == 0
    assert "owner_id: somebody" in run(silas(*words, "config", "show"), env).out
