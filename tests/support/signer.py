"""A signer apart as its owner starts it: a process of its own on a terminal of its own."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib import import_module

from silas.main import cli
from tests.support.command import Person, person, silas
from tests.support.users import User, person_as

for _needed in ("silas.main.signer", "silas.services.signer.process"):
    import_module(_needed)  # a forked signer of another user may not be able to read it any more

PASSPHRASE = "correct horse"
READY = "Ctrl-D ends."
ASKED = "is a no:"
"""The last words of the greeting, and of a question."""


class Desk:
    """The terminal of a signer that is ready."""

    def __init__(self, terminal: Person) -> None:
        self.terminal = terminal

    def asked(self) -> str:
        """Wait for the next question; the code printed with it."""
        self.terminal.waits_for(ASKED)
        codes: list[str] = re.findall(r"type: yes ([0-9a-f]{6})\n", self.terminal.seen)
        return codes[-1]

    def says(self, words: str, answer: str) -> None:
        """Type a line and wait for what is said to it."""
        self.terminal.types(f"{words}\r")
        self.terminal.waits_for(answer)


@contextmanager
def signer(env: Mapping[str, str], *, new: bool = True) -> Generator[Desk]:
    """A signer that is ready; a new one makes its key, another one opens it."""
    with person(silas("signer"), env) as terminal:
        yield opened(terminal, new=new)


@contextmanager
def signer_as(user: User, env: Mapping[str, str], *options: str) -> Generator[Desk]:
    """A new signer of another user."""

    def act() -> None:
        cli.main(["signer", *options], standalone_mode=False)

    with person_as(user, act, env) as terminal:
        yield opened(terminal, new=True)


def opened(terminal: Person, *, new: bool) -> Desk:
    """Type the passphrase, and wait until it is ready."""
    terminal.waits_for("Choose a passphrase" if new else "Passphrase for")
    terminal.waits_for(": ")
    terminal.types(f"{PASSPHRASE}\r")
    if new:
        terminal.waits_for("The same passphrase again: ")
        terminal.types(f"{PASSPHRASE}\r")
    terminal.waits_for(READY)
    return Desk(terminal)
