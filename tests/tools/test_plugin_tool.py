"""A tool of somebody else's behind the tool door: arguments, questions, results, failures."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic_ai import RunContext
from pydantic_ai.messages import BinaryContent, ToolReturn

from silas.sandbox import SandboxLimits
from silas.testing.tools import a_context, unsafe_approve_all
from silas.tools import (
    ApprovalRequired,
    HardBlocked,
    InvalidArguments,
    OutcomeUnknown,
    RiskLevel,
    Stance,
    ToolResult,
)
from silas.tools.plugins.result import MAX_TEXT, result_of
from silas.tools.plugins.tool import PluginTool
from silas.tools.provenance import Provenance
from silas.types import TaintLevel
from tests.support.thirdparty import acme, of_acme
from tests.support.toolsets import loaded, tools_of
from tests.support.waits import SECONDS
from tests.tools.door import Door

__all__ = ["acme"]
pytestmark = pytest.mark.usefixtures("acme")

BANK = "acme_toolsets.bank.Bank"
NOTES = "acme_toolsets.notes.Notes"
CRANE = "acme_toolsets.careful.careful"
PAY: dict[str, Any] = {"to": "landlord", "amount": 9}


@asynccontextmanager
async def mounted(door: Door, name: str, **said: Any) -> AsyncGenerator[dict[str, PluginTool]]:
    """A toolset whose tools are in the registry of a door."""
    async with loaded({name: said}) as found:
        for one in found.tools:
            pre_approved = one.stance is Stance.pre_approved
            config = one.config.model_copy(update={"pre_approved": pre_approved})
            door.registry.register(one.tool, config)
        yield tools_of(found)


async def call(
    door: Door,
    tool: str,
    approved: bool = True,
    provenance: Provenance | None = None,
    **args: Any,
) -> ToolResult:
    registered = door.registry.get(tool)
    assert registered is not None
    changes: dict[str, Any] = {"authorise": unsafe_approve_all} if approved else {}
    if provenance is not None:
        changes["provenance"] = provenance
    context = a_context(granted_scopes=frozenset(registered.scopes), **changes)
    return await door.executor.call(tool, "call", args, context)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"to": "x"}, "needs amount"),
        ({"to": "x", "amount": "9"}, r"amount does not fit \(type"),
        ({"to": "x", "amount": 9.5}, r"amount does not fit \(type"),
        ({"to": "x", "amount": 9, "note": "hidden"}, "takes amount, to and no more"),
        ({"to": ["x"], "amount": 9}, r"to does not fit \(type"),
        ({}, "needs to, amount"),
    ],
)
async def test_what_does_not_fit_the_definition_is_refused_before_anything_asks(
    door: Door, args: dict[str, Any], words: str
) -> None:
    async with mounted(door, BANK):
        with pytest.raises(InvalidArguments, match=words):
            await call(door, "pay", **args)
        assert of_acme("bank").Bank.made[-1].paid == []


async def test_the_toolsets_own_validator_has_its_say(door: Door) -> None:
    async with mounted(door, "acme_toolsets.odd.Odd"):
        with pytest.raises(InvalidArguments, match=r"even: does not have the required form"):
            await call(door, "only_even", even=3)
        assert (await call(door, "only_even", even=4)).return_value == "4"


async def test_what_a_toolset_does_to_what_it_is_shown_changes_nothing(door: Door) -> None:
    async with mounted(door, BANK):
        result = await call(door, "pay", **PAY)
        assert of_acme("bank").Bank.made[-1].paid == [("landlord", 9)]
    assert result.ran is not None
    assert result.ran.args == PAY


async def test_the_definition_a_model_sees_is_the_one_that_is_checked(door: Door) -> None:
    async with mounted(door, BANK) as tools:
        schema = tools["pay"].schema
        schema["properties"].clear()
        assert set(tools["pay"].schema["properties"]) == {"to", "amount"}
        assert tools["pay"].schema["additionalProperties"] is False


@pytest.mark.proves("TP-ARBITRARY-WRAPPED")
async def test_without_an_approval_of_these_very_arguments_nothing_is_called(door: Door) -> None:
    async with mounted(door, NOTES):
        with pytest.raises(ApprovalRequired):
            await call(door, "write", approved=False, text="x")
        assert of_acme("notes").Notes.made[-1].notes == []


async def test_no_rating_of_the_owner_makes_a_change_pass_without_an_approval(door: Door) -> None:
    said = {
        "_risk": {"write": "low"},
        "_approval_config": {"write": {"pre_approved": True}},
        "_results": {"write": "owner"},
        "_idempotent": ["write"],
    }
    fixed = Provenance({("write", "text"): frozenset({'"x"'})})  # the owner's, word for word
    async with mounted(door, NOTES, **said):
        with pytest.raises(ApprovalRequired):
            await call(door, "write", approved=False, provenance=fixed, text="x")


async def test_a_declared_read_of_low_risk_passes_unasked(door: Door) -> None:
    async with mounted(door, NOTES, _reads=["read"], _risk={"read": "low"}):
        assert (await call(door, "read", approved=False)).return_value == "[]"


@pytest.mark.parametrize(
    "said",
    [
        {"_reads": ["read"]},  # high risk
        {"_reads": ["read"], "_risk": {"read": "medium"}},
        {
            "_reads": ["read"],
            "_risk": {"read": "low"},
            "_approval_config": {"read": {"pre_approved": False}},
        },
        {"_risk": {"read": "low"}, "_approval_config": {"read": {"pre_approved": True}}},
    ],
)
async def test_a_read_asks_where_its_risk_or_the_owner_says_so_or_nobody_declared_it(
    door: Door, said: dict[str, Any]
) -> None:
    async with mounted(door, NOTES, **said):
        with pytest.raises(ApprovalRequired):
            await call(door, "read", approved=False)


async def test_what_a_toolset_blocks_no_approval_and_no_setting_lifts(door: Door) -> None:
    said = {
        "_reads": ["close"],
        "_risk": {"close": "low"},
        "_approval_config": {"close": {"pre_approved": True}},
    }
    async with mounted(door, BANK, **said):
        with pytest.raises(HardBlocked, match="toolset"):
            await call(door, "close")


async def test_what_the_owner_blocks_is_blocked_whatever_its_toolset_says(door: Door) -> None:
    async with mounted(door, BANK, _approval_config={"balance": {"blocked": True}}):
        with pytest.raises(HardBlocked):
            await call(door, "balance")


@pytest.mark.proves("TP-ALREADY-WRAPPED")
@pytest.mark.parametrize(("kilos", "asks"), [(5, False), (11, True)])
@pytest.mark.parametrize("read", [False, True])
async def test_the_question_of_a_wrapper_is_asked_and_never_skipped(
    door: Door, kilos: int, asks: bool, read: bool
) -> None:
    said: dict[str, Any] = {"_risk": {"crane_lift": "low"}}
    if read:
        said["_reads"] = ["crane_lift"]
    async with mounted(door, CRANE, **said) as tools:
        stance = tools["crane_lift"].needs_approval("call", {"kilos": kilos})
        assert stance is (Stance.ask if asks else Stance.pre_approved)
        if asks or not read:
            with pytest.raises(ApprovalRequired):
                await call(door, "crane_lift", approved=False, kilos=kilos)
        result = await call(door, "crane_lift", kilos=kilos)
    assert result.return_value == f"lifted {kilos}"


async def test_a_wrapper_that_asks_only_when_called_does_nothing(door: Door) -> None:
    async with mounted(door, "acme_toolsets.odd.late", _reads=["peek"], _risk={"peek": "low"}):
        result = await call(door, "peek", approved=False)
    assert not result.ok
    assert "did not ask for before" in (result.error or "")


@pytest.mark.proves("TP-NEEDS-APPROVAL-USED")
@pytest.mark.parametrize(
    ("tool", "stance"),
    [
        ("raises", Stance.blocked),
        ("exits", Stance.blocked),
        ("waits", Stance.blocked),
        ("shrugs", Stance.blocked),
        ("asks", Stance.ask),
        ("passes", Stance.pre_approved),
        ("marked", Stance.ask),  # made to require approval, whatever the toolset says
    ],
)
async def test_an_opinion_that_fails_or_is_no_opinion_blocks(
    door: Door, tool: str, stance: Stance
) -> None:
    async with mounted(door, "acme_toolsets.odd.Moody") as tools:
        assert tools[tool].needs_approval("call", {}) is stance


async def test_its_words_for_a_call_are_told_as_its_own(door: Door) -> None:
    async with mounted(door, BANK) as tools:
        shown = await tools["pay"].preview("call", PAY, a_context())
        none = await tools["balance"].preview("call", {}, a_context())
    assert shown is not None
    assert shown.summary == "Its toolset says: Pay 9 to landlord"
    assert none is None


async def test_a_tool_is_given_a_run_context_without_anything_of_silas(door: Door) -> None:
    async with mounted(door, NOTES):
        await call(door, "write", text="x")
        contexts: list[Any] = of_acme("notes").Notes.made[-1].contexts
    [context] = contexts
    assert type(context) is RunContext
    assert (context.tool_name, context.messages, context.agent) == ("write", [], None)
    assert context.tool_call_approved
    given: Any = (context.deps, context.model)
    assert given[0].name == NOTES
    assert not hasattr(given[0], "ask")
    with pytest.raises(Exception, match="no model"):
        await given[1].request([], None, None)


@pytest.mark.parametrize("error", ["retry", "failed"])
async def test_a_tool_that_says_that_it_failed_has_failed_and_stays_healthy(
    door: Door, error: str
) -> None:
    async with mounted(door, "acme_toolsets.odd.Failing"):
        result = await call(door, "fail", how=error)
        assert (result.ok, result.error) == (False, f"it {error}")
        assert result.taint is TaintLevel.external
        assert door.registry.list_healthy()[0].health.consecutive_errors == 0


@pytest.mark.parametrize("error", ["break", "exit", "defer"])
async def test_a_tool_that_breaks_off_leaves_an_unknown_outcome(door: Door, error: str) -> None:
    async with mounted(door, "acme_toolsets.odd.Failing"):
        with pytest.raises(OutcomeUnknown, match="unknown"):
            await call(door, "fail", how=error)
        assert [status.value for status in door.outcomes.statuses()] == ["unknown"]
        [tool] = door.registry.all()
        assert tool.health.consecutive_errors == 1
        assert "not to be told" not in (tool.health.last_error or "")


async def test_a_tool_that_hangs_is_given_up_at_the_time_limit(door: Door) -> None:
    async with mounted(door, "acme_toolsets.odd.Failing") as tools:
        registered = door.registry.get("fail")
        assert registered is not None
        context = a_context(
            granted_scopes=frozenset(registered.scopes),
            authorise=unsafe_approve_all,
            limits=SandboxLimits(wall_seconds=0.05),
        )
        async with asyncio.timeout(SECONDS):
            with pytest.raises(OutcomeUnknown):
                await door.executor.call("fail", "call", {"how": "hang"}, context)
        assert not tools["fail"].idempotent


async def test_results_are_external_unless_the_owner_says_otherwise(door: Door) -> None:
    async with mounted(door, BANK, _results={"balance": "auth"}):
        balance, paid = await call(door, "balance"), await call(door, "pay", **PAY)
    assert (balance.taint, paid.taint) == (TaintLevel.auth, TaintLevel.external)


async def test_a_call_without_the_scope_of_its_toolset_goes_nowhere(door: Door) -> None:
    async with mounted(door, NOTES):
        context = a_context(authorise=unsafe_approve_all)
        with pytest.raises(Exception, match=rf"needs the scope 'toolset\.{NOTES}'"):
            await door.executor.call("write", "call", {"text": "x"}, context)


async def test_the_same_target_again_at_once_is_blocked(door: Door) -> None:
    async with mounted(door, BANK, _targets={"pay": "to"}):
        await call(door, "pay", **PAY)
        with pytest.raises(HardBlocked, match="a moment ago"):
            await call(door, "pay", to="landlord", amount=10)
        assert of_acme("bank").Bank.made[-1].paid == [("landlord", 9)]


async def test_risk_is_high_and_at_no_level_does_it_pass_unasked(door: Door) -> None:
    async with mounted(door, BANK):
        risk = door.executor.foresee("pay", "call", PAY, a_context()).risk
    assert risk is RiskLevel.high


class Point:
    def __init__(self) -> None:
        self.x = 1


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        (7, "7"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (ToolReturn("value", content="more", metadata={"hidden": 1}), "value\nmore"),
        (ToolReturn({"a": 1}, content=["x", BinaryContent(b"\0", media_type="image/png")]),
         '{"a":1}\nx\n[binary content, image/png]'),
        (BinaryContent(b"\0", media_type="image/png"), "[binary content, image/png]"),
        (b"\0\1", "[binary content, of unknown type]"),
        (float("nan"), '"NaN"'),
    ],
)  # fmt: skip
def test_whatever_is_returned_becomes_text(returned: Any, text: str) -> None:
    result = result_of(returned, TaintLevel.external)
    assert (result.ok, result.return_value, result.content) == (True, text, ())


def test_what_cannot_be_written_is_named_and_what_is_long_is_cut() -> None:
    assert "Point" in result_of(Point(), TaintLevel.external).return_value
    cut = result_of("x" * (MAX_TEXT + 1), TaintLevel.external).return_value
    assert cut.endswith(f"[cut after {MAX_TEXT} characters of {MAX_TEXT + 1}]")
