import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from pydantic import BaseModel

from silas.config import SilasConfig
from silas.gates import Gate
from silas.main import cli

ROOT = Path(__file__).resolve().parent.parent
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("docs/*.md")), ROOT / "README.md"]
ROWS = re.findall(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", SECURITY, re.MULTILINE)


def test_the_promises_are_read() -> None:
    assert len(ROWS) >= 40


@pytest.mark.parametrize(("code", "test"), ROWS, ids=[test.split("::")[1] for _, test in ROWS])
def test_each_promise_names_code_and_a_test_that_exist(code: str, test: str) -> None:
    assert (ROOT / code).is_file()
    file, _, name = test.partition("::")
    assert name in _functions(file)


@cache
def _functions(file: str) -> frozenset[str]:
    """The functions of a test file; many promises name the same one."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def _keys(model: type[BaseModel]) -> Iterator[str]:
    """Every key of the configuration; a gate's own fields are a plan's, too, and told there."""
    for name, field in model.model_fields.items():
        yield field.alias or name
        kinds: list[Any] = [field.annotation, *get_args(field.annotation)]
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not Gate:
                yield from _keys(kind)


def test_every_setting_is_on_the_configuration_page() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    missing = sorted({key for key in _keys(SilasConfig) if f"{key}" not in page})
    assert missing == []


def _commands(group: click.Group, prefix: str) -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}"


def test_every_command_is_on_the_page_of_commands() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    missing = [words for words in _commands(cli, "silas") if f"`{words}" not in page]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=[p.name for p in PAGES])
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [t for t in targets if not (page.parent / t).exists()] == []
