"""Whether work may be shown the places that its plan names; never those that are Silas's own."""

from pathlib import Path

from silas.plans import WorkItem
from silas.sandbox.mounts import Roots, objection


class PlaceAbility:
    """Knows what a sandbox is never shown; a run would meet the same after its approval.

    Args:
        roots: Where nothing that is shown may come from.
    """

    def __init__(self, roots: Roots) -> None:
        self._read = roots
        self._workspace = roots._replace(homes=(), runtime=(), allowed=())

    def refuse(self, item: WorkItem) -> str:
        """Why work may not see what a plan names; nothing where it may."""
        if item.workspace is not None:
            why = objection(Path(item.workspace), self._workspace)
            if why:
                return f"The plan's workspace {item.workspace} cannot be used: {why}."
        for path in item.read:
            if why := objection(Path(path), self._read):
                return f"The plan cannot read {path}: {why}."
        return ""
