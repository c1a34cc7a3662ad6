"""What an agent may do to memories: the rules of trust (spec 3.2 `MemoryOp`, 5.12)."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from silas.clock import Clock
from silas.errors import MemoryRefused
from silas.memory.models import MemoryItem, MemoryType, TrustLevel
from silas.memory.port import MemoryStore, OpBasis
from silas.types import TaintLevel, join_taint, new_id

RulesFit = Callable[[Sequence[MemoryItem]], bool]
"""Whether these standing rules have room in every prompt together."""


class OperationBasis(StrEnum):
    """On what an operation stands, the firmest that holds."""

    owners_words = "owners_words"
    """The content is the owner's, word for word, under his signature, and no others' in view."""
    words_among_others = "words_among_others"
    """The content is the owner's so, but text of others was in view: it may have chosen what he
    said it about."""
    owner_alone = "owner_alone"
    """The owner asks, and nothing but his own text was in view."""
    owner_asks = "owner_asks"
    """The owner asks, but text of others was in view."""
    others = "others"
    """Somebody else asks."""


_FIRM = frozenset({OperationBasis.owners_words, OperationBasis.words_among_others})
"""On these grounds content counts as confirmed: its owner said it himself."""


OWNERS_OWN: Final = "E_MEM_REFUSED_OWNERS"
"""The code of a refusal of what the owner can do himself."""


class OperationVerdict(NamedTuple):
    """What the rules say: whether it may be done, and the sentence and its code if not."""

    allowed: bool
    reason: str = ""
    code: str = "E_MEM_REFUSED"


_YES = OperationVerdict(True)
_CONSTITUTIONAL = OperationVerdict(
    False, "it says who Silas is, and nothing changes it while Silas runs"
)
_VERIFIED = OperationVerdict(False, "the owner confirmed it, and only his own words change it")
_ASK = OperationVerdict(
    False, "its owner confirmed it, and what others wrote was in view", OWNERS_OWN
)
_LESS = OperationVerdict(False, "it is trusted more than the text that asks for this")

_RULES: Mapping[tuple[str, TrustLevel, OperationBasis], OperationVerdict] = {
    ("update", TrustLevel.working, OperationBasis.owners_words): _YES,
    ("update", TrustLevel.working, OperationBasis.words_among_others): _YES,
    ("update", TrustLevel.working, OperationBasis.owner_alone): _YES,
    ("update", TrustLevel.working, OperationBasis.owner_asks): _YES,
    ("update", TrustLevel.verified, OperationBasis.owners_words): _YES,
    ("update", TrustLevel.verified, OperationBasis.words_among_others): _ASK,
    ("update", TrustLevel.verified, OperationBasis.owner_alone): _VERIFIED,
    ("update", TrustLevel.verified, OperationBasis.owner_asks): _VERIFIED,
    ("update", TrustLevel.verified, OperationBasis.others): _VERIFIED,
    ("delete", TrustLevel.working, OperationBasis.owner_alone): _YES,
    ("delete", TrustLevel.working, OperationBasis.owner_asks): _YES,
    ("delete", TrustLevel.verified, OperationBasis.owner_alone): _YES,
    ("delete", TrustLevel.verified, OperationBasis.owner_asks): _ASK,
    ("delete", TrustLevel.verified, OperationBasis.others): _ASK,
    ("link", TrustLevel.working, OperationBasis.owner_alone): _YES,
    ("link", TrustLevel.working, OperationBasis.owner_asks): _YES,
    ("link", TrustLevel.verified, OperationBasis.owner_alone): _YES,
    ("link", TrustLevel.verified, OperationBasis.owner_asks): _ASK,
    ("link", TrustLevel.verified, OperationBasis.others): _ASK,
}
"""Operation, trust of the memory and standing; whatever is not listed is refused."""


def verdict(op: str, target: MemoryItem, basis: OpBasis) -> OperationVerdict:
    """Whether an operation may change this memory."""
    if target.trust_level is TrustLevel.constitutional:
        return _CONSTITUTIONAL
    standing = standing_of(op, basis)
    if standing is OperationBasis.others and target.trust_level is TrustLevel.working:
        # what is less trusted never overwrites what is more trusted
        return _YES if join_taint((target.taint, basis.taint)) is target.taint else _LESS
    return _RULES.get((op, target.trust_level, standing), _LESS)


def standing_of(op: str, basis: OpBasis) -> OperationBasis:
    """The firmest ground that an operation has; only content can be the owner's words."""
    if op in {"store", "update"} and basis.owners_words:
        alone = basis.taint is TaintLevel.owner
        return OperationBasis.owners_words if alone else OperationBasis.words_among_others
    if not basis.owner_asks:
        return OperationBasis.others
    return (
        OperationBasis.owner_alone if basis.taint is TaintLevel.owner else OperationBasis.owner_asks
    )


class Operations:
    """`MemoryOperations` on a store: each operation is judged before anything is touched."""

    def __init__(self, store: MemoryStore, clock: Clock, rules_fit: RulesFit) -> None:
        self._store = store
        self._clock = clock
        self._rules_fit = rules_fit

    async def apply(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        """See `MemoryOperations.apply`."""
        match str(op.get("op") or ""):
            case "store":
                return await self._keep(op, basis)
            case "update":
                return await self._update(op, basis)
            case "delete":
                return await self._delete(op, basis)
            case "link":
                return await self._link(op, basis)
            case other:
                raise _refusal_error(f"There is no memory operation {other[:40]!r}.", basis)

    async def _keep(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        now = self._clock.now()
        firm = standing_of("store", basis) in _FIRM
        item = MemoryItem(
            memory_id=new_id("mem"),
            content=_content(op, basis),
            memory_type=_type(op, basis),
            trust_level=TrustLevel.verified if firm else TrustLevel.working,
            taint=TaintLevel.owner if firm else basis.taint,
            created_at=now,
            updated_at=now,
            semantic_tags=_names(op, "tags"),
            entity_refs=_names(op, "entity_refs"),
            session_id=basis.session_id or None,
            scope_id=basis.scope_id,
            sources=tuple(dict.fromkeys(basis.sources)),
        )
        await self._check_rules(item)
        return await self._store.store(item)

    async def _update(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        old = await self._judge_operation("update", op, basis)
        content = _content(op, basis)
        firm = standing_of("update", basis) in _FIRM
        changes: dict[str, Any] = {
            "content": content,
            "trust_level": TrustLevel.verified if firm else TrustLevel.working,
            # nothing is left of the old text where the owner's own words stand instead
            "taint": TaintLevel.owner if firm else join_taint((old.taint, basis.taint)),
            "sources": tuple(dict.fromkeys(basis.sources if firm else old.sources + basis.sources)),
        }
        for field, name in (("semantic_tags", "tags"), ("entity_refs", "entity_refs")):
            if firm or _names(op, name):
                changes[field] = _names(op, name)
        await self._check_rules(old.model_copy(update=changes))
        await self._store.update(old.memory_id, scope_id=basis.scope_id, **changes)
        return old.memory_id

    async def _delete(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        old = await self._judge_operation("delete", op, basis)
        await self._store.delete(old.memory_id, basis.scope_id)
        return old.memory_id

    async def _link(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        old = await self._judge_operation("link", op, basis)
        target = await self._target(str(op.get("link_to") or ""), basis)
        if not str(op.get("link_type") or "").strip():
            raise _refusal_error("A link needs a type, such as `caused_by`.", basis)
        changes: dict[str, Any] = {
            "causal_refs": tuple(dict.fromkeys((*old.causal_refs, target.memory_id)))
        }
        if standing_of("link", basis) is not OperationBasis.owner_alone:
            changes["taint"] = join_taint((old.taint, basis.taint))
            changes["sources"] = tuple(dict.fromkeys(old.sources + basis.sources))
        await self._store.update(old.memory_id, scope_id=basis.scope_id, **changes)
        return old.memory_id

    async def _judge_operation(
        self, op_name: str, op: Mapping[str, Any], basis: OpBasis
    ) -> MemoryItem:
        target = await self._target(str(op.get("memory_id") or ""), basis)
        found = verdict(op_name, target, basis)
        if not found.allowed:
            raise MemoryRefused(
                f"The memory {target.memory_id} stays as it is: {found.reason}.",
                code=found.code,
                scope_id=basis.scope_id,
            )
        return target

    async def _target(self, memory_id: str, basis: OpBasis) -> MemoryItem:
        found = await self._store.get(memory_id, basis.scope_id)
        if found is None:
            raise _refusal_error(f"There is no memory {memory_id[:80]!r} to work on.", basis)
        return found

    async def _check_rules(self, item: MemoryItem) -> None:
        """A standing rule that has no room in every prompt is refused; none is pushed out."""
        if item.memory_type is not MemoryType.preference or item.trust_level is TrustLevel.working:
            return
        others = [
            rule
            for rule in await self._store.rules(item.scope_id)
            if rule.memory_id != item.memory_id
        ]
        if not self._rules_fit([*others, item]):
            raise MemoryRefused(
                "There is no room for one more standing rule in every prompt; take one back first, "
                "with `silas memory forget`.",
                code="E_MEM_RULES",
                scope_id=item.scope_id,
            )


def _content(op: Mapping[str, Any], basis: OpBasis) -> str:
    content = op.get("content")
    if not isinstance(content, str) or not content.strip():
        raise _refusal_error("There is nothing to remember: the content is empty.", basis)
    return content


def _type(op: Mapping[str, Any], basis: OpBasis) -> MemoryType:
    named = op.get("memory_type") or MemoryType.episode
    try:
        return MemoryType(named)
    except ValueError:
        known = ", ".join(MemoryType)
        raise _refusal_error(
            f"There is no type of memory {str(named)[:40]!r}; {known}.", basis
        ) from None


def _names(op: Mapping[str, Any], field: str) -> tuple[str, ...]:
    given = op.get(field) or ()
    if isinstance(given, str):
        return (given,)
    return tuple(str(name) for name in given)


def _refusal_error(words: str, basis: OpBasis) -> MemoryRefused:
    return MemoryRefused(words, code="E_MEM_REFUSED", scope_id=basis.scope_id)
