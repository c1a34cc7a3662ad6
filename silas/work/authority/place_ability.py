"""Whether work may be shown the places that its plan names; never those that are Silas's own."""

from pathlib import Path

from silas.plans import WorkItem
from silas.sandbox.mounts import Roots, objection, silas_own


class PlaceAbility:
    """Knows what no work is ever shown, before anybody is asked about the plan.

    Args:
        roots: Where nothing that is shown may come from.
    """

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def refuse(self, item: WorkItem) -> str:
        """Why work may not see what a plan names; nothing where it may."""
        # no work runs in a folder that is tidied, and which may be, batches say more exactly
        workspace = None if item.cycle == "tidy" else item.workspace
        if workspace is not None and silas_own(Path(workspace), self._roots.forbidden):
            return (
                f"The plan's workspace {workspace} is, holds or lies in what belongs to Silas; "
                "name another directory."
            )
        for path in item.read:
            if objection(Path(path), self._roots):
                return (
                    f"The plan cannot read {path}: it is or holds your whole home, secrets, or "
                    "what belongs to Silas or the system; name less, or take it out of `read:`."
                )
        return ""
