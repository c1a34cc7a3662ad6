"""What a conformance check is: an attack, what it aims at on the host, and the evidence there."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from silas.sandbox.models import SandboxLimits

PROTECTED = ("repository/.git", "swapped/.git")
"""Parts of the workspace that every run shows read-only, as the history of a repository is."""


def own_name() -> str:
    """A name for something on the host that only this process gives."""
    return f"silas-conformance-{os.getpid()}-{os.urandom(6).hex()}"


class AttackGroup(StrEnum):
    """What an attack is aimed at."""

    network = "network"
    files = "files"
    processes = "processes"


class Evidence(StrEnum):
    """Who decides whether an attack had its effect.

    Attributes:
        host: Something on the host: a listener, a file, a process, a secret that came out.
        kernel: The kernel's answer to the attack, which leaves no trace outside.
    """

    host = "host"
    kernel = "kernel"


class ConformanceVerdict(StrEnum):
    """How a check ended.

    Attributes:
        held: The attack works outside the sandbox and had no effect from inside.
        broken: It had its effect from inside, or nobody can tell.
        untestable: It does not work here even outside, so that the sandbox proves nothing.
    """

    held = "held"
    broken = "broken"
    untestable = "not testable here"


@dataclass(frozen=True)
class ConformanceFinding:
    """One line of the report."""

    name: str
    group: AttackGroup
    promise: str
    evidence: Evidence
    verdict: ConformanceVerdict
    words: str


@dataclass(frozen=True)
class Trace:
    """What is known about one attempt.

    Attributes:
        told: What the attack learned; empty when it was refused.
        error: How it was refused.
        looked: What the host saw of its process, if that shows the effect.
        left: Processes of the attempt that are alive after its run.
        ended_by: What ended the run.
        output: Bytes of output that came out.
    """

    told: str = ""
    error: str = ""
    looked: str = ""
    left: tuple[int, ...] = ()
    ended_by: str = "exit"
    output: int = 0


@dataclass(frozen=True)
class Side:
    """The ground of one attempt: one for the control, one for the sandbox.

    Attributes:
        root: A directory of the host that no sandbox is shown.
        work: The directory that is shown writable; the attack starts in it.
        secret: Text that exists nowhere else.
        home: The owner's home directory.
        guarded: Silas's own directories.
    """

    root: Path
    work: Path
    secret: str
    home: Path
    guarded: tuple[Path, ...]

    @classmethod
    def make(cls, root: Path, home: Path, guarded: tuple[Path, ...]) -> "Side":
        """Lay it out below a fresh directory."""
        side = cls(root, root / "work", f"secret-{os.urandom(12).hex()}", home, guarded)
        for part in ("work", "reports", *(f"work/{path}/hooks" for path in PROTECTED)):
            (root / part).mkdir(parents=True)
        for path in PROTECTED:
            (side.work / path / "config").write_text("[core]\n", encoding="utf-8")
        return side

    @property
    def reports(self) -> Path:
        """Where attacks report; shown writable."""
        return self.root / "reports"

    def make_hidden(self, name: str, content: str = "") -> Path:
        """A file of the host beside the workspace, with the secret unless told otherwise."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content or self.secret, encoding="utf-8")
        return path


@dataclass
class AttackStage:
    """What an attack aims at. Made anew for each attempt; made at all only where it can exist.

    Attributes:
        at: What the attack is told.
        looks: Whether the evidence is a look at the attack's process while it holds still.
    """

    at: dict[str, Any] = field(default_factory=dict[str, Any])
    looks = False

    def look(self, pid: int) -> str:
        """What the host sees of a living process, empty if that is harmless.

        Raises:
            OSError: It cannot be seen.
        """
        del pid
        return ""

    def hit(self, trace: Trace) -> str:
        """What shows on the host that the attack had its effect, empty if nothing does."""
        return trace.looked

    def close(self) -> None:
        """Take everything away again."""


class Untestable(Exception):
    """On this machine there is nothing to aim at; the message says why."""


class Attack(NamedTuple):
    """An attack by its name: the process that measures never loads its code.

    Attributes:
        module: The file of this room that has it, without its ending.
        function: What is called there, inside the sandbox and as control outside.
    """

    module: str
    function: str


class AttackFile:
    """The attacks of one file of this room: each attribute is the name of one."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, function: str) -> Attack:
        """The attack of this name."""
        return Attack(self._module, function)


MakeStage = Callable[[Side], AttackStage]


@dataclass(frozen=True)
class ConformanceCheck:
    """One attack and its evidence.

    Attributes:
        name: Short, unique in its group.
        group: What it is aimed at.
        promise: What the sandbox keeps, as a sentence.
        attack: What runs inside, and as control outside.
        stage: Sets up what it aims at.
        evidence: Who decides.
        limits: A run of its own under these limits; None to share a run with others.
        namespaces: The control runs as root of namespaces of its own, made with these flags, so
            that it needs no rights and does no harm.
    """

    name: str
    group: AttackGroup
    promise: str
    attack: Attack
    stage: MakeStage
    evidence: Evidence = Evidence.host
    limits: SandboxLimits | None = None
    namespaces: int = 0


class MakeCheck(Protocol):
    """Makes a check of one group; see `ConformanceCheck` for what it is given."""

    def __call__(
        self,
        name: str,
        promise: str,
        attack: Attack,
        stage: MakeStage,
        namespaces: int = 0,
        *,
        limits: SandboxLimits | None = None,
        evidence: Evidence = Evidence.host,
    ) -> ConformanceCheck:
        """One line of the group's table."""
        ...


def in_group(group: AttackGroup) -> MakeCheck:
    """Checks of one group, made from a line of its table."""

    def check(
        name: str,
        promise: str,
        attack: Attack,
        stage: MakeStage,
        namespaces: int = 0,
        *,
        limits: SandboxLimits | None = None,
        evidence: Evidence = Evidence.host,
    ) -> ConformanceCheck:
        return ConformanceCheck(name, group, promise, attack, stage, evidence, limits, namespaces)

    return check
