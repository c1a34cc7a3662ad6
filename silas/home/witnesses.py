"""The audit log with its witnesses as they are configured, and the regular checkpoint."""

from collections.abc import Sequence
from pathlib import Path

from silas.audit import Audit
from silas.audit.settings import WitnessConfig
from silas.audit.witness import CommandWitness, DirectoryWitness, FileWitness, Witness
from silas.audit.witnessed_log import Warn, WitnessState, ask, recall
from silas.cards import Channel
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import ChannelError, SilasError
from silas.home.database import database_path, open_database
from silas.home.findings import DoctorFinding
from silas.language import said_at
from silas.sandbox.owner_command import run_owner_command
from silas.types import OWNER


def witnesses_of(config: SilasConfig) -> Sequence[Witness]:
    """The witnesses that are configured, in their order."""
    seconds = config.audit.witness_timeout_seconds
    return [_witness(each, seconds) for each in config.audit.witness]


def _witness(each: WitnessConfig, seconds: float) -> Witness:
    match each:
        case WitnessConfig(file=Path() as path):
            return FileWitness(path)
        case WitnessConfig(directory=Path() as path):
            return DirectoryWitness(path)
        case _:
            return CommandWitness(each.command or (), seconds, run_owner_command)


def witness_findings(config: SilasConfig) -> list[DoctorFinding]:
    """How it stands with each witness, for `silas doctor`; that there is none is advice."""
    if not config.audit.witness:
        return [DoctorFinding("audit witness", "advice", _NO_WITNESS)]
    if not database_path(config).exists():
        return []
    try:
        with open_database(config, SystemClock(), ()) as db:
            known = recall(db)
    except SilasError as error:
        return [DoctorFinding("audit witness", "failed", str(error))]
    return [
        DoctorFinding.of(
            f"audit witness {number}",
            *_standing(each, known.get(each.name, WitnessState(each.name))),
        )
        for number, each in enumerate(witnesses_of(config), 1)
    ]


_NO_WITNESS = (
    "none; whoever can write the record, the key's directory and the key store could cut off what "
    "was signed last. Name one in `audit.witness`, or keep the line that `silas audit witness` "
    "gives"
)


def _standing(witness: Witness, state: WitnessState) -> tuple[bool, str]:
    name = witness.name
    if state.fault:
        return False, f"{name}: {state.fault} Put it right and run `silas audit witness`"
    if fault := ask(witness, state).fault:
        return False, f"{name}: {fault}"
    if state.seq < 0:
        return False, f"{name}: has no head yet; run `silas audit witness`"
    return True, f"{name}: was told entry {state.seq} at {state.at[:19]}"


def message_to_owner(channel: Channel) -> Warn:
    """Say it in a message; where nobody is connected, the entry and `silas doctor` remain."""

    async def warn(words: str) -> None:
        try:
            await channel.send(OWNER, said_at(channel.channel_name, words))
        except ChannelError:
            return

    return warn


async def write_checkpoint(audit: Audit) -> None:
    """Sign the head; a failure is recorded, and the next time tries again."""
    try:
        await audit.write_checkpoint()
    except SilasError as error:
        await audit.log("checkpoint_failed", code=error.code)
