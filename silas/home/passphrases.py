"""Questions that the whole process waits for: a passphrase on the owner's terminal."""

import getpass
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from silas.errors import Stopped
from silas.keys.vault import refuse_to_prompt
from silas.language import retranslate, tr_later

_QUESTIONS: Final = (
    tr_later("Choose a passphrase for Silas's signing key"),
    tr_later("Choose a passphrase for your secrets"),
    tr_later("The same passphrase again"),
    tr_later("Passphrase for the signing key of {owner}"),
    tr_later("Passphrase for your secrets"),
)
_LOOKS_EVERY: Final = 0.25  # seconds


class Passphrases:
    """Asks for passphrases unseen, and remembers them while it lives: nobody types one twice."""

    def __init__(self) -> None:
        """Ask nothing."""
        self.typed: list[str] = []

    def ask(self, words: str) -> str:
        """What somebody types; refused where nobody can.

        Raises:
            ConfigError: There is no terminal.
            Stopped: The question was ended with Ctrl-C or Ctrl-D.
        """
        if not someone_can_type():
            return refuse_to_prompt(words)
        try:
            with allow_interrupt():
                typed = getpass.getpass(f"{retranslate(words, _QUESTIONS)}: ")
        except (KeyboardInterrupt, EOFError) as error:
            sys.stderr.write("\n")
            raise Stopped(
                "No passphrase was typed, so the command ended; nothing was done.",
                code="E_STOPPED_ASKING",
            ) from error
        self.typed.append(typed)
        return typed


@contextmanager
def allow_interrupt() -> Generator[None]:
    """Let Ctrl-C end a question; an event loop would note it and go on waiting for the answer.

    Python notes a signal and acts on it when the system call it is in returns. One that comes
    just before it begins to wait for the answer would be noted and forgotten, so a timer lets it
    look a few times a second.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    looked = signal.signal(signal.SIGALRM, _look)
    timer = signal.setitimer(signal.ITIMER_REAL, _LOOKS_EVERY, _LOOKS_EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, looked)
        signal.signal(signal.SIGINT, before)


def _look(_signal: int, _frame: FrameType | None) -> None:
    """Do nothing; what was noted before is acted on."""


def someone_can_type() -> bool:
    """Whether a question on the terminal is seen: what is done for a page is done in a thread."""
    here = threading.current_thread() is threading.main_thread()
    return here and sys.stdin is not None and sys.stdin.isatty()
