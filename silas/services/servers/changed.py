"""A server of tools that is to become another one: what is asked about it, before and after."""

from typing import NamedTuple

from silas.canonical import digest
from silas.cards import Action, Detail
from silas.cards.models import DecisionCard
from silas.config.edit_servers import ServersEdit
from silas.language import tr
from silas.plans import show_lines
from silas.services.servers.trust_card import server_lines
from silas.services.servers.wanted import WantedServer
from silas.services.setup.one_question import NO, YES
from silas.tools.mcp.settings import MCPEntry
from silas.types import Risk


class PlannedChange(NamedTuple):
    """One that is to be changed, held against every rule; nothing is written yet."""

    before: MCPEntry
    entry: MCPEntry
    edit: ServersEdit
    wanted: WantedServer

    @property
    def digest(self) -> str:
        """Of its name, and what it is and may reach before and after; a yes is to exactly that."""
        return digest([self.entry.name, self.before.source, self.entry.source])


def changed_card(planned: PlannedChange) -> DecisionCard:
    """Whether a server is to be changed: what of it, and the whole of what it is then."""
    before, after = server_lines(planned.before), server_lines(planned.entry)
    changed = (
        *(tr("before: {words}", words=line) for line in before if line not in after),
        *(tr("after: {words}", words=line) for line in after if line not in before),
    )
    said = tuple(part for line in planned.edit.lines for part in show_lines(line))
    return DecisionCard(
        intent=tr("Change the server of tools {name}", name=planned.entry.name),
        risk=Risk.high,
        rationale=tr(
            "It ends, and what you trusted of it counts no more: its tools are shown and asked "
            "about again before it is started."
        ),
        details=(
            Detail(heading=tr("What changes"), lines=changed, open=True),
            Detail(heading=tr("Server"), lines=tuple(after), open=True),
            Detail(
                heading=tr("What {file} will say", file=str(planned.edit.file)),
                lines=said,
                open=True,
            ),
            Detail(heading=tr("Digest"), lines=(f"sha256:{planned.digest}",), open=True),
        ),
        actions=(
            Action(label=tr("Change it"), value=YES, role="recommended"),
            Action(label=tr("Leave it as it is"), value=NO, role="decline"),
        ),
        safe=NO,
    )
