"""A planned change of an MCP server, and the card that shows it before and after."""

from typing import NamedTuple

from silas.canonical import digest
from silas.cards import Detail
from silas.cards.models import DecisionCard
from silas.config.edit_servers import ServersEdit
from silas.language import tr
from silas.services.mcp_servers.file_card import file_card
from silas.services.mcp_servers.server_form import WantedServer
from silas.services.mcp_servers.trust_card import server_lines
from silas.tools.mcp.settings import MCPEntry


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
    return file_card(
        tr("Change the server of tools {name}", name=planned.entry.name),
        tr(
            "It ends, and what you trusted of it counts no more: its tools are shown and asked "
            "about again before it is started."
        ),
        (
            Detail(heading=tr("What changes"), lines=changed, open=True),
            Detail(heading=tr("Server"), lines=tuple(after), open=True),
        ),
        planned.edit,
        planned.digest,
        (tr("Change it"), tr("Leave it as it is")),
    )
