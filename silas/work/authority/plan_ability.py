"""Whether a plan could run here though it were approved: the same for cards, entries and looks.

Nothing of an approval is asked here: `silas plan check` says of a file what a run would say.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from silas.gates import GateProvider
from silas.plans import WorkItem
from silas.plans.unsupported import why_unsupported
from silas.skills import Skills
from silas.work.models import MissingSecrets


class Inability(NamedTuple):
    """Why a plan could not run.

    Attributes:
        code: What kind of reason it is.
        words: In one sentence.
    """

    code: str
    words: str


class PlanAbility:
    """Asks whether what a plan needs is there.

    Args:
        skills: What is installed.
        secrets: Why a plan cannot have a secret that it asks for.
        grants: Why what the plan grants cannot be granted here.
        workers: Why the plan's worker cannot work.
        showing: Why what it works on may not be shown to who would work.
        places: Why work may not see a directory or file that it names.
        providers: Whose gates can be evaluated.
    """

    def __init__(
        self,
        skills: Skills,
        secrets: MissingSecrets,
        grants: Callable[[WorkItem], str],
        workers: Callable[[WorkItem], str],
        showing: Callable[[WorkItem], str],
        places: Callable[[WorkItem], str],
        providers: AbstractSet[GateProvider],
    ) -> None:
        self._skills = skills
        self._secrets = secrets
        self._asked = (
            ("E_PLAN_SKILL", self._why_no_skill),
            ("E_PLAN_TOOL", grants),
            ("E_PLAN_WORKER", workers),
            ("E_PLAN_SHOWING", showing),
            ("E_PLAN_PLACE", places),
            ("E_PLAN_SECRET", self._why_no_secret),
        )
        self._providers = providers

    def find(self, item: WorkItem) -> Inability | None:
        """The first reason; None where it could run."""
        if why := why_unsupported(item, self._providers):
            return Inability("E_PLAN_UNSUPPORTED", why)
        for code, ask in self._asked:
            if why := ask(item):
                return Inability(code, why)
        for child in item.children:
            if found := self.find(child):
                words = f"The task {child.id} could not run. {found.words}"
                return found._replace(words=words)
        return None

    def unable(self, item: WorkItem) -> str:
        """The words of the first reason, or nothing."""
        found = self.find(item)
        return "" if found is None else found.words

    def _why_no_skill(self, item: WorkItem) -> str:
        missing = self._skills.missing(item.skills)
        if missing:
            return f"The plan needs skills that are not installed: {', '.join(missing)}."
        return ""

    def _why_no_secret(self, item: WorkItem) -> str:
        withheld = self._secrets(item.credential_refs)
        if withheld:
            return f"The plan asks for a secret that it cannot have: {withheld}."
        return ""
