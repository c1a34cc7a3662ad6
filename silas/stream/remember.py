"""Step 10: what an answer wants to remember, gated, limited, and told where it is refused (5.1)."""

from typing import Any, Final

from silas.agents.models import MemoryOp, MemoryOpType
from silas.agents.runbook.door_words import DoorWords, words_here
from silas.audit import Audit
from silas.errors import SilasError
from silas.gates import GateTrigger
from silas.language import refusal_words, tr, tr_later
from silas.memory import MemoryOperations, OpBasis
from silas.memory.operations import OWNERS_OWN
from silas.stream.signed_words import his_own
from silas.stream.state import Turn, need
from silas.stream.turn_writer import TurnWriter
from silas.tools.phrases import collapse_spaces
from silas.types import TaintLevel

_NOT_KEPT: Final = tr_later("Not remembered: {why}")
_NOT_DONE: Final = {
    MemoryOpType.delete: tr_later("Not forgotten: {why}"),
    MemoryOpType.update: tr_later("Not changed in memory: {why}"),
}
_FORGETTING: Final = DoorWords(
    tr_later(
        "You can forget it yourself: `silas memory forget --id {id}`, or “Memory” under “More” in "
        "the cockpit."
    ),
    tr_later("You can forget it yourself, in “Memory” under “More”."),
)


class Remembering:
    """Carries out memory operations, as far as gates and the rules of trust let it.

    Args:
        operations: Changes memory.
        keeper: Says what the words of an answer rest on.
        audit: Where every refusal is recorded.
        most: How many operations of one answer are carried out.
    """

    def __init__(
        self, operations: MemoryOperations, keeper: TurnWriter, audit: Audit, most: int
    ) -> None:
        self._operations = operations
        self._keeper = keeper
        self._audit = audit
        self._most = most

    async def carry_out(self, turn: Turn) -> None:
        """Every operation of the answer; never one of an answer that was blocked."""
        asked, limit = need(turn.answer.response, "step 7").memory_ops, self._most
        if len(asked) > limit:
            await self._audit.log(
                "memory_ops_truncated", turn_id=turn.id, asked=len(asked), kept=limit
            )
        his_words = list[str]()
        for op in asked[:limit]:
            args = await self._let_pass(turn, op)
            if args is not None:
                await self._apply(turn, op, args, his_words)

    async def _let_pass(self, turn: Turn, op: MemoryOp) -> dict[str, Any] | None:
        context = {"tool_name": "memory_op", "tool_args": op.model_dump(mode="json")}
        passed = await turn.gates.check(GateTrigger.on_tool_call, context)
        if passed.stopped is None:
            return dict(passed.context["tool_args"])
        await self._audit.log("memory_op_blocked", turn_id=turn.id, op=op.op.value)
        self._tell(turn, "A safety rule kept something from being remembered.")
        return None

    async def _apply(
        self, turn: Turn, op: MemoryOp, args: dict[str, Any], his_words: list[str]
    ) -> None:
        content = collapse_spaces(str(args.get("content") or ""))
        try:
            if args.get("op") != MemoryOpType.delete:  # what is taken back may always go
                self._audit.require_whole()
            await self._operations.apply(args, self._basis(turn, content, his_words))
        except SilasError as error:
            await self._audit.log(
                "memory_op_refused", turn_id=turn.id, op=op.op.value, code=error.code
            )
            self._tell(turn, _refused_words(op, error))

    def _basis(self, turn: Turn, content: str, his_words: list[str]) -> OpBasis:
        """What an operation rests on: the owner's own words, or everything in view."""
        owner_asks = turn.message.taint is TaintLevel.owner
        own = owner_asks and his_own(content, turn.shown.provenance.says_owner(content), his_words)
        if own:
            his_words.append(content)
        return OpBasis(
            scope_id=turn.scope_id,
            session_id=turn.seat.scope.session_id,
            taint=TaintLevel.owner if own else _at_most(turn, content),
            sources=(turn.source,) if own else self._keeper.sources(turn),
            owners_words=own,
            owner_asks=owner_asks,
        )

    def _tell(self, turn: Turn, words: str) -> None:
        if turn.message.taint is TaintLevel.owner and words not in turn.answer.notes:
            turn.answer.notes.append(words)


def _refused_words(op: MemoryOp, error: SilasError) -> str:
    """What was not done, why, and how its owner forgets what only he can."""
    told = tr(_NOT_DONE.get(op.op, _NOT_KEPT), why=refusal_words(error.message))
    if op.op is MemoryOpType.delete and error.code == OWNERS_OWN:
        return f"{told} {words_here(_FORGETTING, id=op.memory_id)}"
    return told


def _at_most(turn: Turn, content: str) -> TaintLevel:
    """What anybody else wants remembered is from outside, but for a known sender's own words."""
    if turn.message.taint is TaintLevel.auth and his_own(
        content, [collapse_spaces(turn.message.incoming.message.text)]
    ):
        return TaintLevel.auth
    return turn.response_taint if turn.message.taint is TaintLevel.owner else TaintLevel.external
