"""The main job, once: a repository with a failing test is fixed by an approved, verified plan.

With a terminal the approval is a question; without one, exactly the printed hash is approved.
Without a model key the built-in runbook model works; with one, the same command uses the model.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".demo"
REPOSITORY = PLACE / "orders"
os.environ["SILAS_HOME"] = str(PLACE / "home")
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

from silas import Silas, load_config  # noqa: E402 - the environment says where Silas lives
from silas.cards import Card, ChannelMessage, PlanCard  # noqa: E402
from silas.cards.models import Answer, PlanAnswer  # noqa: E402
from silas.channels import CLIChannel, render_card  # noqa: E402
from silas.clock import SystemClock  # noqa: E402
from silas.errors import SilasError  # noqa: E402
from silas.wiring import initialise, open_audit  # noqa: E402

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
from orders import open_orders, revenue

LINES = ["1,open,10.50", "2,paid,20.00", "3,open,5.25"]


def test_open_orders_are_found():
    assert [order["number"] for order in open_orders(LINES)] == [1, 3]


def test_revenue_is_the_sum():
    assert revenue(LINES) == 35.75
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
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(REPOSITORY)],
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
    )
    return done.returncode == 0


class DemoChannel:
    """The terminal; where there is none, it approves the plan whose hash it has just printed."""

    def __init__(self) -> None:
        self._terminal = CLIChannel(sys.stdin, sys.stdout, SystemClock())
        self.channel_name = "cli"

    def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        return self._terminal.listen()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        await self._terminal.send(recipient_id, text, reply_to)

    async def ask(self, to: str, card: Card[Answer]) -> Answer:
        if sys.stdin.isatty() or not isinstance(card, PlanCard):
            return await self._terminal.ask(to, card)
        print(render_card(card))
        print(f"\nNo terminal to ask: approving exactly sha256:{card.plan_hash}\n")
        yes = PlanAnswer(verdict="approved")
        return next(action.value for action in card.actions if action.value == yes)


def say(words: str) -> None:
    print(f"\n== {words}")


async def main() -> int:
    make_repository()
    say(f"A repository with a bug: {REPOSITORY}")
    if tests_pass():
        print("The tests pass already; there is nothing to show.", file=sys.stderr)
        return 1
    print("Its tests fail.")
    config = load_config()
    for line in await initialise(config):
        print(line)
    say(f'The owner asks: "{REQUEST}"')
    async with Silas.open(config, channel=DemoChannel()) as silas:
        reply = await silas.ask(REQUEST, workspace=REPOSITORY)
        if reply.plan is None or reply.outcome != "dispatched":
            print(f"Nothing was run: {reply.text}", file=sys.stderr)
            return 3
        result = await silas.wait(reply.plan.id)
    if result is None or result.status.value != "done":
        words = "the work was lost" if result is None else result.summary
        print(f"Not done: {words}", file=sys.stderr)
        return 1
    say("What changed")
    print(result.diff)
    say("The record")
    async with open_audit(config) as log:
        for line in await log.narrate(40):
            print(line)
        verdict = await log.verify_chain()
    checks = [r["name"] for r in result.verification_results[-1]["results"] if r["passed"]]
    if not (verdict.valid and checks and tests_pass()):
        print(f"The result does not hold: {verdict.reason or 'the tests fail'}", file=sys.stderr)
        return 1
    print(f"\nverified checks: {', '.join(checks)}")
    print(f"verified chain: {verdict.entries_checked} audit entries")
    return 0


if __name__ == "__main__":
    try:
        code = asyncio.run(main())
    except SilasError as error:
        print(error, file=sys.stderr)
        code = 2
    sys.exit(code)
