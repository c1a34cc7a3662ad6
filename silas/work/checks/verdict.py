"""What a verdict rests on besides the checks' own text: what the work left in their way (5.3)."""

from pathlib import Path

from silas.errors import PlanFamilyError
from silas.plans import WorkItem
from silas.work.changes.copy_view import tree_of
from silas.work.checks.check_files import changed_files
from silas.work.checks.shadowing import refusal, shadows
from silas.workspace.copy import Changes


class VerdictRefused(PlanFamilyError):
    """A check would run what the work left, and so its verdict would be the work's own."""


def check_changes(item: WorkItem, root: Path, changes: Changes) -> tuple[str, ...]:
    """The files of the plan's checks that the work changed; asked before the checks run.

    Args:
        item: With its checks.
        root: The private copy.
        changes: What the work did there.

    Raises:
        VerdictRefused: `E_PLAN_SHADOWED`: something stands in for a part of a check's program.
    """
    tree = tree_of(root)
    found = shadows(changes.all, item.verify, tree)
    if found:
        raise VerdictRefused(refusal(found), code="E_PLAN_SHADOWED", work_item_id=item.id)
    return changed_files(changes.all, item.verify, item.workspace or "", tree)
