"""What a tool makes of a call's arguments leaves it inside the grant that names just those."""

from typing import Any

import pytest

from silas.approval.grants import find_grant, grants_of
from silas.tools.builtin.arguments import ToolArguments, validated_arguments
from silas.tools.web.fetch import FetchArguments
from silas.tools.web.search import WebSearchArguments


@pytest.mark.parametrize(
    ("tool", "model", "args"),
    [
        ("web_fetch", FetchArguments, {"url": "https://example.com/a"}),
        ("web_fetch", FetchArguments, {"url": "https://example.com/a", "start": 5}),
        ("web_search", WebSearchArguments, {"query": "weather in Berlin"}),
    ],
)
def test_a_tool_adds_no_argument_that_the_plan_did_not_name(
    tool: str, model: type[ToolArguments], args: dict[str, Any]
) -> None:
    grants = grants_of([{"tool": tool, "args": args}])
    validated = validated_arguments(model, args)
    assert find_grant(grants, tool, validated, lambda path, value, source: False)
