"""`silas demo`: the main job, once, in a small repository that it makes and that holds a bug.

With a terminal the approval is a question; without one, exactly the printed hash is approved, and
only where the plan stays inside the demonstration. Without a model key the built-in runbook model
works; with one, or with `models:` in the owner's configuration, that model finds the fix.
"""

import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from silas.language import refusal_words, tr, tr_later, tr_many
from silas.main.demo_files import BUGGY, REQUEST
from silas.main.output import STATUS_CODES, print_result
from silas.main.shared import (
    DECLINED,
    DONE,
    FAILED,
    USAGE,
    GivenPath,
    config_option,
    read_config,
    run_to_exit,
)
from silas.main.terminal import show_progress, terminal

if TYPE_CHECKING:
    from silas.cards import Arrived, Card, CardChannel
    from silas.config import SilasConfig
    from silas.plans import WorkItem, WorkItemResult
    from silas.sandbox import Sandbox, SandboxResult

AnswerT = TypeVar("AnswerT")

_MARK = ".silas-demo"
"""What a directory holds that this command made, and may therefore empty."""

_TEST = "exec python3 -B -m unittest -q"
_COMMIT = (
    "git init -q && git add . && "
    "git -c user.name=demo -c user.email=demo@localhost commit -q -m orders"
)


@click.command()
@click.option(
    "--directory",
    metavar="DIR",
    type=GivenPath(path_type=Path, file_okay=False),
    default="silas-demo",
    help="Where all of it is written; ./silas-demo by default.",
)
@click.pass_context
def demo(ctx: click.Context, directory: Path) -> None:
    """Do the main job once: a plan that you approve fixes a failing test.

    Everything is written below one directory: the repository, and a home of its own for keys,
    database and record. Nothing of yours is used but your models.
    """
    place = directory.absolute()

    async def work() -> int:
        from silas.home.runtime import sandbox_of

        config = _demo_config(ctx, place)
        refused = _make_files(place)
        if refused:
            return _end_demo(refused, USAGE)
        sandbox = sandbox_of(config)
        orders = place / "orders"
        _say(tr("A repository with a bug: {folder}", folder=orders))
        broken = await _tests(sandbox, orders)
        if broken not in (0, 1):
            return _end_demo(
                tr(
                    "The sandbox cannot run `python3` (exit code {code}); install `python3` of "
                    "your system, and run `silas demo` again.",
                    code=broken,
                ),
                USAGE,
            )
        if broken == 0:
            return _end_demo(tr("The tests pass already; there is nothing to show."), FAILED)
        click.echo(tr("Its tests fail."))
        await _make_repository(sandbox, orders)
        return await _fix(config, sandbox, orders)

    run_to_exit(work)


def _demo_config(ctx: click.Context, place: Path) -> "SilasConfig":
    """Your models, and for everything else a home of its own: no key or passphrase of yours.

    Raises:
        Stopped: The owner's own Silas is stopped; a demonstration does not go around that.
        ConfigError: The file of `--config` does not fit; another one that does not is left aside.
    """
    from silas.config import load_config
    from silas.errors import ConfigError
    from silas.stop import Sentinel

    models = None
    try:
        own = read_config(ctx)
    except ConfigError as error:
        if config_option(ctx) is not None:
            raise
        why = str(error).replace(error.message, refusal_words(error.message), 1)
        click.echo(tr("Your own configuration is left aside: {why}", why=why), err=True)
    else:
        Sentinel(own.data_dir, own.scheduler.zone).require_running()
        models = own.models
    key = place / "home" / "data" / "keys" / "unlock.key"
    given = {name: os.environ[name] for name in os.environ if name.startswith("SILAS_MODELS__")}
    given |= {"SILAS_HOME": str(place / "home"), "SILAS_KEYS__BACKEND": "file"}
    given |= {"SILAS_KEYS__KEY_FILE": str(key), "SILAS_KEYS__CREATE_KEY_FILE": "true"}
    config = load_config(environ=given)
    return config if models is None else config.model_copy(update={"models": models})


def _older(place: Path) -> bool:
    """Whether an older version made it, which left no mark: its home, its project, nothing else."""
    orders = place / "orders"
    if {one.name for one in place.iterdir()} != {"home", "orders"} or orders.is_symlink():
        return False
    made = {*BUGGY, ".git", "__pycache__", ".pytest_cache", ".ruff_cache"}
    return (place / "home/data/silas.db").is_file() and {
        one.name for one in orders.iterdir()
    } <= made


def _make_files(place: Path) -> str:
    """Write the project anew; empty, or one sentence about why not."""
    mark, orders = place / _MARK, place / "orders"
    try:
        if place.exists() and not mark.is_file() and any(place.iterdir()) and not _older(place):
            return tr(
                "{place} was not made by `silas demo` and is left as it is; remove it with "
                "`rm -r {quoted}`, or name another one with `silas demo --directory DIR`.",
                place=place,
                quoted=shlex.quote(str(place)),
            )
        place.mkdir(parents=True, exist_ok=True)
        mark.touch()
        if orders.is_symlink():
            return tr("{folder} is a link, which is not followed; remove it.", folder=orders)
        shutil.rmtree(orders, ignore_errors=True)
        orders.mkdir()
        for name, text in BUGGY.items():
            (orders / name).write_text(text, encoding="utf-8")
    except OSError as error:
        words = tr_later("{place} cannot be written ({why}); name another one with --directory.")
        return tr(words, place=place, why=refusal_words(error.strerror or "it cannot be used"))
    return ""


async def _inside(
    sandbox: "Sandbox", orders: Path, command: str, writable: bool
) -> "SandboxResult":
    from silas.sandbox import Mount, SandboxFiles, SandboxLimits

    mount = Mount(source=orders, target=orders, writable=writable)
    files = SandboxFiles(cwd=orders, mounts=(mount,))
    return await sandbox.run(["/bin/sh", "-c", command], SandboxLimits(wall_seconds=60.0), files)


async def _tests(sandbox: "Sandbox", orders: Path) -> int:
    """0 where they pass, 1 where they fail; anything else could not be run."""
    return (await _inside(sandbox, orders, _TEST, writable=False)).exit_code


async def _make_repository(sandbox: "Sandbox", orders: Path) -> None:
    """Commit the files where git is installed; a plain directory does as well."""
    if not (await _inside(sandbox, orders, _COMMIT, writable=True)).ok:
        shutil.rmtree(orders / ".git", ignore_errors=True)


class DemoChannel:
    """The terminal; where there is none, it approves a plan that stays inside the demonstration."""

    def __init__(
        self,
        screen: "CardChannel",
        is_attended: bool,
        waiting: Callable[[str], Awaitable["WorkItem | None"]],
        orders: Path,
    ) -> None:
        self._screen = screen
        self._attended = is_attended
        self._waiting = waiting
        self._orders = orders
        self.channel_name = screen.channel_name

    def listen(self) -> "AsyncIterator[tuple[Arrived, str]]":
        """The terminal's messages."""
        return self._screen.listen()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Pass on."""
        await self._screen.send(recipient_id, text, reply_to)

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        """Say in passing what is waited for, where the terminal has a place for it."""
        from silas.channels import LiveTerminal

        if isinstance(self._screen, LiveTerminal):
            self._screen.waits(recipient_id, source, words)

    async def ask(self, to: str, card: "Card[AnswerT]") -> AnswerT:
        """Print a plan's card and approve its hash where nobody can be asked; pass on all else."""
        from silas.cards import PlanCard

        if self._attended or not isinstance(card, PlanCard):
            return await self._screen.ask(to, card)
        return await self._answer(card)

    async def _answer(self, card: Any) -> Any:
        from silas.channels import render_card
        from silas.plans import plan_hash

        click.echo(render_card(card))
        item = await self._waiting(card.work_item_id)
        known = item is not None and plan_hash(item) == card.plan_hash
        further = reaches(item, self._orders) if item is not None and known else [tr("unknown")]
        if further:
            click.echo(
                "\n"
                + tr(
                    "No terminal to ask, and this plan wants more than the demonstration has "
                    "({further}); run `silas demo` in a terminal to answer yourself.",
                    further=", ".join(further),
                ),
                err=True,
            )
            return card.safe
        words = tr("No terminal to ask: approving exactly sha256:{digest}", digest=card.plan_hash)
        click.echo(f"\n{words}\n")
        return next(action.value for action in card.actions if action.role == "recommended")


def reaches(item: "WorkItem", orders: Path) -> list[str]:
    """What of a plan goes beyond changing and testing the demonstration's own files.

    What a language model proposes is approved unseen only within that: `read` counts, because what
    was read is shown to the model.
    """
    pythons = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix, "/usr")]
    inside = [orders, *pythons]
    outside = [path for path in item.read if not any(Path(path) == place for place in inside)]
    wants = {
        f"a {item.type.value}": item.type.value != "task",
        tr("another workspace"): item.workspace != str(orders),
        tr("reading {paths}", paths=", ".join(outside)): bool(outside),
        tr("a network"): bool(item.network) or any(check.network for check in item.verify),
        tr("further tools"): bool(item.tools),
        tr("a worker"): item.worker is not None,
        tr("secrets"): bool(item.credential_refs),
        tr("a schedule"): item.schedule is not None,
    }
    return [words for words, wanted in wants.items() if wanted]


async def _fix(config: "SilasConfig", sandbox: "Sandbox", orders: Path) -> int:
    from silas.services.record import open_audit
    from silas.services.setup.initialise import initialise
    from silas.services.work import open_work
    from silas.wiring.build import Silas

    for line in await initialise(config):
        click.echo(line)
    async with open_audit(config) as service:
        before = (await service.head()).seq

    async def waiting(work_item_id: str) -> "WorkItem | None":
        async with open_work(config) as work:
            return next((i for i in await work.questions() if i.id == work_item_id), None)

    _say(tr('The owner asks: "{request}"', request=REQUEST))
    # without a person the card is printed by the demonstration itself, so nothing may stand below
    can_type = sys.stdin is not None and sys.stdin.isatty()
    owner = terminal(to_stderr=False, approve=None, live=can_type)
    channel = DemoChannel(owner.cards, owner.attended, waiting, orders)
    async with Silas.open(config, channel=channel) as silas, show_progress(owner):
        reply = await silas.ask(REQUEST, workspace=orders)
        if reply.plan is None or reply.outcome != "dispatched":
            return FAILED if reply.outcome == "failed" else DECLINED  # and the reply said why
        result = await silas.wait(reply.plan.id)
    if result is None:
        return _end_demo(tr("The work was lost."), FAILED)
    if result.status.value != "done":
        print_result(result, owner.screen.told)
        return STATUS_CODES.get(result.status.value, FAILED)
    passes = await _tests(sandbox, orders) == 0
    return await _show(config, result, before, passes)


async def _show(config: "SilasConfig", result: "WorkItemResult", before: int, passes: bool) -> int:
    from silas.services.record import open_audit

    _say(tr("What changed"))
    click.echo(result.diff)
    _say(tr("The record"))
    async with open_audit(config) as service:
        for line in await service.narrate((await service.head()).seq - before):
            click.echo(line)
        verdict = await service.verify_chain()
    checks = [r["name"] for r in result.verification_results[-1]["results"] if r["passed"]]
    if not (verdict.valid and checks and passes):
        why = refusal_words(verdict.reason) or tr("the tests fail")
        return _end_demo(tr("The result does not hold: {why}.", why=why), FAILED)
    click.echo("\n" + tr("verified checks: {names}", names=", ".join(checks)))
    click.echo(
        tr_many(
            verdict.entries_checked,
            "verified chain: {count} audit entry",
            "verified chain: {count} audit entries",
        )
    )
    return DONE


def _say(words: str) -> None:
    click.echo(f"\n== {words}")


def _end_demo(words: str, code: int) -> int:
    click.echo(words, err=True)
    return code
