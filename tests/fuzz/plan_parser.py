"""Fuzz target: whatever text a model hands over as a plan, it is a plan or one mapped error."""

from silas.plans import PlanError, PlanParser, plan_bytes, plan_card, subject_of
from silas.plans.models import WorkItem

_PARSER = PlanParser()


def run(data: bytes) -> None:
    """Read `data` as a plan.

    Raises:
        AssertionError: What was read has no bytes of its own, needs no approval, or has no card.
            Any other exception is a fault, too: a plan that cannot be read is a `PlanError` with a
            line and a column that are there.
    """
    text = data.decode("utf-8", errors="surrogateescape")
    try:
        item = _PARSER.parse(text)
    except PlanError as error:
        if min(error.line, error.column) < 1:
            raise AssertionError(f"no such place: {error}") from error
        return
    assert item.needs_approval
    assert item.approval_token is None
    canonical = plan_bytes(item)
    assert plan_bytes(WorkItem.model_validate_json(canonical)) == canonical
    assert plan_card(canonical, rationale="fuzz").plan_hash == subject_of(item).digest
