"""How something ended or was answered, in words: a record keeps a code for programs."""

from collections.abc import Mapping
from typing import Any, Final, cast

from silas.language import tr

_FIELDS: Final = ("status", "outcome", "verdict")

OUTCOMES: Final[Mapping[str, str]] = {
    "accepted": "accepted",
    "approve": "approved",
    "approved": "approved",
    "asked": "it waits for an answer",
    "begun": "under way",
    "blocked": "it cannot go on",
    "broken_off": "broken off",
    "busy": "too much was under way",
    "cannot_start": "cannot start",
    "conditional": "approved with conditions, which no plan can be",
    "decline": "declined",
    "declined": "declined",
    "deferred": "put off",
    "direct": "answered",
    "dispatched": "approved, and begun",
    "done": "done",
    "edit_requested": "changes are wanted",
    "edit_selection": "only some of them are chosen",
    "expired": "nobody answered in time",
    "failed": "failed",
    "fails": "not passed",
    "fixed": "fixed",
    "healthy": "all is well",
    "not_done": "not done",
    "not_fixed": "not fixed",
    "over_budget": "over today's budget",
    "passes": "passed",
    "paused": "paused",
    "refused": "refused",
    "stuck": "stuck",
    "unjudged": "cannot be judged",
    "untried": "was not tried",
    "waiting": "it waits for an answer",
}
"""The codes of `status`, `outcome`, `verdict` and of tried checks, as a sentence says them."""


def outcome_word(code: str) -> str:
    """One such code in the owner's language; another as it is."""
    return str(_words(code))


def outcome_words(data: Mapping[str, Any]) -> dict[str, Any]:
    """Those facts of an entry that are such codes, in the owner's language.

    Args:
        data: The facts; of `checks`, the outcome of each by its name.
    """
    told = {name: _words(data[name]) for name in _FIELDS if name in data}
    checks = data.get("checks")
    if isinstance(checks, Mapping):
        each = cast(Mapping[str, Any], checks).items()
        told["checks"] = {name: _words(outcome) for name, outcome in each}
    return told


def _words(code: Any) -> Any:
    """A code in words; anything else as it is."""
    return tr(OUTCOMES[code]) if isinstance(code, str) and code in OUTCOMES else code
