"""Step 7 without a model: how the owner undoes work, said exactly at the door where he asks.

Nothing is undone by words. A model cannot know which door that is, nor the command there.
"""

from silas.agents.runbook.undo_and_stop import asks_to_undo, how_to_undo
from silas.audit import Audit
from silas.context import ContextZone
from silas.language import tr_later
from silas.stream.owner_words import Answered, OwnerWords
from silas.stream.ports import ModelView
from silas.stream.state import Turn
from silas.stream.turn_modes import TurnModes
from silas.stream.work_context import TAKEN_BACK, work_of


class UndoWords(OwnerWords[str]):
    """Answers the owner's own "undo that", and nothing that says more.

    Args:
        context: What stands in view.
        audit: Where the turn is recorded.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    reason = "undo"
    owners_only = tr_later("Only Silas's owner can undo work. Nothing was changed.")

    def __init__(self, context: ModelView, audit: Audit, modes: TurnModes, profile: str) -> None:
        super().__init__(audit, modes, profile)
        self._context = context

    def _parse_request(self, text: str) -> str | None:
        return text if asks_to_undo(text) else None

    async def _do(self, turn: Turn, asked: str) -> Answered:
        del asked
        shown = self._context.get_zone(turn.address, ContextZone.workspace)
        standing = [
            work_of(one.ctx_id)
            for one in shown
            if one.kind == "execution_result" and TAKEN_BACK not in one.content.splitlines()
        ]
        # what is asked for is not done, so it is not answered
        return how_to_undo(standing[-1] if standing else ""), "failed"
