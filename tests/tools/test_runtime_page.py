"""`docs/tool-runtime.md` names what is there, and every built-in tool."""

import re
from pathlib import Path

import pytest

from silas.testing import FakeSandbox, Harness
from silas.testing.tools import exit_result

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "tool-runtime.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(silas/[a-z_/]+\.py)` \(`(\w+)`\)", PAGE)
ROW = re.compile(r"^\| `(\w+)` \| ([a-z, ]+) \| (low|medium|high|critical) \|", re.MULTILINE)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_each_step_of_the_page_names_a_function_that_is_there(file: str, name: str) -> None:
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"^ *(?:async )?(?:def|class) {name}\b", source, re.MULTILINE)


def test_the_page_follows_all_ten_steps() -> None:
    assert len(NAMED) > 20
    assert re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE) == [str(n) for n in range(1, 11)]


async def test_the_page_names_every_built_in_tool_with_its_roles_and_risk() -> None:
    settings = {"search": {"provider": "tavily", "api_key": "k" * 20}}
    async with Harness(settings=settings, sandbox=FakeSandbox(lambda run: exit_result())) as h:
        there = {
            tool.tool_name: (", ".join(tool.capabilities), tool.risk_default.value)
            for tool in h.silas.registry.all()
        }
    assert {name: (roles, risk) for name, roles, risk in ROW.findall(PAGE)} == there
