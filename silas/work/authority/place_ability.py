"""Whether work may be shown the places that its plan names; never those that are Silas's own."""

from pathlib import Path

from silas.plans import WorkItem
from silas.sandbox.mounts import Roots, objection


class PlaceAbility:
    """Knows what no work is ever shown, before anybody is asked about the plan.

    Args:
        roots: Where nothing that is shown may come from.
    """

    def __init__(self, roots: Roots) -> None:
        self._read = roots
        self._workspace = roots._replace(homes=(), runtime=(), allowed=())

    def refuse(self, item: WorkItem) -> str:
        """Why work may not see what a plan names; nothing where it may."""
        # no work runs in a folder that is tidied, and which may be, batches say more exactly
        workspace = None if item.cycle == "tidy" else item.workspace
        if workspace is not None and objection(Path(workspace), self._workspace):
            return (
                f"The plan's workspace {workspace} is, holds or lies in what belongs to Silas or "
                "the system; name another directory."
            )
        for path in item.read:
            if objection(Path(path), self._read):
                return (
                    f"The plan cannot read {path}: it is or holds your whole home, secrets, or "
                    "what belongs to Silas or the system; name less, or take it out of `read:`."
                )
        return ""
