"""The main job, once: a repository with a failing test is fixed by an approved, verified plan.

With a terminal the approval is a question; without one, exactly the printed hash is approved.
Without a model key the built-in runbook model works; with one, or with `models:` in your own
configuration, the same command lets that model find the fix. Everything it writes is in `.demo`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from silas import Silas, SilasConfig, load_config
from silas.cards import Arrived, Card, CardChannel, PlanCard
from silas.cards.models import Answer
from silas.channels import render_card
from silas.errors import SilasError
from silas.main.output import STATUS_CODES, print_result
from silas.main.shared import DECLINED, DONE, FAILED, run_to_exit
from silas.main.terminal import attended, terminal
from silas.plans import WorkItemResult
from silas.wiring import initialise, open_audit

PLACE = Path(__file__).resolve().parent.parent / ".demo"
REPOSITORY = PLACE / "orders"
REQUEST = "fix the failing test"

FILES = {
    "orders.py": '''\
"""Orders as lines of text, and what is still open."""


def parse(line):
    number, status, total = line.strip().split(",")
    return {"number": int(number), "status": status, "total": float(total)}


def open_orders(lines):
    return [order for order in map(parse, lines) if order["status"] is "open"]


def revenue(lines):
    return sum(order["total"] for order in map(parse, lines))
''',
    "test_orders.py": """\
import unittest

from orders import open_orders, revenue

LINES = ["1,open,10.50", "2,paid,20.00", "3,open,5.25"]


class Orders(unittest.TestCase):
    def test_open_orders_are_found(self):
        self.assertEqual([order["number"] for order in open_orders(LINES)], [1, 3])

    def test_revenue_is_the_sum(self):
        self.assertEqual(revenue(LINES), 35.75)
""",
}


def make_repository() -> None:
    shutil.rmtree(REPOSITORY, ignore_errors=True)
    REPOSITORY.mkdir(parents=True)
    for name, text in FILES.items():
        (REPOSITORY / name).write_text(text, encoding="utf-8")
    git = shutil.which("git")
    if git is None:
        return
    identity = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "orders"]):
        subprocess.run([git, "-C", str(REPOSITORY), *words], check=True)


def tests_pass() -> bool:
    done = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "-q"],
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
    )
    return done.returncode == 0


def demo_config() -> SilasConfig:
    """Your models, and for everything else a home of its own: no key or passphrase of yours."""
    try:
        models = load_config().models
    except SilasError as error:
        print(f"Your own configuration is left aside: {error}", file=sys.stderr)
        models = None
    key = PLACE / "home" / "data" / "keys" / "unlock.key"
    given = {name: os.environ[name] for name in os.environ if name.startswith("SILAS_MODELS__")}
    given |= {"SILAS_HOME": str(PLACE / "home"), "SILAS_KEYS__BACKEND": "file"}
    given |= {"SILAS_KEYS__KEY_FILE": str(key), "SILAS_KEYS__CREATE_KEY_FILE": "true"}
    config = load_config(environ=given)
    return config if models is None else config.model_copy(update={"models": models})


class DemoChannel:
    """The terminal; where there is none, it approves the plan whose hash it has just printed."""

    def __init__(self, terminal: CardChannel, attended: bool) -> None:
        self._terminal = terminal
        self._attended = attended
        self.channel_name = terminal.channel_name

    def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        return self._terminal.listen()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        await self._terminal.send(recipient_id, text, reply_to)

    async def ask(self, to: str, card: Card[Answer]) -> Answer:
        shown = None if self._attended else hash_of(card)
        if shown is None:
            return await self._terminal.ask(to, card)
        print(render_card(card))
        print(f"\nNo terminal to ask: approving exactly sha256:{shown}\n")
        return next(action.value for action in card.actions if action.role == "recommended")


def hash_of(card: Card[Any]) -> str | None:
    return card.plan_hash if isinstance(card, PlanCard) else None


def say(words: str) -> None:
    print(f"\n== {words}", flush=True)


def ended(words: str, code: int) -> int:
    print(words, file=sys.stderr)
    return code


async def main() -> int:
    make_repository()
    say(f"A repository with a bug: {REPOSITORY}")
    if tests_pass():
        return ended("The tests pass already; there is nothing to show.", FAILED)
    print("Its tests fail.")
    config = demo_config()
    for line in await initialise(config):
        print(line)
    async with open_audit(config) as desk:
        before = (await desk.head()).seq
    say(f'The owner asks: "{REQUEST}"')
    owner = terminal(to_stderr=False, approve=None)
    channel = DemoChannel(owner.cards, owner.attended)
    async with Silas.open(config, channel=channel) as silas, attended(owner):
        reply = await silas.ask(REQUEST, workspace=REPOSITORY)
        if reply.plan is None or reply.outcome != "dispatched":
            return FAILED if reply.outcome == "failed" else DECLINED  # and the reply said why
        result = await silas.wait(reply.plan.id)
    if result is None:
        return ended("The work was lost.", FAILED)
    if result.status.value != "done":
        print_result(result, owner.screen.told)
        return STATUS_CODES.get(result.status.value, FAILED)
    return await show(config, result, before)


async def show(config: SilasConfig, result: WorkItemResult, before: int) -> int:
    say("What changed")
    print(result.diff)
    say("The record")
    async with open_audit(config) as desk:
        for line in await desk.narrate((await desk.head()).seq - before):
            print(line)
        verdict = await desk.verify_chain()
    checks = [r["name"] for r in result.verification_results[-1]["results"] if r["passed"]]
    if not (verdict.valid and checks and tests_pass()):
        return ended(f"The result does not hold: {verdict.reason or 'the tests fail'}.", FAILED)
    print(f"\nverified checks: {', '.join(checks)}")
    print(f"verified chain: {verdict.entries_checked} audit entries")
    return DONE


if __name__ == "__main__":
    run_to_exit(main)
