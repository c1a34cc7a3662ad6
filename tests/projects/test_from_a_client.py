"""A project that an MCP client asked for: its words stand on the card as that client's."""

from pathlib import Path
from typing import Any

from silas.agents import RouteDecision
from silas.cards import PlanCard
from silas.plans.source_marks import HEADING
from silas.services.mcp_server import Services
from silas.testing import Harness, ScriptedChannel, ScriptedModel
from silas.types import InteractionMode, InteractionRegister
from tests.projects.kit import project_text
from tests.stream.kit import proposing

WORDS = "Rename every invoice to the number of its customer."
TO_PLANNER = RouteDecision(
    route="planner",
    reason="it needs work",
    interaction_register=InteractionRegister.execution,
    interaction_mode=InteractionMode.act_and_report,
    context_profile="conversation",
)


async def test_the_words_of_a_client_in_a_project_and_its_tasks_are_told_as_its_words(
    tmp_path: Path,
) -> None:
    task: dict[str, Any] = {"workspace": str(tmp_path), "body": f"{WORDS}\n\n```sh\ntrue\n```"}
    text = project_text({"step-one": task}, body=WORDS, title="Tidy the invoices of March")
    channel = ScriptedChannel()
    planner = ScriptedModel([proposing(text)])
    models: dict[str, Any] = {"proxy": ScriptedModel([TO_PLANNER]), "planner": planner}
    async with Harness(channel, models=models) as h:
        said = {"text": f"Tidy the invoices of March: {WORDS}", "workspace": str(tmp_path)}
        await Services(h.silas, h.silas.ahead).ask(said)
    (card,) = [one for one in channel.cards if isinstance(one, PlanCard)]
    assert card.rationale.startswith("an MCP client on mcp (external) asked for this.")
    (part,) = [one for one in card.details if one.heading == HEADING]
    client = "a message from an MCP client on mcp (external)"
    assert part.open
    assert part.lines == (
        f"title: {client}",
        "  | Tidy the invoices of March",
        f"body, step-one body: {client}",
        f"  | {WORDS}",
    )
