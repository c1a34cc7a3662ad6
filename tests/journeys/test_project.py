"""The project of section 13.5 with real commands: files beside it, one yes, one undo."""

import json
import re
from pathlib import Path

import pytest

from tests.support.command import Ended, environment, run, silas

PLAN = """---
id: project-deploy-v2
type: project
title: Deploy v2.0 to production
interaction_mode: act_and_report
budget: {{ max_tokens: 500000, max_cost_usd: 10.00, max_wall_time_seconds: 7200 }}
workspace: {place}

tasks:
  - task-run-tests
  - task-build-image
  - task-deploy-staging
  - task-smoke-test
  - task-deploy-prod

verify:
  - name: prod_healthy
    run: "cat prod/health"
    expect: {{ equals: "ok" }}
---

Deploy version 2.0. Tasks execute in dependency order.
Each task has its own verification. Project-level check
confirms production is healthy after all tasks complete.
"""

TASK = """---
id: {name}
type: task
title: {title}
workspace: {place}
depends_on: [{after}]
verify:
  - {{ name: right, run: "{check}", expect: {{ exit_code: 0 }} }}
---

{title}.

```sh
{step}
```
"""

# what each does, how that is checked, what it waits for
TASKS = {
    "task-run-tests": ("sh tests.sh > tests.log", "grep -q passed tests.log", ""),
    "task-build-image": ("echo v2 > image; echo 'cat image' > smoke.sh", "grep -q v2 image", 0),
    "task-deploy-staging": ("mkdir -p staging; cp image staging/app", "test -s staging/app", 1),
    "task-smoke-test": ("sh smoke.sh > smoke.log", "grep -q v2 smoke.log", 2),
    "task-deploy-prod": (
        "mkdir -p prod; cp image prod/app; printf ok > prod/health",
        "test -s prod/app",
        3,
    ),
}
BEFORE = {"tests.sh": "echo passed\n", "image": "v1\n", "smoke.sh": "echo nothing\n"}


class Deployment:
    """A home, a place and the plans."""

    def __init__(self, base: Path) -> None:
        self.place = base / "site"
        self.plans = base / "plans"
        self.env = environment(base / "home")
        self.place.mkdir()
        self.plans.mkdir()
        for name, text in BEFORE.items():
            (self.place / name).write_text(text)
        self.plan = self.plans / "deploy.md"
        self.plan.write_text(PLAN.format(place=self.place))
        names = list(TASKS)
        for name, (step, check, after) in TASKS.items():
            waits = names[after] if isinstance(after, int) else ""
            self.write(name, step, check, waits)

    def write(self, name: str, step: str, check: str, after: str) -> None:
        title = name.removeprefix("task-").replace("-", " ").capitalize()
        text = TASK.format(
            name=name, title=title, place=self.place, step=step, check=check, after=after
        )
        (self.plans / f"{name}.md").write_text(text)

    def silas(self, *words: str | Path) -> Ended:
        return run(silas(*words), self.env)

    def files(self) -> dict[str, str]:
        found = [path for path in self.place.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.place)): path.read_text() for path in found}


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    made = Deployment(tmp_path)
    assert made.silas("init").code == 0
    return made


def approves(deployment: Deployment) -> str:
    checked = deployment.silas("plan", "check", "--json", deployment.plan)
    assert checked.code == 0, checked.err
    return json.loads(checked.out)["approve"]


def test_it_is_deployed_with_one_yes_and_taken_back_with_one_undo(deployment: Deployment) -> None:
    approved = approves(deployment)
    ran = deployment.silas("run", deployment.plan, "--approve", approved, "--json")
    assert ran.code == 0, ran.err + ran.out
    given = json.loads(deployment.silas("approvals", "show", "project-deploy-v2", "--json").out)
    rows = json.loads(deployment.silas("approvals", "list", "--all", "--json").out)
    assert [given["approve"], rows[0]["approve"]] == [approved, approved]
    told = json.loads(ran.out)
    assert told["summary"] == "All 5 tasks are done, and verified: prod_healthy."
    assert deployment.files()["prod/app"] == "v2\n"
    assert deployment.files()["smoke.log"] == "v2\n"  # by the script that a task before it wrote
    shown = deployment.silas("projects", "show", "project-deploy-v2")
    assert shown.out.startswith("project-deploy-v2 is done: Deploy v2.0 to production\n")
    assert shown.out.count(" done ") == 5, shown.out
    listed = json.loads(deployment.silas("projects", "list", "--json").out)
    assert [(row["id"], row["status"], row["done"]) for row in listed] == [
        ("project-deploy-v2", "done", 5)
    ]
    patch = deployment.silas("diff", "project-deploy-v2").out
    for text in (told["diff"], patch):
        heads = [line for line in text.split("\n") if line.startswith("# Task ")]
        assert len(heads) > 1, text
        assert set(heads) <= {f"# Task {task} in {deployment.place}" for task in TASKS}
    undone = deployment.silas("undo", "project-deploy-v2")
    assert undone.out == f"Taken back, in this order: {', '.join(reversed(TASKS))}.\n"
    assert deployment.files() == BEFORE
    shown = deployment.silas("projects", "show", "project-deploy-v2")
    told = re.search(
        r"^What it changed was taken back: .+ \d{4}, \d\d:\d\d \(.+\)\.$", shown.out, re.M
    )
    assert told is not None, shown.out
    assert "project-deploy-v2 is taken back: " in shown.out
    listed = json.loads(deployment.silas("projects", "list", "--json").out)
    assert [row["status"] for row in listed] == ["undone"]
    assert told[0] in deployment.silas("show", "project-deploy-v2").out.splitlines()[1]
    assert told[0] in deployment.silas("show", next(iter(TASKS))).out
    assert shown.out.count("    taken back\n") == 5, shown.out
    assert told[0] in deployment.silas("projects", "list").out
    again = deployment.silas("undo", "project-deploy-v2")
    assert again.code != 0
    assert "There is nothing to undo for 'project-deploy-v2'" in again.err
    assert deployment.silas("audit", "verify").code == 0


def test_a_task_that_changed_since_it_was_looked_at_is_not_what_was_approved(
    deployment: Deployment,
) -> None:
    approved = approves(deployment)
    deployment.write("task-smoke-test", "echo v2 > smoke.log; rm -r .", "true", "task-build-image")
    ran = deployment.silas("run", deployment.plan, "--approve", approved)
    assert ran.code == 3, ran.out
    assert "was approved; look at it again" in ran.out + ran.err
    assert deployment.files() == BEFORE


def test_the_projects_own_hash_which_holds_ids_alone_approves_nothing(
    deployment: Deployment,
) -> None:
    checked = json.loads(deployment.silas("plan", "check", "--json", deployment.plan).out)
    own = f"sha256:{checked['plan_hash']}"
    assert own != checked["approve"]
    ran = deployment.silas("run", deployment.plan, "--approve", own)
    assert ran.code == 3, ran.out
    assert deployment.files() == BEFORE


def test_a_missing_task_is_told_before_anything_is_signed(deployment: Deployment) -> None:
    (deployment.plans / "task-smoke-test.md").unlink()
    for words in (("plan", "check"), ("run",)):
        told = deployment.silas(*words, deployment.plan)
        assert told.code in (2, 3), told
        assert "The task task-smoke-test of project-deploy-v2 is missing; put its plan" in (
            told.out + told.err
        )
    unknown = deployment.silas("projects", "show", "nothing")
    assert unknown.code == 2
    assert "There is no project 'nothing'; `silas projects list` has the ids." in unknown.err


def test_the_rest_of_a_project_that_failed_has_a_card_of_its_own_and_does_nothing_twice(
    deployment: Deployment,
) -> None:
    name, rest = "project-deploy-v2", "project-deploy-v2-rest"
    step, check, _ = TASKS["task-smoke-test"]
    deployment.write("task-smoke-test", step, f"test -e go && {check}", "task-deploy-staging")
    old = approves(deployment)
    ran = deployment.silas("run", deployment.plan, "--approve", old)
    assert ran.code != 0
    assert f"`silas projects rest {name}`" in ran.out + ran.err
    assert "Not begun: “Deploy prod”." in ran.out + ran.err
    (deployment.place / "go").write_text("")
    (deployment.place / "tests.sh").write_text("exit 1")  # would fail if it ran again

    again = deployment.silas("projects", "rest", name, "--approve", old)
    assert again.code == 3, again  # nothing of the old approval counts
    made = json.loads(deployment.silas("projects", "rest", name, "--plan", "--json").out)
    assert made["plan"]["tasks"] == ["task-smoke-test-rest", "task-deploy-prod-rest"]
    file = deployment.plans / "rest.md"
    file.write_text(deployment.silas("projects", "rest", name, "--plan").out)
    checked = json.loads(deployment.silas("plan", "check", "--json", file).out)
    assert checked["approve"] == made["approve"] != old
    done = deployment.silas("projects", "rest", name, "--approve", made["approve"], "--json")
    assert done.code == 0, done
    assert json.loads(done.out)["summary"] == "All 2 tasks are done, and verified: prod_healthy."
    assert deployment.files()["prod/app"] == "v2\n"

    told = deployment.silas("projects", "rest", name)
    assert told.code == 2
    assert f"The rest of {name} was approved as {rest}" in told.err
    assert deployment.silas("projects", "rest", rest).code == 2
    assert deployment.silas("audit", "verify").code == 0


def test_what_was_taken_back_is_a_part_of_the_rest(deployment: Deployment) -> None:
    deployment.write("task-smoke-test", "true", "false", "task-deploy-staging")
    ran = deployment.silas("run", deployment.plan, "--approve", approves(deployment))
    assert ran.code != 0
    assert deployment.silas("undo", "project-deploy-v2").code == 0
    made = json.loads(
        deployment.silas("projects", "rest", "project-deploy-v2", "--plan", "--json").out
    )
    assert made["plan"]["tasks"] == [f"{name}-rest" for name in TASKS]
    assert "Done before, and taken back: task-run-tests" in made["plan"]["body"]
