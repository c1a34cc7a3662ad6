"""What a plan's grants allow in a run, and how often each has been used (decision B1)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from silas.approval.arguments import GrantRefused
from silas.approval.grants import Grant, find_grant, grants_of, literals_of
from silas.language import tr
from silas.plans import WorkItem
from silas.sandbox.network.names import EgressRefused, endpoints
from silas.tools import AutonomyLevel, CallFacts, Decision, ToolRegistry, ValidatedCall
from silas.tools.outcomes import OutcomeRecord, OutcomeStatus, OutcomeStore
from silas.tools.policy import STRICTNESS, assess_risk, decide
from silas.tools.port import RegisteredTool
from silas.tools.provenance import Provenance
from silas.tools.web.client import address
from silas.types import Origin, OriginKind, TaintLevel

_FETCH = "web_fetch"

_PLAN = Origin(kind=OriginKind.plan, taint=TaintLevel.owner)


class GrantCoverage(NamedTuple):
    """Whether a grant covers a call; `use` is the step it is journalled under."""

    use: str
    reason: str = ""


class GrantAbility:
    """Says which grants could be honoured.

    Args:
        registry: Every tool that there is.
        autonomy: How far the work goes without asking.
    """

    def __init__(self, registry: ToolRegistry, autonomy: AutonomyLevel) -> None:
        self._registry = registry
        self._autonomy = autonomy

    def refuse(self, item: WorkItem) -> str:
        """Why the grants of an item cannot be honoured; empty where they can."""
        try:
            grants = grants_of(item.tools)
        except GrantRefused as error:
            return f"The plan's `tools` cannot be understood: {error.reason}"
        for grant in grants:
            tool = self._registry.get(grant.tool)
            if tool is None:
                return (
                    f"The plan asks for the tool {grant.tool!r}, which is not here; `silas tools "
                    "list`."
                )
            if tool.blocked:
                return tr(
                    "The plan grants the tool {tool}, which your configuration blocks; take it out "
                    "of `tools` and do that step yourself, or unblock it in the "
                    "`_approval_config` of its toolset.",
                    tool=repr(tool.tool_name),
                )
            if never_runs(tool, self._autonomy):
                return tr(
                    "The plan grants the tool {tool}, which is rated {risk} and so never runs "
                    "here, approved or not; take it out of `tools` and do that step yourself, or "
                    "rate it lower in your configuration (`_risk` of its toolset, `rate` of its "
                    "MCP server).",
                    tool=repr(tool.tool_name),
                    risk=tool.risk_default.value,
                )
        return ""


class PlanGrants:
    """Reads grants and counts their uses; the journal is the only count there is.

    Args:
        outcomes: The journal.
    """

    def __init__(self, outcomes: OutcomeStore) -> None:
        self._outcomes = outcomes

    def of(self, item: WorkItem) -> "RunGrants":
        """The grants of one run, with the labels that they begin with."""
        return RunGrants(item, grants_of(item.tools), self._outcomes)


def never_runs(tool: RegisteredTool, autonomy: AutonomyLevel) -> bool:
    """Whether no approval lets any action of a tool run, as the owner rated them (table C)."""
    rated = (assess_risk(tool, action, CallFacts()) for action in tool.tool.actions)
    return all(STRICTNESS[decide(autonomy, risk)] > STRICTNESS[Decision.CONFIRM] for risk in rated)


class RunGrants:
    """The grants of one run of one item."""

    def __init__(self, item: WorkItem, grants: Sequence[Grant], outcomes: OutcomeStore) -> None:
        self._item = item
        self._grants = grants
        self._outcomes = outcomes
        literals = literals_of(grants)
        self.provenance = Provenance(literals)
        # The approved words themselves; what they say of tools is fixed by the grants alone.
        self.provenance.add_text(f"{item.title}\n{item.body}", _PLAN)

    def __bool__(self) -> bool:
        return bool(self._grants)

    def covering(self, call: ValidatedCall) -> GrantCoverage:
        """Whether a grant with a use left covers the call; a repeat of a call uses none."""
        found = find_grant(
            self._grants,
            call.tool_name,
            call.args,
            lambda path, value, source: self.provenance.comes_from(
                call.tool_name, path, value, source
            ),
            self._count_uses(call),
        )
        if not found and self._names(call):
            return GrantCoverage(_step(self._item, "address"))
        return GrantCoverage(grant_step(self._item, found.index) if found else "", found.reason)

    def _names(self, call: ValidatedCall) -> bool:
        """Whether this gets the exact address that the plan's words name, on a host that its
        `network` grants (D286). Grants for the tool itself leave nothing to these words.
        """
        if call.tool_name != _FETCH or any(one.tool == _FETCH for one in self._grants):
            return False
        given = {name: value for name, value in call.args.items() if value is not None}
        if given.keys() != {"url"} or not _network_grants(given["url"], self._item.network):
            return False
        return self.provenance.comes_from(_FETCH, "url", given["url"], OriginKind.plan.value)

    def _count_uses(self, call: ValidatedCall) -> Mapping[int, int]:
        made = [one for one in self._outcomes.calls_of(self._item.id) if one.digest != call.digest]
        steps = [grant_step(self._item, index) for index in range(len(self._grants))]
        return {
            index: sum(_counts_as_use(one, step) for one in made)
            for index, step in enumerate(steps)
        }


def grant_step(item: WorkItem, index: int) -> str:
    """The step that calls under a grant are journalled by: the same after a restart, and another
    under another approval, which approves its effects anew.
    """
    return _step(item, str(index))


def _step(item: WorkItem, what: str) -> str:
    token = item.approval_token
    return f"grant.{'' if token is None else token.token_id}.{what}"


def _network_grants(url: str, network: Sequence[str]) -> bool:
    """Whether a plan's `network` has the host and port of an address; what is unclear has not."""
    try:
        there = address(url).there
        return any(there in endpoints(entry) for entry in network)
    except (ValueError, EgressRefused):
        return False


def under_grant(item: WorkItem, call: OutcomeRecord) -> bool:
    """Whether a call was made under a grant of the item's present approval; it is never repeated,
    because the same call has the same key.
    """
    return call.step_id.startswith(_step(item, ""))


def _counts_as_use(call: OutcomeRecord, step: str) -> bool:
    """A call that a tool reported as failed used nothing; one that nobody knows of did."""
    return call.step_id == step and call.status is not OutcomeStatus.failed
