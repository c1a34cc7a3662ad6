import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import click
from pydantic import BaseModel

from scripts.promises import listed
from silas.config import SilasConfig
from silas.gates import Gate
from silas.main import cli

ROOT = Path(__file__).resolve().parent.parent
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
DOCS = sorted(ROOT.glob("docs/*.md"))
PAGES = [*DOCS, *(ROOT / f"{name}.md" for name in ("README", "SECURITY", "CONTRIBUTING"))]
PROMISES = listed()


def test_the_promises_are_read() -> None:
    assert len(PROMISES) >= 634
    for column in ([one.test for one in PROMISES], [one.says for one in PROMISES]):
        assert [one for one, times in Counter(column).items() if times > 1] == []


def test_each_promise_is_a_sentence_and_names_code_and_a_test_that_exist() -> None:
    gone = [one.says for one in PROMISES if not re.fullmatch(r"\S.{18,}\.", one.says)]
    gone += [one.code for one in PROMISES if not (ROOT / one.code).is_file()]
    named = [one.test.partition("::")[::2] for one in PROMISES]
    gone += [f"{file}::{name}" for file, name in named if name not in _functions(file)]
    assert not gone, "\n".join(gone)


def test_the_page_of_promises_sums_up_each_area_and_lists_none() -> None:
    areas = sorted(path.stem for path in (ROOT / "tests" / "promises").glob("*.toml"))
    assert sorted(re.findall(r"`tests/promises/(\w+)\.toml`", SECURITY)) == areas
    assert sorted({one.area for one in PROMISES}) == areas
    rows = re.findall(r"^\| .+ \| `[^`]+` \| `tests/[^`]+` \|$", SECURITY, re.MULTILINE)
    assert rows == [], "a promise is an entry in tests/promises/AREA.toml, not a row here"
    assert len(SECURITY.splitlines()) < 600


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


def test_each_decision_stands_once_and_is_read_in_half_a_minute() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    entries = re.findall(r"^\*\*(D\d+)\. ((?:.+\n)+)", page, re.MULTILINE)
    names = [name for name, _ in entries] + re.findall(r"^\| ([ABC]\d*) \|", page, re.MULTILINE)
    assert len(entries) >= 100
    twice = [name for name, times in Counter(names).items() if times > 1]
    assert twice == [], "where two versions were merged, take main's and add your entries again"
    long = {name: len(words.split()) for name, words in entries if len(words.split()) >= 120}
    assert long == {}, "context, choice and consequence, in under 120 words"
    assert len(page.splitlines()) < 640, "a third of what they were; drop what nobody would undo"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def test_links_into_pages_lead_to_a_heading() -> None:
    broken = [
        f"{page.name}: {target}#{anchor}"
        for page in PAGES
        for target, anchor in re.findall(
            r"\]\(([^)#:\s]*)#([^)]+)\)", page.read_text(encoding="utf-8")
        )
        if anchor not in _anchors(page.parent / target if target else page)
    ]
    assert not broken, "\n".join(broken)


def test_the_index_leads_to_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    led = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert led == {page.name for page in DOCS if page.name != "index.md"}


LAYOUT = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")


def _layers() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    return next(one["layers"] for one in contracts if one["type"] == "layers")


def test_the_layout_has_the_floors_of_the_linter_and_each_room_once() -> None:
    layers = _layers()
    assert "\n".join(["```text", *layers, "```"]) in LAYOUT
    rooms = {name.strip() for layer in layers for name in re.split(r"[:|]", layer)}
    _, _, below = LAYOUT.partition("| room | what it is for |")
    table, _, _ = below.partition("\n\n")
    told = [
        name.strip("/").removesuffix(".py")
        for names in re.findall(r"^\| (`[^|]+`) \|", table, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", names)
    ]
    assert sorted(told) == sorted(rooms - {"__main__"})  # stands in the row of `main/`


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


def test_no_command_that_is_printed_or_documented_imports_from_the_current_directory() -> None:
    texts = [ROOT / "README.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")]
    texts += (ROOT / "silas" / "plans" / "library").glob("*.md")
    found = [
        f"{path.name}: {line.strip()}"
        for path in texts
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bpython3? -m (silas|venv)\b", line)
    ]
    assert found == []
