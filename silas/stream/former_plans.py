"""The plan of work that a turn goes on from, shown whole though it is one line in view by then."""

from silas.context import ChronicleStore, ContextZone, frame_text
from silas.context.render import render_entering
from silas.stream.ports import ModelView
from silas.stream.state import Turn
from silas.stream.view import label_items
from silas.stream.work_context import plan_name


class FormerPlans:
    """Finds a plan that became a line.

    Args:
        context: What is in view, with the line.
        chronicle: Where the plan is kept as it was proposed.
    """

    def __init__(self, context: ModelView, chronicle: ChronicleStore) -> None:
        self._context = context
        self._chronicle = chronicle

    async def block_of(self, turn: Turn, work_item_id: str) -> str:
        """The plan, labelled as it was; empty where it stands in view, or is known no more."""
        name = plan_name(work_item_id)
        workspace = self._context.get_zone(turn.address, ContextZone.workspace)
        if not any(one.ctx_id == name and one.masked for one in workspace):
            return ""
        found = await self._chronicle.list_by_ids(turn.scope_id, [name])
        for text, origin in label_items(found[-1:]):
            turn.shown.provenance.add_text(text, origin)
            return frame_text(render_entering(found[-1]), origin, "plan")
        return ""
