"""What every command shares: configuration, exit codes, errors in one sentence, output."""

import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from silas.cards import CardChannel
    from silas.config import SilasConfig
    from silas.errors import SilasError
    from silas.plans import WorkItem, WorkItemResult
    from silas.stream.models import Reply
    from silas.wiring import AuditDesk, Silas

# Exit codes of `run` and `ask` (contract).
DONE, FAILED, USAGE, DECLINED, STOPPED = 0, 1, 2, 3, 4

STATUS_CODES = {"done": DONE, "healthy": DONE, "blocked": DECLINED, "paused": STOPPED}
OUTCOME_CODES = {"answered": DONE, "declined": DECLINED, "blocked": DECLINED, "busy": FAILED}
_USAGE_FAMILIES = ("E_CFG", "E_PLAN", "E_DB", "E_SANDBOX")


def read_config(ctx: click.Context) -> "SilasConfig":
    """The configuration in force for this command line."""
    from silas.config import load_config

    return load_config(ctx.find_root().obj)


def open_silas(
    ctx: click.Context, channel: "CardChannel", *, resume: bool = False
) -> "AbstractAsyncContextManager[Silas]":
    """A wired Silas for one command; it leaves interrupted work to whoever stays longer."""
    from silas.wiring import Silas

    return Silas.open(read_config(ctx), channel=channel, resume=resume)


def open_audit(ctx: click.Context) -> "AbstractAsyncContextManager[AuditDesk]":
    """The audit log alone: no model, no tool, no sandbox."""
    from silas.wiring import open_audit

    return open_audit(read_config(ctx))


def run_to_exit(work: Callable[[], Coroutine[Any, Any, int]]) -> NoReturn:
    """Run a command to its exit code; every known error is one sentence on stderr."""
    import asyncio

    from silas.errors import SilasError, from_foreign

    try:
        code = asyncio.run(work())
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
        code = STOPPED
    except SilasError as error:
        code = failed(error)
    except Exception as error:
        known = from_foreign(error)
        if known is None:
            raise
        code = failed(known)
    sys.exit(code)


def failed(error: "SilasError") -> int:
    """Print the one sentence, return the exit code."""
    click.echo(str(error), err=True)
    if error.code.startswith(_USAGE_FAMILIES):
        return USAGE
    return DECLINED if error.code.startswith("E_APPROVAL") else FAILED


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def terminal(*, as_json: bool, approve: str | None) -> "CardChannel":
    """The owner's terminal; with `--json` it speaks on stderr so that stdout is one document."""
    from silas.channels import CLIChannel, PreApproved
    from silas.clock import SystemClock

    channel = CLIChannel(sys.stdin, sys.stderr if as_json else sys.stdout, SystemClock())
    return channel if approve is None else PreApproved(channel, approve)


def hash_option(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The hex digits of `sha256:HEX`."""
    if value is None:
        return None
    kind, _colon, digits = value.partition(":")
    if kind != "sha256" or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise click.BadParameter("give the plan's hash as printed: sha256: and 64 hex digits")
    return digits


def read_plan(path: Path) -> str:
    """A plan file's text, or one sentence about why not."""
    from silas.errors import PlanFamilyError

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanFamilyError(f"The plan {path} cannot be read: {error}.") from error


def item_line(item: "WorkItem") -> dict[str, Any]:
    """A work item in four fields."""
    return {
        "id": item.id,
        "title": item.title,
        "status": item.status.value,
        "type": item.type.value,
    }


def reply_document(reply: "Reply", result: "WorkItemResult | None") -> dict[str, Any]:
    """What `ask --json` prints."""
    from silas.plans import plan_hash

    return {
        "text": reply.text,
        "outcome": reply.outcome,
        "turn_id": reply.turn_id,
        "plan": None
        if reply.plan is None
        else {**item_line(reply.plan), "plan_hash": plan_hash(reply.plan)},
        "result": None if result is None else result.model_dump(mode="json"),
    }


def print_result(result: "WorkItemResult") -> None:
    """What changed, how it ended, what could come next."""
    if result.diff:
        click.echo(result.diff)
    click.echo(f"{result.status.value}: {result.summary}")
    for step in result.next_steps:
        click.echo(f"  next: {step}")
