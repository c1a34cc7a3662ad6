"""The predicate provider at its exact boundaries."""

from pathlib import Path
from typing import Any

import pytest

from silas.gates import Gate, GateResult, GateTrigger, PredicateProvider


async def _check(
    context: dict[str, Any], roots: tuple[Path, ...] = (), /, **fields: Any
) -> GateResult:
    gate = Gate.model_validate({"name": "g", "on": "after_step", **fields})
    return await PredicateProvider(roots).check(gate, context)


_TRADE: dict[str, Any] = {
    "type": "numeric_range",
    "extract": "score",
    "auto_approve": {"min": 0.75, "max": 1.0},
    "require_approval": {"min": 0.5, "max": 0.75},
    "block": {"outside": [0.0, 1.0]},
}


@pytest.mark.proves("S5.5.2-NOT-A-NUMBER", "S5.5.2-RANGES", "S5.5.2-NO-RANGE-BLOCKS")
@pytest.mark.parametrize(
    ("value", "action"),
    [
        (1.0, "continue"),
        (0.75, "continue"),
        (0.7499999, "require_approval"),
        (0.5, "require_approval"),
        (0.4999999, "block"),
        (0.0, "block"),
        (-0.0001, "block"),
        (1.0001, "block"),
        (1, "continue"),
        ("0.8", "continue"),
        (" 0.8\n", "continue"),
        ("0,8", "block"),
        ("high", "block"),
        ("nan", "block"),
        (float("nan"), "block"),
        (float("inf"), "block"),
        (True, "block"),
        (None, "block"),
        ([0.8], "block"),
    ],
)
async def test_a_number_meets_the_ranges_in_order_with_inclusive_bounds(
    value: Any, action: str
) -> None:
    result = await _check({"step_output": {"score": value}}, **_TRADE)
    assert result.action == action


@pytest.mark.proves("S5.5.2-HARD-BLOCK-FIRST", "S5.5.2-NO-RANGE-BLOCKS")
@pytest.mark.parametrize(
    ("fields", "value", "action"),
    [
        ({"block": {"outside": [0, 10]}, "auto_approve": {"max": 100}}, 11, "block"),
        ({"block": {"outside": [0, 10]}, "auto_approve": {"max": 100}}, 10, "continue"),
        ({"block": {"outside": [0, 10]}}, 5, "block"),
        ({"block": {"outside": [0]}, "auto_approve": {"min": 0}}, 5, "block"),
        ({"auto_approve": {"min": 5}}, 5, "continue"),
        ({"auto_approve": {"min": 5}}, 4.99, "block"),
        ({"auto_approve": {}}, 5, "block"),
        ({"auto_approve": {"mni": 5}}, 5, "block"),
        ({"require_approval": {"max": 5}}, 5, "require_approval"),
        ({}, 5, "block"),
    ],
)
async def test_a_range_that_is_missing_or_malformed_never_lets_a_number_through(
    fields: dict[str, Any], value: float, action: str
) -> None:
    result = await _check({"n": value}, type="numeric_range", extract="n", **fields)
    assert result.action == action


@pytest.mark.proves("S5.5.2-STRINGS")
@pytest.mark.parametrize(
    ("value", "action"),
    [("a", "continue"), ("b", "require_approval"), ("both", "continue"), ("c", "block"),
     ("A", "block"), ("a ", "block"), ("", "block"), (None, "block")],
)  # fmt: skip
async def test_a_string_is_allowed_asked_about_or_blocked(value: Any, action: str) -> None:
    sets: dict[str, Any] = {"allowed_values": ["a", "both"], "approval_values": ["b", "both"]}
    result = await _check({"v": value}, type="string_match", extract="v", **sets)
    assert result.action == action


async def test_a_string_gate_without_any_values_blocks() -> None:
    assert (await _check({"v": "x"}, type="string_match", extract="v")).action == "block"


@pytest.mark.proves("S5.5.2-REGEX")
@pytest.mark.parametrize(
    ("fields", "value", "action"),
    [
        ({"check": r"^\d+$"}, "123", "continue"),
        ({"config": {"pattern": r"^\d+$"}}, "123", "continue"),
        ({"config": {"pattern": r"^\d+$"}, "check": ".*"}, "x", "block"),
        ({"check": "b"}, "abc", "continue"),
        ({"check": "(a+)+$"}, "aaa", "block"),
        ({"check": "("}, "(", "block"),
        ({"check": ""}, "x", "block"),
        ({"config": {"pattern": 3}}, "3", "block"),
        ({}, "x", "block"),
    ],
)
async def test_a_pattern_matches_or_blocks(fields: dict[str, Any], value: str, action: str) -> None:
    assert (await _check({"v": value}, type="regex", extract="v", **fields)).action == action


@pytest.mark.proves("S5.5.2-FILE-WITHIN", "S5.5.2-FILE-CHECKS")
@pytest.mark.parametrize(
    ("name", "config", "action", "reason"),
    [
        ("ok.txt", {}, "continue", "exists"),
        ("ok.txt", {"max_size_bytes": 4}, "continue", "4 bytes"),
        ("ok.txt", {"max_size_bytes": 3}, "block", "more than 3"),
        ("ok.txt", {"max_size_bytes": "big"}, "block", "whole number"),
        ("none.txt", {}, "block", "File not found"),
        ("folder", {}, "block", "File not found"),
        ("../ok.txt", {}, "block", "Path outside permitted directories"),
        ("/etc/passwd", {}, "block", "Path outside permitted directories"),
        ("link", {}, "block", "Path outside permitted directories"),
    ],
)
async def test_a_file_is_valid_inside_the_roots_and_within_its_size(
    tmp_path: Path, name: str, config: dict[str, Any], action: str, reason: str
) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "ok.txt").write_text("1234")
    (root / "link").symlink_to("/etc/passwd")
    result = await _check({"f": name}, (root,), type="file_valid", extract="f", config=config)
    assert (result.action, reason in result.reason) == (action, True)


@pytest.mark.proves("S5.5.2-APPROVAL-ALWAYS")
@pytest.mark.parametrize("context", [{}, {"step_output": 1}])
async def test_always_asking_asks_whatever_the_value_is(context: dict[str, Any]) -> None:
    assert (await _check(context, type="approval_always")).action == "require_approval"


async def test_a_custom_check_is_not_for_the_predicate_provider() -> None:
    assert (await _check({"step_output": "x"}, type="custom_check")).action == "block"


@pytest.mark.parametrize(
    ("trigger", "extract", "context", "value"),
    [
        ("every_user_message", None, {"message": "hi", "response": "no"}, "hi"),
        ("every_agent_response", None, {"message": "no", "response": "hi"}, "hi"),
        ("after_step", None, {"step_output": "hi"}, "hi"),
        ("on_tool_call", "cmd", {"tool_args": {"cmd": "ls"}}, "ls"),
        ("on_tool_call", "tool_name", {"tool_name": "sh", "tool_args": {"tool_name": "x"}}, "sh"),
        ("after_step", "n", {"step_output": {"n": 3}}, 3),
        ("after_step", "n", {"step_output": "a\n  n: 0.7 \nb"}, "0.7"),
        ("after_step", "n", {"step_output": "n = 4"}, "4"),
        ("after_step", "n", {"step_output": "n: 1\nn: 2"}, None),
        ("after_step", "n", {"step_output": "n: 1\nn: 1"}, "1"),
        ("after_step", "n", {"step_output": "nn: 1"}, None),
        ("on_tool_call", None, {"tool_args": {"cmd": "ls"}}, None),
        ("every_user_message", "x", {"message": "x: 1"}, None),
    ],
)
async def test_the_value_comes_from_where_the_trigger_and_extract_say(
    trigger: GateTrigger, extract: str | None, context: dict[str, Any], value: Any
) -> None:
    result = await _check(context, on=trigger, extract=extract, type="regex", check=".")
    assert result.value == value
    assert result.action == ("block" if value is None else "continue")


@pytest.mark.proves("S5.5.2-EXPLICIT-REWRITE")
@pytest.mark.parametrize(
    ("fields", "context", "changed"),
    [
        (
            {"on": "every_agent_response", "type": "regex",
             "config": {"normalize": {"pattern": r"\bsk-\w+", "replace": "[KEY]"}}},
            {"response": "my key is sk-123"},
            {"response": "my key is [KEY]"},
        ),
        (
            {"on": "every_user_message", "type": "regex", "check": "^a$",
             "config": {"normalize": [{"pattern": r"\s+", "replace": ""},
                                      {"pattern": "A", "replace": "a"}]}},
            {"message": " A "},
            {"message": "a"},
        ),
        (
            {"on": "on_tool_call", "type": "numeric_range", "extract": "usd",
             "config": {"clamp": {"min": 0, "max": 25}}},
            {"tool_args": {"usd": 90, "x": 1}},
            {"tool_args": {"usd": 25.0}},
        ),
        (
            {"on": "on_tool_call", "type": "numeric_range", "extract": "usd",
             "config": {"clamp": {"max": 25}}, "require_approval": {"min": 20}},
            {"tool_args": {"usd": "90"}},
            {"tool_args": {"usd": "25.0"}},
        ),
        (
            {"on": "on_tool_call", "type": "numeric_range", "extract": "usd",
             "config": {"clamp": {"min": 0, "max": 25}}},
            {"tool_args": {"usd": 25}},
            None,
        ),
        (
            {"on": "every_user_message", "type": "regex", "check": "A", "config": {"strip": True}},
            {"message": " A "},
            None,
        ),
        (
            {"on": "on_tool_call", "type": "numeric_range", "extract": "usd",
             "auto_approve": {"max": 100}},
            {"tool_args": {"usd": " 90.0 "}},
            None,
        ),
    ],
)  # fmt: skip
async def test_only_a_configured_rule_changes_a_value(
    fields: dict[str, Any], context: dict[str, Any], changed: dict[str, Any] | None
) -> None:
    result = await _check(context, **fields)
    assert result.action != "block"
    assert result.modified_context == changed


@pytest.mark.parametrize(
    "fields",
    [
        {
            "type": "regex",
            "check": "^b$",
            "config": {"normalize": {"pattern": "x", "replace": "a"}},
        },
        {"type": "regex", "config": {"normalize": "x"}},
        {"type": "regex", "config": {"normalize": {"pattern": "(a+)+", "replace": ""}}},
        {"type": "numeric_range", "config": {"clamp": 3}},
        {"type": "numeric_range", "config": {"clamp": {"max": 3}}},
    ],
)
async def test_a_value_that_stays_wrong_or_a_rule_that_is_malformed_blocks(
    fields: dict[str, Any],
) -> None:
    result = await _check({"message": "x"}, on="every_user_message", **fields)
    assert (result.action, result.modified_context) == ("block", None)


async def test_what_may_not_be_rewritten_blocks_rather_than_pass_unchanged() -> None:
    result = await _check(
        {"step_output": {"n": 9}}, type="numeric_range", extract="n", config={"clamp": {"max": 3}}
    )
    assert result.action == "block"
