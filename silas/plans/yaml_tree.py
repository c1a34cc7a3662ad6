"""Front matter as data whose every part knows its place in the text around it."""

from typing import Any, Final, NamedTuple, cast

from silas.plans.characters import first_hidden, name_of
from silas.plans.envelope import Envelope
from silas.plans.errors import PlanError
from silas.strict_yaml import Loc, Subset, YamlError, read_yaml

MAX_DEPTH: Final = 12
"""The deepest plan of the specification nests five levels."""


class YamlPosition(NamedTuple):
    """Line and column in the original text, both from 1."""

    line: int
    column: int


class FrontMatterTree(NamedTuple):
    """The data, the place of each value, and the place of each key."""

    data: dict[str, Any]
    values: dict[Loc, YamlPosition]
    keys: dict[Loc, YamlPosition]

    def at(self, loc: Loc) -> YamlPosition:
        """The place of a value, or of the nearest part around it that exists."""
        while loc and loc not in self.values:
            loc = loc[:-1]
        return self.values[loc]

    def key(self, loc: Loc) -> YamlPosition:
        """The place of a key; for what has none, of its value."""
        return self.keys.get(loc) or self.at(loc)


def _why_refused(text: str) -> str:
    bad = first_hidden(text, allowed="\n\t")
    if bad < 0:
        return ""
    return f"{name_of(text[bad])} is invisible or a control character; remove its escape"


_SUBSET: Final = Subset(deepest=MAX_DEPTH, refuse=_why_refused)


def read_tree(envelope: Envelope) -> FrontMatterTree:
    """Read front matter.

    Raises:
        PlanError: With the place, for everything that is not in the subset.
    """

    def line(number: int) -> int:
        return envelope.position(number, 0)[0]

    text = "".join(one.text + "\n" for one in envelope.front)  # a block scalar ends in a break
    try:
        found = read_yaml(text, _SUBSET._replace(line=line))
    except YamlError as error:
        place = envelope.position(error.line, error.column)
        raise PlanError(*place, str(error), code="E_PLAN_YAML") from None
    if found is None:
        raise PlanError(
            envelope.opening,
            1,
            "the front matter is empty; a plan needs at least id, type and title",
            code="E_PLAN_FRONT_MATTER",
        )
    values = {loc: YamlPosition(*envelope.position(*mark)) for loc, mark in found.values.items()}
    keys = {loc: YamlPosition(*envelope.position(*mark)) for loc, mark in found.keys.items()}
    if not isinstance(found.data, dict):
        raise PlanError(
            *values[()],
            "the front matter must be a mapping, lines like `title: Fix the build`",
            code="E_PLAN_YAML",
        )
    return FrontMatterTree(cast("dict[str, Any]", found.data), values, keys)
