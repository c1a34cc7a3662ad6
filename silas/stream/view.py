"""Step 7, first half: what stands in view of the models, and whose words each of it is (5.1)."""

from collections.abc import Iterable, Iterator

from silas.context import ContextItem, ContextZone, RenderedContext
from silas.memory import MemoryStore
from silas.persona import Persona
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import ModelView
from silas.stream.state import Turn
from silas.types import Origin, OriginKind, TaintLevel, join_taint

RULES = "memory:rules"
"""The source of the item that holds the owner's standing rules."""

DIRECTIVES = "persona:directives"
"""The source of the item that says how to speak; it is rendered last, because it changes."""

_KINDS = {
    "tool_result": OriginKind.tool,
    "memory": OriginKind.memory,
    "subscription": OriginKind.file,
    "system": OriginKind.memory,
}


class Viewing:
    """Puts rules and manner in place, renders, and labels what is shown."""

    def __init__(
        self, context: ModelView, memory: MemoryStore, persona: Persona, items: ItemFactory
    ) -> None:
        self._context = context
        self._memory = memory
        self._persona = persona
        self._items = items

    async def render_context(self, turn: Turn) -> RenderedContext:
        """The context as the models of this turn see it; the message itself stands elsewhere."""
        context, address = self._context, turn.address
        await self._lay_down_rules(turn)
        turn.shown.manner = await self._persona.manner(turn.scope_id, turn.message.text)
        self._pin(turn, DIRECTIVES, turn.shown.manner.directives)
        await context.refresh(address, turn.number)
        said = turn.message.message_id
        # what may be trusted counts at once; whose words they are is asked where a call has any,
        # and until the turn has answered nothing that its models were shown leaves the view
        turn.shown.provenance.in_view(
            join_taint({TaintLevel.owner, *context.taints(address)}),
            lambda: label_items(i for i in context.in_view(address) if i.ctx_id != said),
        )
        return context.render(address, turn.number, frozenset({said}))

    async def _lay_down_rules(self, turn: Turn) -> None:
        rules = await self._memory.rules(turn.scope_id)
        lines = ("- " + " ".join(rule.content.split()) for rule in rules)
        self._pin(turn, RULES, "\n".join(lines))

    def _pin(self, turn: Turn, source: str, text: str) -> None:
        """One item of the system zone; left as it is where nothing changed."""
        context, address = self._context, turn.address
        zone = context.get_zone(address, ContextZone.system)
        now = next((item.content for item in zone if item.ctx_id == source), "")
        if now == text:
            return
        if not text:
            context.drop(address, source)
            return
        origin = ItemOrigin(TaintLevel.owner, source)
        item = self._items.make(
            turn.standing, ContextZone.system, "system", text, origin, ctx_id=source, pinned=True
        )
        context.add(address, item)


def label_items(items: Iterable[ContextItem]) -> Iterator[tuple[str, Origin]]:
    """The words of each item and whose they are.

    What the owner signed earlier is the owner's; what Silas answered is a model's, however far it
    is trusted.
    """
    for item in items:
        kind = _kind(item)
        # `[owner] somebody: what was said`
        said = item.content.partition(": ")[2] if kind is OriginKind.owner else item.content
        yield said, Origin(kind=kind, name=item.source, taint=item.taint)


def _kind(item: ContextItem) -> OriginKind:
    if item.kind != "message":
        return _KINDS.get(item.kind, OriginKind.model)
    if not item.source.startswith("channel:"):
        return OriginKind.model
    return OriginKind.owner if item.taint is TaintLevel.owner else OriginKind.message
