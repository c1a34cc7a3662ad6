"""The card about what the configuration file will say of an MCP server."""

from silas.cards import Action, Detail
from silas.cards.models import DecisionCard
from silas.config.edit_servers import ServersEdit
from silas.language import tr
from silas.plans import show_lines
from silas.services.setup.one_question import NO, YES
from silas.types import Risk


def file_card(
    intent: str,
    rationale: str,
    shown: tuple[Detail, ...],
    edit: ServersEdit,
    digest: str,
    labels: tuple[str, str],
) -> DecisionCard:
    """A card that ends with the lines of the file and the digest of what is asked.

    Args:
        intent: What is asked.
        rationale: What a yes does, and what it does not.
        shown: What the server is, before those lines.
        edit: What is written into the file.
        digest: Of what a yes is to.
        labels: What the yes and the no are called.
    """
    said = tuple(part for line in edit.lines for part in show_lines(line))
    file = tr("What {file} will say", file=str(edit.file))
    yes, no = labels
    return DecisionCard(
        intent=intent,
        risk=Risk.high,
        rationale=rationale,
        details=(
            *shown,
            Detail(heading=file, lines=said, open=True),
            Detail(heading=tr("Digest"), lines=(f"sha256:{digest}",), open=True),
        ),
        actions=(
            Action(label=yes, value=YES, role="recommended"),
            Action(label=no, value=NO, role="decline"),
        ),
        safe=NO,
    )
