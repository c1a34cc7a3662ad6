"""What a run of a turn's model was like: for the record, and for how the turn ends (step 7)."""

from silas.agents import AgentResponse, StructuredRun
from silas.audit import Audit
from silas.stream.models import Outcome
from silas.stream.state import Turn


async def record_run(
    audit: Audit, event: str, turn: Turn, run: StructuredRun[object], **facts: str | bool
) -> None:
    """Record one run; whoever asked is told which model stood in for the configured one."""
    dropped = {"dropped": list(run.dropped)} if run.dropped else {}
    for words in run.stood_in:
        await audit.log("model_stood_in", turn_id=turn.id, words=words)
        if words not in turn.answer.notes:
            turn.answer.notes.append(words)
    await audit.log(
        event,
        turn_id=turn.id,
        fell_back=run.fell_back,
        tokens=run.tokens,
        cost_usd=run.cost_usd,
        prompt=run.prompt,
        **dropped,
        **facts,
    )


def outcome_of(run: StructuredRun[object], said: AgentResponse | None) -> Outcome:
    """Who never answered in form, or says that it did not understand, has not answered."""
    understood = said is None or said.understood
    return "answered" if understood and not run.fell_back else "failed"
