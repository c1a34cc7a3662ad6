import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import click
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


def test_each_promise_names_code_and_a_test_that_exist() -> None:
    gone = [code for code, _ in ROWS if not (ROOT / code).is_file()]
    named = [test.partition("::")[::2] for _, test in ROWS]
    gone += [f"{file}::{name}" for file, name in named if name not in _functions(file)]
    assert not gone, "\n".join(gone)


@cache
def _functions(file: str) -> frozenset[str]:
    """The functions of a test file; many promises name the same one."""
    if not (ROOT / file).is_file():
        return frozenset()
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
            # a model may have another one in its place, which has the same keys
            known = kind is Gate or kind is model
            if isinstance(kind, type) and issubclass(kind, BaseModel) and not known:
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


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not broken, "\n".join(broken)


LAYOUT = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
ROOMS = re.findall(r"^\| (\d+) \| (`[^|]+`) \| (.+) \|$", LAYOUT, re.MULTILINE)


def _layers() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    return next(one["layers"] for one in contracts if one["type"] == "layers")


def test_the_layout_has_each_room_once_and_on_its_floor() -> None:
    layers = _layers()
    floors = {
        name.strip(): len(layers) - number
        for number, layer in enumerate(layers)
        for name in re.split(r"[:|]", layer)
    }
    told = [
        (name.strip("/").removesuffix(".py"), int(floor))
        for floor, names, _ in ROOMS
        for name in re.findall(r"`([^`]+)`", names)
    ]
    floors.pop("__main__")  # stands in the row of `main/`
    assert sorted(told) == sorted(floors.items())
    assert "\n".join(["```text", *layers, "```"]) in LAYOUT


def test_each_module_that_the_layout_names_exists() -> None:
    of_rooms = [(names.strip("`/"), words) for _, names, words in ROOMS if names.endswith("/`")]
    of_rooms += re.findall(r"^- `silas/(\w+)`: ((?:.|\n  )+)", LAYOUT, re.MULTILINE)
    gone = [
        f"{room}/{name}"
        for room, words in of_rooms
        for name in re.findall(r"`(\w[\w/]*\.py)`", words)
        if not any((ROOT / "silas" / room).rglob(name)) and not (ROOT / name).is_file()
    ]
    placed = re.findall(r"^\| [^|]+ \| ([^|]+) \|$", LAYOUT, re.MULTILINE)
    named = re.findall(r"`((?:silas|tests|plans|config|web)/[\w./]*)`", " ".join(placed))
    assert len(named) >= 60
    shipped = {"silas/web"}  # where the wheel has the page
    gone += [one for one in named if not (ROOT / one).exists() and one not in shipped]
    assert gone == []


def test_each_module_says_in_its_first_line_what_it_is() -> None:
    """What the page of the layout leaves out is told by `head -qn 1 silas/memory/*.py`."""
    modules = [path for path in (ROOT / "silas").rglob("*.py") if path.stat().st_size]
    assert len(modules) >= 300
    silent = [
        str(path.relative_to(ROOT))
        for path in modules
        if not re.match(r'"""\S', path.read_text(encoding="utf-8"))
    ]
    assert silent == []
