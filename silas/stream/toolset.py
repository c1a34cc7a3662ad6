"""Steps 6 and 6.5: the tools that this connection may see in this turn, and the skills (5.1)."""

from collections.abc import Awaitable, Callable

from silas.skills import Skills
from silas.stream.ports import Access, MakeLooks, MakeToolRun
from silas.stream.state import Turn
from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from silas.types import OWNER, Origin, OriginKind, TaintLevel

RefreshTools = Callable[[], Awaitable[None]]


class TurnToolset:
    """Says what the models of a turn may look up.

    Args:
        tool_run: Makes what one run hands to the tool chain.
        looks: What a turn of the owner's own words may look at in its workspace.
        skills: What is installed.
        refresh: Brings the tools of others up to what is trusted now.
    """

    def __init__(
        self, tool_run: MakeToolRun, looks: MakeLooks, skills: Skills, refresh: RefreshTools
    ) -> None:
        self._tool_run = tool_run
        self._looks = looks
        self._skills = skills
        self._refresh = refresh

    # 6
    async def build(self, turn: Turn, access: Access) -> None:
        """Tools of the access level; those of the workspace only in the owner's own turns."""
        await self._refresh()
        allowed = frozenset(await access.get_allowed_tools())
        origin = _origin(turn)
        turn.shown.provenance.add_text(turn.message.text, origin)
        if turn.scope_id == OWNER and origin.kind is OriginKind.owner:
            place = turn.message.incoming.workspace or ""
            turn.shown.looks = self._looks(
                place, turn.message.text, turn.seat.scope.conversation, turn.aside
            )
        if not turn.shown.looks.open:
            allowed -= WORKSPACE_TOOL_NAMES
        turn.shown.tools = self._tool_run(
            "proxy",
            turn.id,
            turn.address,
            allowed,
            turn.shown.provenance,
            turn.note,
            turn.shown.looks,
            turn.aside,
        )

    # 6.5
    def show_skills(self, turn: Turn) -> None:
        """The names and descriptions of the skills, in view of the models."""
        turn.shown.skills = self._skills.catalogue()


def _origin(turn: Turn) -> Origin:
    """Whose words this turn is about; of somebody else also who sent them, and from where."""
    taint = turn.message.taint
    if taint is TaintLevel.owner:
        return Origin(kind=OriginKind.owner, taint=taint)
    said = turn.message.incoming.message
    return Origin(kind=OriginKind.message, name=f"{said.sender_id} on {said.channel}", taint=taint)
