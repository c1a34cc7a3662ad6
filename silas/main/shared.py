"""What every command shares: configuration, arguments, exit codes, errors in one sentence."""

import contextlib
import os
import re
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import click

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from silas.cards import CardChannel
    from silas.config import SilasConfig
    from silas.errors import SilasError
    from silas.services.record import AuditDesk
    from silas.services.work import WorkDesk
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

LONGEST_ECHO = 160
"""Characters of one word, or of one quotation, that an error repeats whole."""

_LONGEST_LINE = 3_000
_LONG_WORD = re.compile(rf"\S{{{LONGEST_ECHO + 1},}}")
_LONG_QUOTATION = re.compile(
    rf"(?<=(?<!\w)')[^'\n]{{{LONGEST_ECHO + 1},}}(?='(?!\w))"
    rf"|(?<=“)[^“”\n]{{{LONGEST_ECHO + 1},}}(?=”)"
)


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
            self.fail("it is empty; give the path of a file or a folder", param, ctx)
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
            shown = shorten(repr(os.fsencode(word))[1:])
            raise click.UsageError(
                f"The argument {shown} is not UTF-8 text; give it, or rename the file, in UTF-8."
            ) from None


def shorten(words: str) -> str:
    """A sentence without the middle of a word, a quotation or a line that is very long."""
    words = _LONG_WORD.sub(_ends, words)
    words = _LONG_QUOTATION.sub(_ends, words)
    return "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[:2_500]}...{line[-400:]}"
        for line in words.split("\n")
    )


def _ends(found: re.Match[str]) -> str:
    # the end, too: it is what tells two files of one folder apart
    return f"{found[0][:90]}...{found[0][-60:]}"


def config_option(ctx: click.Context) -> str | None:
    """The `--config FILE` of this command line, or None."""
    given: str | None = ctx.find_root().obj
    return given


def speak_as_written(ctx: click.Context) -> None:
    """Speak the owner's language before the configuration is read, or though it cannot be."""
    from silas.config.load import written_language
    from silas.language import speak_as_configured

    speak_as_configured(written_language(config_option(ctx)), os.environ)


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
    words = sentinel.words() or "Silas was stopped."
    with contextlib.suppress(OSError):
        os.write(2, f"{words} The work under way did not end by itself.\n".encode())
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
    from silas.stop import Sentinel

    config = read_config(ctx)
    if words := Sentinel(config.data_dir, config.scheduler.zone).words():
        tell_once(words)
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


class Warned(Protocol):
    """What a command opened, and what its owner must be told."""

    @property
    def warnings(self) -> list[str]:
        """Sentences, each to be said once."""
        ...


DeskT = TypeVar("DeskT", bound=Warned)


@contextlib.asynccontextmanager
async def warn(opening: "AbstractAsyncContextManager[DeskT]") -> "AsyncGenerator[DeskT]":
    """Say on stderr what the owner must be told of what was opened, before anything else."""
    async with opening as desk:
        for words in desk.warnings:
            tell_once(words)
        yield desk


def open_audit(
    ctx: click.Context, *, sign: bool = False
) -> "AbstractAsyncContextManager[AuditDesk]":
    """The audit log alone: no model, no tool, no sandbox. Its commands tell themselves that the
    record was changed.
    """
    from silas.services.record import open_audit

    return open_audit(_config_though_stopped(ctx), sign=sign)


def open_work(ctx: click.Context) -> "AbstractAsyncContextManager[WorkDesk]":
    """The work items alone: no model, no tool, no sandbox."""
    from silas.services.work import open_work

    return warn(open_work(look_config(ctx)))


def run_to_exit(work: Callable[[], Coroutine[Any, Any, int]]) -> NoReturn:
    """Run a command to its exit code; every known error is one sentence on stderr.

    What signs or changes something is refused here while the record is found changed.
    """
    import asyncio

    from silas.errors import SilasError, from_foreign
    from silas.main.record_rule import require_unchanged_record

    try:
        require_unchanged_record(click.get_current_context())
        code = asyncio.run(_run_stoppable(work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_error("Stopped; work that was not verified has not been applied.", "E_STOPPED")
        code = STOPPED
    except click.Abort:  # a question was ended with Ctrl-C or Ctrl-D
        print_error("Stopped at the question; nothing was done.", "E_STOPPED")
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

    try:
        folder = locations().state_dir
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, path = tempfile.mkstemp(prefix="fault-", suffix=".txt", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as details:
            details.writelines(traceback.format_exception(error))
        where = f"the details are in {path}"
    except OSError as refused:
        where = f"the details could not be kept ({refused.strerror})"
    name = type(error).__name__
    words = f"Silas failed at something it did not foresee ({name}); {where}."
    print_error(words, "E_SILAS_UNEXPECTED")
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


def confirm(question: str) -> bool:
    """Ask on the terminal; where nobody can type, nobody said yes."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    from silas.home.passphrases import allow_interrupt

    with allow_interrupt():
        return click.confirm(question, default=False)


def hash_option(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The hex digits of `sha256:HEX`."""
    if value is None:
        return None
    kind, _colon, digits = value.partition(":")
    if kind != "sha256" or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise click.BadParameter("give the plan's hash as printed: sha256: and 64 hex digits")
    return digits
