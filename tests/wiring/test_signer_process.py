"""A whole Silas whose signer is apart: what it signs with, and what it no longer signs."""

import asyncio
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas import load_config
from silas.agents import ExecutorAgentOutput
from silas.cards import Card, PlanAnswer, PlanCard
from silas.errors import SandboxError
from silas.home.runtime import sandbox_of
from silas.keys.remote import RemoteSigner
from silas.keys.signed_heads import SignedHeads
from silas.keys.signer_server import SigningService, open_socket
from silas.sandbox import Mount, SandboxFiles, SandboxLimits, default
from silas.services.signer.signables import Signables
from silas.stream.models import Incoming
from silas.stream.sender_identity import SenderIdentity
from silas.testing import (
    CallTool,
    Harness,
    Ports,
    ScriptedChannel,
    ScriptedModel,
    a_signer,
    plan_text,
)
from silas.testing.clock import MockClock
from silas.types import TaintLevel
from tests.support.users import ME
from tests.support.waits import SECONDS

APART = {"keys": {"signer": "apart"}}
GATE = {"name": "look", "on": "on_tool_call", "type": "approval_always"}


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory with a short name, since sockets have short addresses."""
    with tempfile.TemporaryDirectory(prefix="silas-", dir="/var/tmp") as name:
        yield Path(name).resolve()


@asynccontextmanager
async def a_desk(home: Path, clock: MockClock, answers: list[bool]) -> AsyncGenerator[list[str]]:
    """The real desk behind a real socket; an owner who answers in this order, and the questions."""
    asked: list[str] = []

    async def confirm(question: str) -> bool:
        asked.append(question)
        return answers.pop(0)

    judge = Signables(clock, SignedHeads(home / "head.json")).judge
    desk = SigningService(a_signer(), judge, confirm, asked.append, ME.uid)
    connection = open_socket(home / "desk" / "sock", -1)
    async with await asyncio.start_unix_server(desk.serve, sock=connection):
        yield asked


def yes(card: Card[Any]) -> Any:
    return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else "approve"


@pytest.mark.parametrize(
    ("answers", "status"), [([True, True], "done"), ([True, False], "stuck"), ([False], "blocked")]
)
async def test_a_plan_and_a_single_call_are_each_signed_at_the_signer(
    answers: list[bool], status: str, home: Path
) -> None:
    write = CallTool("shell_exec", {"argv": ["sh", "-c", "echo done > result.txt"]})
    executor = ScriptedModel([write, ExecutorAgentOutput(summary="tried")])
    channel, clock, expected = ScriptedChannel(yes), MockClock(), len(answers)
    harness = Harness(channel, models={"executor": executor}, settings=APART, clock=clock)
    harness.signer = RemoteSigner(home / "desk" / "sock", a_signer().public_key, ME.uid)
    plan = plan_text(gates=[GATE], budget={"max_attempts": 1}, title="Write the result")
    async with a_desk(home, clock, answers) as asked, harness:
        result = await harness.silas.run(plan)
    assert result.status == status
    assert len(asked) == expected
    assert (home / "head.json").exists()  # the checkpoint at the end was signed there, too
    assert "Write the result" in asked[0]
    assert all(
        'tool: "shell_exec"' in each and "echo done > result.txt" in each for each in asked[1:]
    )
    assert any("The signer asks now" in text for text in channel.texts)


class Watched:
    """Remembers what each message was taken for."""

    def __init__(self, sign_in: SenderIdentity) -> None:
        self._sign_in = sign_in
        self.levels: list[TaintLevel] = []

    async def taint_of(self, incoming: Incoming) -> TaintLevel:
        self.levels.append(await self._sign_in.taint_of(incoming))
        return self.levels[-1]


@pytest.mark.parametrize(("signer", "level"), [("inside", "owner"), ("apart", "auth")])
async def test_requests_are_signed_as_the_owners_only_with_the_key_inside(
    signer: str, level: str
) -> None:
    ports = Ports(sign_in=Watched)
    channel = ScriptedChannel()
    channel.channel_name = "cli"
    async with Harness(channel, settings={"keys": {"signer": signer}}, ports=ports) as harness:
        await harness.silas.ask("hello")
    assert ports["sign_in"].levels == [TaintLevel(level)]


_CONNECT = (
    "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('reached')"
)


async def test_no_sandbox_is_shown_the_signers_socket(home: Path) -> None:
    place = home / "desk" / "sock"
    config = load_config(
        environ={"SILAS_HOME": str(home / "h"), "SILAS_KEYS__SOCKET": str(place), "HOME": "/root"}
    )
    prefixes = {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}
    python = [Mount(source=p, target=p) for p in prefixes if not p.is_relative_to("/usr")]
    shown = Mount(source=place.parent, target=place.parent)
    argv = [str(Path(sys.executable).resolve()), "-I", "-S", "-c", _CONNECT, str(place)]
    limits = SandboxLimits(wall_seconds=SECONDS)
    with open_socket(place, -1):
        open_sandbox = default(config.sandbox, forbidden=())
        files = SandboxFiles(cwd=place.parent, mounts=(*python, shown))
        reached = await open_sandbox.run(argv, limits, files)
        assert reached.stdout == "reached\n", reached.stderr  # so nothing but the rule is between
        for folder in (place.parent, home):
            mounts = (*python, Mount(source=folder, target=folder))
            with pytest.raises(SandboxError, match="belongs to Silas"):
                await sandbox_of(config).run(argv, limits, SandboxFiles(cwd=folder, mounts=mounts))
        hidden = await sandbox_of(config).run(
            argv, limits, SandboxFiles(cwd=Path("/tmp"), mounts=tuple(python))
        )
    assert "reached" not in hidden.stdout
    assert "FileNotFoundError" in hidden.stderr
    with socket.socket(socket.AF_UNIX) as left, pytest.raises(ConnectionRefusedError):
        left.connect(str(place))  # the listener that the sandbox did not reach is this test's own
