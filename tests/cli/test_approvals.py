"""`silas approvals`: what waits, what is in force, saying no, and taking a yes back."""

import asyncio
import json
import sqlite3
from collections.abc import Generator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from silas.approval import ApprovalScope, ApprovalVerdict
from silas.approval.models import NonceConfig, TokenUse
from silas.approval.nonces import SqlNonceStore
from silas.autonomy.proposals import AutonomyThresholdChange, AutonomyThresholdProposal
from silas.autonomy.store import SqlAutonomyStore
from silas.clock import SystemClock
from silas.db import Database
from silas.home.database import migrate
from silas.main.app import cli
from silas.plans import PlanParser, WaitingPlan, WorkItem, WorkItemStatus, plan_hash, subject_of
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.testing import MockClock, a_plan
from silas.testing.approval import a_signer, a_token
from silas.types import OWNER
from tests.goals.kit import goal_text
from tests.support.command import environment, person, silas
from tests.support.command import run as command
from tests.support.plans import check, sh_plan


def empty(database: Database) -> None:
    """No plan and no approval is left in the home."""
    with database.write() as tx:
        for table in ("approval_nonces", "waiting_plans", "work_items"):
            tx.driver.execute(f"DELETE FROM {table}")


@pytest.fixture
def db(here: Path) -> Generator[Database]:
    (found,) = here.rglob("silas.db")
    database = Database(found, SystemClock())
    migrate(database)
    empty(database)  # the home is shared with other tests
    yield database
    empty(database)
    database.close()


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["approvals", *words])


def waiting(db: Database, **plan: object) -> WorkItem:
    item = a_plan(**plan)
    asyncio.run(SqlWaitingPlans(db, SystemClock()).put(WaitingPlan(item, "because you asked")))
    return item


def approved(
    db: Database, name: str, status: str = "pending", parent: str | None = None, **token: object
) -> WorkItem:
    item = a_plan(id=name, parent=parent)
    end = SystemClock().now() + timedelta(minutes=30)
    fields = {"plan_hash": subject_of(item).digest, "work_item_id": name, "expires_at": end}
    signed = a_token(a_signer(), SystemClock(), **{**fields, **token})
    item.approval_token = signed.model_copy(update={"token_id": f"token-of-{name}"})
    item.status = WorkItemStatus(status)
    asyncio.run(SqlWorkItemStore(db, SystemClock()).save(item))
    return item


def test_a_title_drives_no_terminal_and_hides_nothing(db: Database) -> None:
    title = "Tidy \u202eup\x1b[2J"
    waiting(db, id="task-1", title=title)
    approved(db, "task-2", "done")
    work = SqlWorkItemStore(db, SystemClock())
    item = approved(db, "task-3", "running")
    item.title = title
    asyncio.run(work.save(item))
    listed = run().output
    status = CliRunner().invoke(cli, ["status"]).output
    denied = run("deny", "task-1").output
    for said in (listed, status, denied):
        assert "Tidy <U+202E>up<U+001B>[2J" in said
        assert "\x1b[2J" not in said


def widened(db: Database, value: str) -> None:
    """The owner approved on a card that one yes starts work so often."""
    change = AutonomyThresholdChange(
        key="standing.max_executions", current_value="20", proposed_value=value, direction="widen"
    )
    now = SystemClock().now()
    proposal = AutonomyThresholdProposal(
        proposal_id="threshold-1", scope_id=OWNER, changes=(change,), sample_size=30,
        correction_rate=0.0, evidence_window="last 30 decisions", rationale="All went well.",
        risk_level="high", created_at=now,
    )  # fmt: skip
    store = SqlAutonomyStore(db)
    store.put_proposal("standing:goals", proposal, 1)
    store.decide(proposal, "approve", proposal, "token-1", now, lambda: None)


def states(*options: str) -> dict[str, str]:
    listed = json.loads(run("list", "--json", *options).stdout)
    return {each["work_item"]: each["state"] for each in listed}


def test_what_waits_is_listed_shown_and_can_be_answered_with_no(db: Database) -> None:
    item = waiting(db, id="wait-1")
    assert states() == {"wait-1": "asked"}
    assert "asked      wait-1" in run("list").stdout
    shown = run("show", "wait-1").stdout
    assert "because you asked" in shown
    assert f"Hash: sha256:{plan_hash(item)}" in shown
    assert "It waits for your answer." in shown
    done = run("deny", "wait-1")
    assert done.exit_code == 0, done.stderr
    assert "Declined: wait-1" in done.stdout
    assert "Nothing waits for you" in run("list").stdout
    assert run("approve", "wait-1").exit_code != 0
    record = CliRunner().invoke(cli, ["audit", "show"]).stdout
    assert "did not approve the plan wait-1" in " ".join(record.split())


def test_moments_are_told_by_the_owners_clock_and_to_programs_in_utc(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILAS_SCHEDULER__TIMEZONE", "Europe/Vienna")
    approved(db, "late-1", expires_at=datetime(2099, 7, 1, 7, 30, tzinfo=UTC))
    until = "used 0 of 1, until Wednesday 1 July 2099, 09:30 (Europe/Vienna, UTC+02:00)"
    assert until in run("list").stdout
    shown = run("show", "late-1").stdout
    assert until in shown
    (signed,) = [line for line in shown.splitlines() if line.startswith("Signed: ")]
    assert "(Europe/Vienna, UTC+0" in signed
    (row,) = json.loads(run("list", "--json").stdout)
    assert row["expires_at"] == "2099-07-01T07:30:00+00:00"


def test_what_a_goal_started_is_listed_only_while_it_runs(db: Database) -> None:
    standing: dict[str, Any] = {"scope": ApprovalScope.standing, "max_executions": 20}
    approved(db, "goal-1", **standing)
    for name, status in (("began-1", "running"), ("ended-1", "done"), ("waits-1", "pending")):
        approved(db, name, status, parent="goal-1", **standing)
    approved(db, "task-1")
    last = {**standing, "max_executions": 1}
    approved(db, "last-1", "running", parent="goal-1", **last)
    nonces = SqlNonceStore(db, SystemClock(), NonceConfig())
    end = SystemClock().now() + timedelta(minutes=30)
    use = TokenUse("token-of-last-1", "digest", "nonce", 1, end)
    asyncio.run(nonces.spend(use, lambda _: None))
    # another key than this owner's signed it: what is to start work by itself does not
    assert states() == {"goal-1": "lapsed", "last-1": "at work", "task-1": "in force"}
    told = run("list").stdout
    assert all(name in told for name in ("goal-1", "last-1", "task-1"))
    hidden = {"began-1", "ended-1", "waits-1"}
    assert not any(name in told for name in hidden)
    assert hidden <= states("--all").keys()
    everything = run("list", "--all").stdout
    assert all(name in everything for name in hidden)


def test_an_approval_says_how_it_stands_and_is_taken_back_once(db: Database) -> None:
    approved(db, "open-1", max_executions=3)
    late = SystemClock().now() - timedelta(minutes=1)
    approved(db, "late-1", expires_at=late)
    approved(db, "no-1", verdict=ApprovalVerdict.declined)
    approved(db, "void-1", conditions={"stops": 7})
    over = {"late-1": "expired", "no-1": "declined", "void-1": "void"}
    assert states() == {"open-1": "in force"}
    assert states("--all") == {"open-1": "in force", **over}
    assert "State: in force; used 0 of 3" in run("show", "token-of-open").stdout
    taken = run("revoke", "open-1")
    assert taken.exit_code == 0, taken.stderr
    assert "Taken back: open-1" in taken.stdout
    assert states("--all") == {"open-1": "revoked", **over}
    again = run("revoke", "open-1")
    assert again.exit_code == 3
    assert "authorises nothing any more (revoked)" in again.stderr
    record = CliRunner().invoke(cli, ["audit", "show"]).stdout
    assert "approval of open-1 was taken back" in " ".join(record.split())


def test_a_goal_says_how_often_it_really_starts_work_unasked(db: Database, tmp_path: Path) -> None:
    plan = tmp_path / "goal.md"
    plan.write_text(goal_text())

    def checked() -> str:
        return " ".join(CliRunner().invoke(cli, ["plan", "check", str(plan)]).stdout.split())

    assert "without asking 20 times within 30 days" in checked()
    widened(db, "40")
    try:
        assert "without asking 40 times within 30 days" in checked()
        waiting_goal = PlanParser().parse(goal_text(id="goal-waits"))
        asked = WaitingPlan(waiting_goal, "because you asked")
        asyncio.run(SqlWaitingPlans(db, SystemClock()).put(asked))
        goal = PlanParser().parse(goal_text(id="goal-given"))
        now = SystemClock().now()
        goal.approval_token = a_token(
            a_signer(),
            SystemClock(),
            plan_hash=subject_of(goal).digest,
            work_item_id=goal.id,
            scope=ApprovalScope.standing,
            max_executions=3,
            expires_at=now + timedelta(days=4),
        )
        asyncio.run(SqlWorkItemStore(db, SystemClock()).save(goal))
        for name, says in (
            ("goal-waits", "without asking 40 times within 30 days"),
            ("goal-given", "without asking 3 times within 4 days"),
        ):
            assert says in " ".join(run("show", name).stdout.split())
        shown = CliRunner().invoke(cli, ["show", "goal-given"]).stdout
        assert "without asking 3 times within 4 days" in " ".join(shown.split())
    finally:
        SqlAutonomyStore(db).reset(OWNER, ["standing.max_executions"], lambda: None)


async def test_a_spent_approval_that_is_long_over_still_says_that_it_was_used(
    tmp_path: Path,
) -> None:
    env, plan = environment(tmp_path / "home"), tmp_path / "plan.md"
    plan.write_text(sh_plan("true", id="done-1", verify=check("true")))
    assert command(silas("init"), env).code == 0
    shown = command(silas("plan", "check", plan), env).out.split()
    assert command(silas("run", plan, "--approve", shown[-1]), env).code == 0
    (file,) = (tmp_path / "home").rglob("silas.db")
    later = SystemClock().now() + timedelta(hours=3)
    with closing(Database(file, MockClock(later))) as database:
        item = await SqlWorkItemStore(database, MockClock(later)).get("done-1")
        assert item is not None
        assert item.approval_token is not None
        past = item.approval_token.model_copy(update={"expires_at": SystemClock().now()})
        item.approval_token = past
        await SqlWorkItemStore(database, MockClock(later)).save(item)
        nonces = SqlNonceStore(database, MockClock(later), NonceConfig())
        assert await nonces.prune_expired(later)
        assert await nonces.uses(past.token_id) == 0
    listed = command(silas("approvals", "list", "--all"), env)
    assert "used 1 of 1" in listed.out, listed.err
    (row,) = json.loads(command(silas("approvals", "list", "--all", "--json"), env).out)
    assert (row["state"], row["uses"]) == ("expired", 1)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["show", "nothing"], 2, "`silas approvals list` has the ids"),
        (["revoke", "nothing"], 2, "`silas approvals list` has the ids"),
        (["deny", "token-of"], 2, "begins the id of several approvals"),
        (["revoke", "asked-2"], 3, "`silas approvals deny asked-2`"),
        (["deny", "given-2"], 3, "`silas approvals revoke given-2`"),
        (["deny", "spent-4"], 3, "its approval authorises nothing any more (declined)"),
    ],
)
def test_a_wrong_id_gets_one_sentence_and_changes_nothing(
    db: Database, words: list[str], code: int, says: str
) -> None:
    waiting(db, id="asked-2")
    approved(db, "given-2")
    approved(db, "given-3")
    approved(db, "spent-4", verdict=ApprovalVerdict.declined)
    before = states("--all")
    refused = run(*words)
    assert refused.exit_code == code
    assert says in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert states("--all") == before


def test_json_has_the_hash_that_approve_takes_with_the_files_that_a_plan_runs(
    db: Database, tmp_path: Path
) -> None:
    script = tmp_path / "work.sh"
    script.write_text("true\n")
    body = "# What to do\n\n```sh\nsh work.sh\n```\n"
    item = waiting(db, id="wait-2", workspace=str(tmp_path), body=body)
    plain = waiting(db, id="wait-3")
    approved(db, "open-2")

    def hashes() -> dict[str, str]:
        rows = json.loads(run("list", "--json").stdout)
        found = {row["work_item"]: row["approve"] for row in rows}
        for name, value in found.items():
            assert json.loads(run("show", name, "--json").stdout)["approve"] == value
        return found

    before = hashes()
    assert f"for --approve: {before['wait-2']}" in run("show", "wait-2").stdout
    assert before["wait-2"] != f"sha256:{plan_hash(item)}"
    assert before["wait-3"] == f"sha256:{plan_hash(plain)}"
    script.write_text("echo something else\n")
    after = hashes()
    assert after.pop("wait-2") != before.pop("wait-2")
    assert after == before


def test_an_approval_that_a_jump_of_the_clock_voids_is_never_shown_in_force(
    tmp_path: Path,
) -> None:
    env, plan = environment(tmp_path / "home"), tmp_path / "goal.md"
    plan.write_text(goal_text())
    assert command(silas("init"), env).code == 0
    shown = command(silas("plan", "check", plan), env).out.split()
    assert command(silas("run", plan, "--approve", shown[-1]), env).code == 0
    listed = ("approvals", "list", "--all", "--json")
    (row,) = json.loads(command(silas(*listed), env).out)
    assert row["state"] == "in force"
    before = (SystemClock().now() - timedelta(days=3)).isoformat(timespec="microseconds")
    (file,) = (tmp_path / "home").rglob("silas.db")
    with sqlite3.connect(file) as db:  # the clock was three days behind, and is set forward
        db.execute("UPDATE effective_time SET reached = ?, machine = ?", (before, before))
    db.close()
    for _ in range(2):
        (row,) = json.loads(command(silas(*listed), env).out)
        assert row["state"] == "void"


def test_a_plan_that_shall_be_changed_is_marked_beside_the_one_in_its_place(tmp_path: Path) -> None:
    """The built-in model changes no plan: both wait, and the first one says why."""
    env = environment(tmp_path / "home")
    (tmp_path / "notes").mkdir()
    (tmp_path / "plans").mkdir()
    head = "runbook:\n  phrases: [mark the notes]\n  parameters:\n    workspace:\n"
    text = sh_plan("touch mark", id="mark", workspace="$workspace", verify=check("test -f mark"))
    text = text.replace(
        "---\n", f"---\n{head}      description: the folder\n      example: /home/me/notes\n", 1
    )
    (tmp_path / "plans" / "mark.md").write_text(text)
    (tmp_path / "home").mkdir()
    settings = json.dumps({"silas": {"plans_dirs": [str(tmp_path / "plans")]}})
    (tmp_path / "home" / "config.yaml").write_text(settings)
    assert command(silas("init"), env).code == 0
    words = silas("ask", "mark the notes", "--workspace", tmp_path / "notes")
    with person(words, env) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("2\r")
        owner.waits_for("What should be different?")
        owner.types("mark the notes\r")
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("later\r")
        owner.leaves()
    rows = json.loads(command(silas("approvals", "list", "--json"), env).out)
    assert sorted(row["changes_wanted"] for row in rows) == [False, True]
    (marked,) = (row["work_item"] for row in rows if row["changes_wanted"])
    listed = command(silas("approvals", "list"), env).out.splitlines()
    assert [marked in line for line in listed if "you wanted it changed" in line] == [True]
    assert "you wanted it changed" in command(silas("approvals", "show", marked), env).out
