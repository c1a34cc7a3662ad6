"""What every command shares: configuration, arguments, exit codes, errors in one sentence."""

import contextlib
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import click

from silas.main.typed import shorten

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from silas.cards import CardChannel
    from silas.config import SilasConfig
    from silas.errors import SilasError
    from silas.services.record import AuditService
    from silas.services.work import WorkService
    from silas.stop import Sentinel
    from silas.wiring.build import Silas

# Exit codes of `run` and `ask` (contract).
DONE, FAILED, USAGE, DECLINED, STOPPED = 0, 1, 2, 3, 4

_CODES = (
    ("E_STOPPED_RECORD", DECLINED),
    ("E_STOPPED", STOPPED),
    ("E_APPROVAL_STOPPED", STOPPED),
    ("E_APPROVAL", DECLINED),
    ("E_CFG", USAGE),
    ("E_PLAN", USAGE),
    ("E_REMINDER", USAGE),
    ("E_GOAL", USAGE),
    ("E_BATCH", USAGE),
    ("E_MEM_WORDS", USAGE),
    ("E_DB", USAGE),
    ("E_CHANNEL_BAD_REQUEST", USAGE),
    ("E_SANDBOX_NO_UNDO", USAGE),
    ("E_SANDBOX_NO_DIFF", USAGE),
)
"""The exit code of an error by its family; anything else failed."""

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
"""Every command that prints a document has it as `as_json`."""


class GivenPath(click.Path):
    """A path on the command line; an empty one, most often of an unset variable, is refused.

    `Path("")` is the directory that Silas was started in, which nobody meant.
    """

    def convert(
        self,
        value: "str | os.PathLike[str]",
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path, in the form that the option asks for."""
        if not os.fspath(value):
            from silas.language import tr_later

            raise wrong_value(
                tr_later("it is empty; give the path of a file or a folder"), param, ctx
            )
        return super().convert(value, param, ctx)


def require_text(words: Iterable[str]) -> None:
    """Refuse bytes that are no UTF-8: they could be neither kept, nor hashed, nor shown.

    Raises:
        click.UsageError: Shows the first such argument with its bytes escaped.
    """
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            from silas.language import tr_later

            shown = shorten(repr(os.fsencode(word))[1:])
            words = tr_later(
                "The argument {shown} is not UTF-8 text; give it, or rename the file, in UTF-8."
            )
            raise wrong_use(words, shown=shown) from None


def config_option(ctx: click.Context) -> str | None:
    """The `--config FILE` of this command line, or None."""
    given: str | None = ctx.find_root().obj
    return given


def speak_as_written(ctx: click.Context) -> None:
    """Speak the owner's language before the configuration is read, or though it cannot be."""
    from silas.config.load import written_language
    from silas.language import speak_as_configured

    speak_as_configured(written_language(config_option(ctx)), os.environ)


def speak_if_possible(ctx: click.Context) -> None:
    """The same where nothing may fail for the sake of the language."""
    from silas.errors import SilasError

    with contextlib.suppress(SilasError, OSError, ValueError):
        speak_as_written(ctx)


def wrong_use(words: str, **values: object) -> click.UsageError:
    """What click says of a command that was put together wrong, in the owner's language."""
    from silas.language import tr

    speak_if_possible(click.get_current_context())
    return click.UsageError(tr(words, **values))


def wrong_value(
    words: str, param: click.Parameter | None = None, ctx: click.Context | None = None
) -> click.BadParameter:
    """The same of one value of it."""
    from silas.language import tr

    speak_if_possible(click.get_current_context())
    return click.BadParameter(tr(words), ctx=ctx, param=param)


def read_config(ctx: click.Context) -> "SilasConfig":
    """The configuration in force for this command line."""
    from silas.config import load_config
    from silas.errors import ConfigError
    from silas.language import speak_as_configured

    try:
        speak_as_written(ctx)
        config = load_config(config_option(ctx))
        speak_as_configured(config.language, os.environ)
        return config
    except OSError as error:
        raise ConfigError(
            f"Silas cannot read {error.filename} ({error.strerror}); make its directory yours, "
            "or set SILAS_HOME to another one.",
            code="E_CFG_HOME",
        ) from error


def open_silas(
    ctx: click.Context, channel: "CardChannel", *, resume: bool = False
) -> "AbstractAsyncContextManager[Silas]":
    """A wired Silas for one command; it leaves interrupted work to whoever stays longer.

    Raises:
        Stopped: The emergency stop is in force; nothing was opened.
    """
    from silas.stop import Sentinel

    config = read_config(ctx)
    sentinel = Sentinel(config.data_dir, config.scheduler.zone)
    sentinel.require_running()
    from silas.config.place import ConfigPlace, config_file
    from silas.config.servers_file import ServersFile
    from silas.wiring.build import Silas

    place = ConfigPlace(config_file(config_option(ctx)), os.environ)
    return Silas.open(
        config,
        channel=channel,
        resume=resume,
        overdue=partial(end_process, sentinel),
        read_servers=ServersFile(place, config.mcp_entries),
    )


def end_process(sentinel: "Sentinel") -> NoReturn:
    """What a command does whose work does not end though Silas is stopped.

    In a thread, past a blocked event loop and past every `finally`: files are left as after a
    crash, which the next start repairs.
    """
    from silas.language import refusal_words, tr

    words = refusal_words(sentinel.words()) or tr("Silas was stopped.")
    slow = tr("The work under way did not end by itself.")
    with contextlib.suppress(OSError):
        os.write(2, f"{words} {slow}\n".encode())
    os._exit(STOPPED)


def look_config(ctx: click.Context) -> "SilasConfig":
    """The configuration for a command that only looks: it works while Silas is stopped and while
    the record is found changed, and says so.
    """
    from silas.services.record import home_words

    config = _config_though_stopped(ctx)
    if words := home_words(config):
        tell_once(words)
    return config


def _config_though_stopped(ctx: click.Context) -> "SilasConfig":
    from silas.language import refusal_words
    from silas.stop import Sentinel

    config = read_config(ctx)
    if words := Sentinel(config.data_dir, config.scheduler.zone).words():
        tell_once(refusal_words(words))
    return config


_TOLD = "silas.main.told"


def tell_once(words: str) -> None:
    """Say on stderr what the owner must be told, unless this command has said it already."""
    if not was_told(words):
        click.get_current_context().meta[_TOLD].append(words)
        click.echo(words, err=True)


def was_told(words: str) -> bool:
    """Whether this command has said the sentence."""
    told: list[str] = click.get_current_context().meta.setdefault(_TOLD, [])
    return words in told


class WarningService(Protocol):
    """What a command opened, and what its owner must be told."""

    @property
    def warnings(self) -> list[str]:
        """Sentences, each to be said once."""
        ...


ServiceT = TypeVar("ServiceT", bound=WarningService)


@contextlib.asynccontextmanager
async def warn(opening: "AbstractAsyncContextManager[ServiceT]") -> "AsyncGenerator[ServiceT]":
    """Say on stderr what the owner must be told of what was opened, before anything else."""
    async with opening as service:
        for words in service.warnings:
            tell_once(words)
        yield service


def open_audit(
    ctx: click.Context, *, sign: bool = False
) -> "AbstractAsyncContextManager[AuditService]":
    """The audit log alone: no model, no tool, no sandbox. Its commands tell themselves that the
    record was changed.
    """
    from silas.services.record import open_audit

    return open_audit(_config_though_stopped(ctx), sign=sign)


def open_work(ctx: click.Context) -> "AbstractAsyncContextManager[WorkService]":
    """The work items alone: no model, no tool, no sandbox."""
    from silas.services.work import open_work

    return warn(open_work(look_config(ctx)))


def run_to_exit(work: Callable[[], Coroutine[Any, Any, int]]) -> NoReturn:
    """Run a command to its exit code; every known error is one sentence on stderr.

    What signs or changes something is refused here while the record is found changed.
    """
    import asyncio

    from silas.errors import SilasError, from_foreign
    from silas.language import tr, tr_later
    from silas.main.record_rule import require_unchanged_record

    try:
        require_unchanged_record(click.get_current_context())
        code = asyncio.run(_run_stoppable(work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        words = tr_later("Stopped; work that was not verified has not been applied.")
        print_error(words, "E_STOPPED", tr(words))
        code = STOPPED
    except click.Abort:  # a question was ended with Ctrl-C or Ctrl-D
        words = tr_later("Stopped at the question; nothing was done.")
        print_error(words, "E_STOPPED", tr(words))
        code = STOPPED
    except BrokenPipeError:
        code = _nobody_reads()
    except SilasError as error:
        code = fail_with(error)
    except Exception as error:  # whatever it is, a person gets one sentence
        known = from_foreign(error)
        code = _report_unforeseen(error) if known is None else fail_with(known)
    sys.exit(code)


def _report_unforeseen(error: Exception) -> int:
    """A fault of Silas itself: one sentence, and the details in a file of the owner's."""
    import tempfile
    import traceback

    from silas.config import locations
    from silas.language import tr, tr_later

    try:
        folder = locations().state_dir
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, path = tempfile.mkstemp(prefix="fault-", suffix=".txt", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as details:
            details.writelines(traceback.format_exception(error))
        words = tr_later(
            "Silas failed at something it did not foresee ({name}); the details are in {where}."
        )
        where = path
    except OSError as refused:
        words = tr_later(
            "Silas failed at something it did not foresee ({name}); the details could not be kept "
            "({where})."
        )
        where = str(refused.strerror)
    name = type(error).__name__
    told = tr(words, name=name, where=where)
    print_error(words.format(name=name, where=where), "E_SILAS_UNEXPECTED", told)
    return FAILED


async def _run_stoppable(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Being told to end, or losing the terminal, stops work as properly as Ctrl-C does."""
    import asyncio
    import signal

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None:
        raise AssertionError("a command runs in a task")
    for number in (signal.SIGTERM, signal.SIGHUP):
        # only a main thread receives signals; elsewhere there are none to handle
        with contextlib.suppress(ValueError, RuntimeError):
            loop.add_signal_handler(number, task.cancel)
    return await work()


def _nobody_reads() -> int:
    # what is still buffered would fail once more while Python shuts down
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED


PRINTED = "silas.main.printed"
"""Where a command notes that its document is on stdout."""


def print_error(words: str, code: str, told: str = "") -> None:
    """One sentence on stderr, and with `--json` its document on stdout, unless there is one.

    `told` is the sentence in the owner's language, where that is another; the document is English.
    """
    from silas.main.output import print_json

    click.echo(told or words, err=True)
    ctx = click.get_current_context()
    if ctx.params.get("as_json") and PRINTED not in ctx.meta:
        print_json({"error": {"code": code, "words": words.removesuffix(f" [{code}]")}})


def fail_with(error: "SilasError") -> int:
    """Print the one sentence, return the exit code."""
    from silas.errors import UNKNOWN_ID
    from silas.language import refusal_words
    from silas.sandbox import SandboxUnavailable

    speak_as_written(click.get_current_context())
    told = str(error).replace(error.message, refusal_words(error.message), 1)
    print_error(shorten(str(error)), error.code, shorten(told))
    if isinstance(error, SandboxUnavailable) or error.code in UNKNOWN_ID:
        return USAGE
    return next((code for family, code in _CODES if error.code.startswith(family)), FAILED)


def hash_option(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The hex digits of `sha256:HEX`."""
    if value is None:
        return None
    kind, _colon, digits = value.partition(":")
    if kind != "sha256" or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        from silas.language import tr_later

        raise wrong_value(tr_later("give the plan's hash as printed: sha256: and 64 hex digits"))
    return digits
