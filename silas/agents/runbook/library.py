"""What the built-in model needs of the plan library, and of the machine."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol, TypeVar


class Blank(Protocol):
    """A blank of a plan."""

    @property
    def description(self) -> str:
        """What to put there."""
        ...

    @property
    def unquoted(self) -> str:
        """What a request looks like that says it without quotes; empty for any."""
        ...


class RunbookTemplate(Protocol):
    """A plan of the library, as far as this model needs to know it."""

    @property
    def name(self) -> str:
        """Its name, which is its file's."""
        ...

    @property
    def title(self) -> str:
        """What it does, in a few words."""
        ...

    @property
    def shown_title(self) -> str:
        """The same in the owner's language."""
        ...

    @property
    def example(self) -> str:
        """A request that it is for, in the owner's language where one is understood."""
        ...

    @property
    def sentences(self) -> Sequence[str]:
        """Whole requests that it is for; none where single words find it."""
        ...

    @property
    def phrases(self) -> Sequence[str]:
        """Requests it is for."""
        ...

    @property
    def parameters(self) -> Mapping[str, Blank]:
        """Its blanks by name."""
        ...


P = TypeVar("P", bound=RunbookTemplate)


class Library(Protocol[P]):
    """The plan library: finds a plan for a message and fills it in."""

    faults: Mapping[str, str]
    """Of each file that is left out why, by the file's name."""

    def plans(self) -> Sequence[P]:
        """All of them."""
        ...

    def find(self, text: str) -> P | None:
        """The best plan for what was asked, if any fits."""
        ...

    def parameters_from(self, plan: P, text: str) -> Mapping[str, str]:
        """The parameters that the message names."""
        ...

    def missing(self, plan: P, values: dict[str, str]) -> Sequence[str]:
        """Names of required parameters without a value."""
        ...

    def plan_named(self, name: str) -> P | None:
        """The plan of this name."""
        ...

    def fill(self, plan: P, values: dict[str, str], item_id: str) -> str:
        """The plan as Markdown; a `SilasError` if a value does not fit."""
        ...


class RequirementFinder(Protocol):
    """Looks for what a plan needs of the machine."""

    def __call__(
        self, plan: Any, values: dict[str, str], /, *, once: bool
    ) -> Awaitable[dict[str, str]]:
        """The values with it; a `PlanFamilyError` where it is missing, or, where it is done `once`
        and not by the clock, where there is nothing to do.
        """
        ...
