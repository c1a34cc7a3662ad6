"""The audit log that tells its witnesses every head it signs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

from silas.audit.log import AuditLog, signed_head
from silas.audit.models import AuditHead, ChainVerdict, Checkpoint, CheckpointSigner
from silas.audit.witness import Witness, contradiction, head_line, read_head
from silas.clock import Clock
from silas.db import Database
from silas.errors import SilasError, from_foreign

Warn = Callable[[str], Awaitable[None]]
"""Tells the owner, on whatever surface there is."""

_RECALL = "SELECT name, seq, checkpoint_id, at, fault FROM audit_witnesses"

_REMEMBER = """
INSERT INTO audit_witnesses (name, seq, checkpoint_id, at, fault)
VALUES (:name, :seq, :checkpoint_id, :at, :fault)
ON CONFLICT (name) DO UPDATE SET
  seq = excluded.seq, checkpoint_id = excluded.checkpoint_id, at = excluded.at,
  fault = excluded.fault
"""


class WitnessState(NamedTuple):
    """What a witness was told last, and words about what went wrong since then.

    `seq` is -1 and `at` empty where it was never told anything.
    """

    name: str
    seq: int = -1
    checkpoint_id: str = ""
    at: str = ""
    fault: str = ""


class Memory(NamedTuple):
    """What a witness kept, or words about why it does not answer for the log."""

    lines: list[tuple[str, str]]
    fault: str = ""


def ask(witness: Witness, state: WitnessState) -> Memory:
    """What a witness remembers; nothing, and no fault, of one that can only be told."""
    try:
        lines = witness.lines()
    except OSError as error:
        return Memory([], f"cannot be read ({error.strerror})")
    if lines is None:
        return Memory([])
    kept = list(lines)
    heads = [read_head(line, place) for place, line in kept]
    newest = max((each.head.seq for each in heads if each), default=-1)
    if newest < state.seq:
        return Memory(kept, f"was told entry {state.seq} at {state.at[:19]} and has lost it")
    if newest < 0:
        return Memory(kept, "has no head yet; run `silas audit witness`")
    return Memory(kept)


def recall(db: Database) -> dict[str, WitnessState]:
    """How it stood with every witness that was ever told anything, by name."""
    with db.read() as tx:
        return {row[0]: WitnessState(*row) for row in tx.run(_RECALL)}


class WitnessedAuditLog(AuditLog):
    """An audit log whose every checkpoint goes to all witnesses before it is returned.

    A witness that fails takes nothing from the log: the entries and the checkpoint are kept, the
    failure is recorded as an entry and told to the owner, and the next checkpoint tries again.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        signer: CheckpointSigner,
        witnesses: Sequence[Witness],
        warn: Warn,
    ) -> None:
        super().__init__(db, clock, signer)
        self._witnesses = tuple(witnesses)
        self._warn = warn
        self._warned: set[str] = set()

    async def signed_head(self) -> Checkpoint:
        """See `AuditLog`; a witness that has this head already is left alone."""
        checkpoint = await self._sign_checkpoint()
        await self._tell(checkpoint, anew=False)
        return checkpoint

    async def witness(self) -> str:
        """Tell every witness the newest head, again if need be; returns the head's line."""
        checkpoint = await self._sign_checkpoint()
        await self._tell(checkpoint, anew=True)
        return head_line(checkpoint, self.public_key)

    def witnesses(self) -> list[WitnessState]:
        """How it stands with each configured witness, in their order."""
        known = recall(self._db)
        return [known.get(each.name, WitnessState(each.name)) for each in self._witnesses]

    async def verify_witnessed(
        self, kept: Iterable[tuple[str, str]], noted: Iterable[AuditHead]
    ) -> ChainVerdict:
        """`verify_chain`, and the log against everything its witnesses kept.

        Args:
            kept: More lines with their places, from a witness that cannot be asked.
            noted: Heads for which the caller vouches.
        """
        verdict = await self.verify_chain()
        if not verdict.valid:
            return verdict
        reason = await asyncio.to_thread(self._contradiction, list(kept), list(noted))
        return verdict if not reason else ChainVerdict(False, verdict.entries_checked, reason)

    def _contradiction(self, kept: list[tuple[str, str]], noted: list[AuditHead]) -> str:
        for each, state in zip(self._witnesses, self.witnesses(), strict=True):
            memory = ask(each, state)
            if memory.fault:
                return f"The witness {each.name} {memory.fault}."
            kept += memory.lines
        return contradiction(kept, noted, self.hash_of, self.signed_by_owner)

    async def _tell(self, checkpoint: Checkpoint, *, anew: bool) -> None:
        known = zip(self._witnesses, self.witnesses(), strict=True)
        due = [
            (each, state)
            for each, state in known
            if anew or state.fault or state.checkpoint_id != checkpoint.checkpoint_id
        ]
        line = head_line(checkpoint, self.public_key)
        errors = await asyncio.gather(*(_tell_witness(each, line) for each, _ in due))
        for (each, state), error in zip(due, errors, strict=True):
            await self._remember(each.name, state, checkpoint, error)

    async def _remember(
        self, name: str, before: WitnessState, checkpoint: Checkpoint, error: SilasError | None
    ) -> None:
        now = self._clock.now().isoformat()
        with self._db.write() as tx:
            if error is None:
                seq = signed_head(checkpoint).seq
                state = WitnessState(name, seq, checkpoint.checkpoint_id, now)
            else:
                state = before._replace(fault=error.message)
            # Only a change is an entry: one entry a checkpoint would make one checkpoint an entry.
            if error is not None and before.fault != error.message:
                self.log_now("witness_failed", witness=name, code=error.code)
            elif error is None and before.fault:
                self.log_now("witness_recovered", witness=name)
            if state != before:
                tx.run(_REMEMBER, **state._asdict())
        if error is not None and name not in self._warned:
            self._warned.add(name)
            await self._warn(
                f"The witness {name} does not have the newest signed head of the audit log: "
                f"{error.message} Put it right and run `silas audit witness`."
            )
        elif error is None:
            self._warned.discard(name)


async def _tell_witness(witness: Witness, line: str) -> SilasError | None:
    try:
        await witness.tell(line)
    except (OSError, SilasError) as error:
        return from_foreign(error)
    return None
