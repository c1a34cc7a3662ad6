"""What a stranger says its tools are, and the arguments for them: whatever it is, no surprise."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.canonical import canonical_json
from silas.context import scrub
from silas.tools.mcp.arguments import check_arguments
from silas.tools.mcp.definitions import MOST_TOOLS, ListedTool, drift, listing, shown_schema

_KEYS = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "additionalProperties", "description", "a"]
) | st.text(max_size=5)
_LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
)
_KINDS = st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"])
_JSON: st.SearchStrategy[Any] = st.recursive(
    _LEAVES | _KINDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)
_SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(_KEYS, _JSON, max_size=5)
_TOOLS = st.lists(
    st.builds(
        ListedTool,
        st.sampled_from(["a", "b", "a.b", "a/b", "a_b"]) | st.text(max_size=6),
        st.text(max_size=30),
        _SCHEMAS.map(lambda schema: {**schema, "type": "object"}) | _SCHEMAS,
    ),
    max_size=6,
)


@given(_TOOLS)
def test_whatever_a_server_lists_is_used_or_refused_with_a_reason(tools: list[ListedTool]) -> None:
    found = listing("fake", tools)
    names = [each.tool_name for each in found.definitions.values()]
    assert len(set(names)) == len(names)
    assert all(found.refused.values())
    for each in found.definitions.values():
        shown = canonical_json(shown_schema(each))
        assert scrub(each.tool_name) == each.tool_name
        assert "\\u200b" not in shown
    assert not drift(found.definitions, found.definitions)


@given(_SCHEMAS, st.dictionaries(st.text(max_size=5), _JSON, max_size=4))
def test_whatever_a_schema_says_arguments_fit_or_are_refused_in_a_sentence(
    schema: dict[str, Any], args: dict[str, Any]
) -> None:
    with contextlib.suppress(ValueError):
        check_arguments(schema, args)


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "pattern": "(a+)+$"},
        "depth": {"type": ["integer", "null"]},
        "kind": {"enum": ["file", "folder"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "at": {"type": "object", "required": ["x"], "properties": {"x": {"type": "number"}}},
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"path": "a" * 50_000 + "!"}, ""),
        ({"path": "a", "depth": None, "kind": "file", "tags": ["b"], "at": {"x": 1.5, "y": 1}}, ""),
        ({}, "arguments lacks 'path'"),
        ({"path": 5}, "arguments.path must be string"),
        ({"path": "a", "depth": True}, "arguments.depth must be integer or null"),
        ({"path": "a", "kind": "socket"}, "arguments.kind must be one of the values"),
        ({"path": "a", "tags": ["b", 5]}, "arguments.tags[1] must be string"),
        ({"path": "a", "at": {}}, "arguments.at lacks 'x'"),
        ({"path": "a", "more": 1}, "'more' is not an argument of this tool"),
    ],
    ids=["pattern", "all", "absent", "type", "truth", "choice", "item", "nested", "unknown"],
)
def test_arguments_have_the_shape_that_the_schema_asks_for(
    args: dict[str, Any], words: str
) -> None:
    if not words:
        check_arguments(SCHEMA, args)
        return
    with pytest.raises(ValueError) as refused:
        check_arguments(SCHEMA, args)
    assert words in str(refused.value)


def test_a_server_with_too_many_tools_is_cut() -> None:
    many = [ListedTool(f"t{n}", "", {"type": "object"}) for n in range(MOST_TOOLS + 5)]
    found = listing("fake", many)
    assert len(found.definitions) == MOST_TOOLS
    assert "133 tools, more than 128" in found.refused["..."]


def test_a_schema_that_is_too_deep_or_too_long_is_refused() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(30):
        deep = {"type": "object", "properties": {"a": deep}}
    long = {"type": "object", "description": "x" * 70_000}
    found = listing("fake", [ListedTool("deep", "", deep), ListedTool("long", "", long)])
    assert set(found.refused) == {"deep", "long"}
