"""What does not fit is told in Silas's own words, at every door where somebody writes data."""

import importlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

import silas
from silas.agents.worker_file import read_worker
from silas.config import load_config
from silas.errors import SilasError, misfits
from silas.plans import PlanLibrary, PlanParser
from silas.skills.front import front_of
from silas.tools.assessed_call import fitting_arguments
from silas.tools.builtin.arguments import ToolArguments, validated_arguments
from silas.tools.offers import built_in_offer
from silas.tools.plugins.config import expand, fit_config
from silas.tools.plugins.spec import read_spec

SOURCE = Path(silas.__file__).parent
FOREIGN = re.compile(
    r"Input should|Field required|Extra inputs|validation error|Value error|Assertion failed"
    r"|should (have|be|match|not)|Unable to|pydantic|type=|\[type",
    re.IGNORECASE,
)
ITS_PLACE = "errors.py"

_JUNK: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([None, True, -1, 0, 10**30, 1.5, "", "x", "none", [], [1], {}, {"a": 1}, [[]]]),
    st.text(max_size=8),
    st.integers(),
    st.lists(st.integers(), max_size=3),
)


def _places(tree: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs: Iterable[Any] = ()
    if isinstance(tree, list):
        pairs = enumerate(cast(list[Any], tree))
    elif isinstance(tree, dict):
        pairs = cast(dict[str, Any], tree).items()
    for key, value in pairs:
        yield (*before, key)
        yield from _places(value, (*before, key))


def _with(tree: Any, way: tuple[Any, ...], junk: Any) -> Any:
    if not way:
        return junk
    copied = copy(tree)
    copied[way[0]] = _with(copied[way[0]], way[1:], junk)
    return copied


@st.composite
def spoiled(draw: st.DrawFn, whole: dict[str, Any]) -> dict[str, Any]:
    """A valid tree with one to three values replaced, left out or added."""
    tree: Any = whole
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from(sorted(_places(tree), key=str) or [()]))
        match draw(st.sampled_from(["replace", "leave out", "add"])):
            case "add":
                tree = {**tree, draw(st.text(min_size=1, max_size=8)): draw(_JUNK)}
            case "leave out" if len(way) == 1:
                tree = {key: value for key, value in tree.items() if key != way[0]}
            case _:
                tree = _with(tree, way, draw(_JUNK)) if way else tree
    return tree


def _told(look: Callable[[], object]) -> str:
    """What a user is told; empty where it was taken."""
    try:
        look()
    except (SilasError, ValueError) as error:
        if isinstance(error, ValidationError):
            raise AssertionError("the library's own error went through") from error
        return str(error)
    return ""


def _own(words: str, whole: Any) -> None:
    """None of the library's phrases, unless the data itself holds it."""
    found = FOREIGN.search(words)
    assert found is None or found.group() in json.dumps(whole), words
    assert "\n" not in words


PLAN: dict[str, Any] = {
    "id": "task-a",
    "type": "task",
    "title": "A",
    "budget": {"max_tokens": 100, "max_cost_usd": 1.0},
    "verify": [{"name": "n", "run": "true", "expect": {"exit_code": 0}}],
    "gates": [{"name": "g", "on": "every_user_message", "provider": "predicate", "config": {}}],
    "skills": ["coding"],
    "workspace": "/srv/work",
    "writes": ["a.txt"],
    "tools": [{"tool": "web_fetch", "args": {"url": "https://example.org"}}],
    "on_stuck": "report",
}
WORKER: dict[str, Any] = {
    "name": "w",
    "description": "d",
    "model": {"name": "openai:gpt-5", "temperature": 0},
    "toolsets": {
        "_defaults": ["python"],
        "shell": {
            "rules": [{"pattern": "git *", "approval_required": False}],
            "default": {"approval_required": True},
            "_approval_config": {"shell_exec": {"pre_approved": True}},
        },
    },
    "delegates": ["reviewer"],
    "approval": {"python_exec": {"blocked": True}},
}
RUNBOOK: dict[str, Any] = {
    "id": "greet",
    "type": "task",
    "title": "A",
    "runbook": {
        "phrases": ["do it"],
        "parameters": {"p": {"description": "d", "pattern": "[a-z]+", "example": "a"}},
    },
    "verify": [{"name": "n", "run": "test -e $p", "expect": {"exit_code": 0}}],
}
CONFIG: dict[str, Any] = {
    "mcpServers": {
        "files": {"command": "server", "args": ["--x"], "env": {"A": "b"}},
        "far": {"url": "https://example.org/mcp", "headers": {"A": "b"}},
    },
    "mcp": {"files": {"reads": ["read"]}},
    "models": {"proxy": {"name": "runbook"}, "planner": "runbook"},
    "channels": {"web": {"port": 8420, "enabled": True}},
    "toolset_allow": ["acme."],
}
SKILL: dict[str, Any] = {"name": "a", "description": "b", "metadata": {"c": "d"}}
SPEC: dict[str, Any] = {
    "acme.bank.Bank": {
        "url": "x",
        "_approval_config": {"pay": {"pre_approved": True}},
        "_risk": {"pay": "critical"},
        "_reads": ["look"],
        "_results": {"look": "owner"},
        "_prefix": "bank",
    }
}


def _marked(front: dict[str, Any], body: str) -> str:
    return f"---\n{json.dumps(front)}\n---\n\n{body}\n"


def _plan(front: dict[str, Any], _: Path) -> object:
    return PlanParser().parse(_marked(front, "Do it."))


def _worker(front: dict[str, Any], _: Path) -> object:
    return read_worker(_marked(front, "Do it.").encode(), built_in_offer)


def _runbook(front: dict[str, Any], folder: Path) -> object:
    (folder / "one.md").write_text(_marked(front, "Do it."), encoding="utf-8")
    return PlanLibrary([folder])


def _config(config: dict[str, Any], folder: Path) -> object:
    file = folder / "config.yaml"
    file.write_text(json.dumps({"silas": config}), encoding="utf-8")
    return load_config(file, {"HOME": str(folder)})


Door = tuple[dict[str, Any], Callable[[dict[str, Any], Path], object]]
DOORS: dict[str, Door] = {
    "a plan": (PLAN, _plan),
    "a worker file": (WORKER, _worker),
    "a runbook": (RUNBOOK, _runbook),
    "a configuration with MCP servers": (CONFIG, _config),
    "a skill": (SKILL, lambda front, _: front_of(front)),
    "settings of a toolset": (SPEC, lambda spec, _: read_spec(spec, {})),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_is_spoiled_below_fits_before(door: str, tmp_path: Path) -> None:
    whole, read = DOORS[door]
    read(whole, tmp_path)


@pytest.mark.parametrize("door", DOORS)
@given(data=st.data())
def test_what_does_not_fit_is_told_in_words_of_silas(
    door: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole, read = DOORS[door]
    tree = data.draw(spoiled(whole))
    folder = tmp_path_factory.mktemp("door")
    _own(_told(lambda: read(tree, folder)).replace(str(folder), ""), tree)


class _Nested(BaseModel):
    number: int


class _Declared(BaseModel):
    url: str = Field(min_length=3, pattern="^db:")
    depth: int = Field(default=1, ge=0, le=9)
    within: _Nested | None = None
    odd: str = ""
    inner: dict[str, Any] = {}

    @field_validator("odd")
    @classmethod
    def _odd(cls, value: str) -> str:
        if value:
            raise PydanticCustomError("value_error", "Input should be odd")
        return value

    @field_validator("inner")
    @classmethod
    def _inner(cls, value: dict[str, Any]) -> dict[str, Any]:
        _Nested.model_validate(value or {"number": 1})
        return value


class _Plugin:
    config_model = _Declared


@given(spoiled({"url": "db:x", "depth": 2, "within": {"number": 1}, "odd": "", "inner": {}}))
def test_a_plugins_own_settings_that_do_not_fit(config: dict[str, Any]) -> None:
    _own(_told(lambda: fit_config(_Plugin, expand(config, {}, "toolsets.x"), "toolsets.x")), config)


def _arguments() -> list[type[ToolArguments]]:
    """The arguments of every built-in tool."""
    importlib.import_module("silas.services.tools.registry")  # it imports every built-in tool
    return sorted(
        (one for one in ToolArguments.__subclasses__() if one.__module__.startswith("silas.")),
        key=lambda model: model.__qualname__,
    )


@given(model=st.sampled_from(_arguments()), junk=_JUNK, more=st.booleans())
def test_arguments_of_a_built_in_tool_that_do_not_fit(
    model: type[ToolArguments], junk: Any, more: bool
) -> None:
    args: dict[str, Any] = dict.fromkeys(model.model_fields, junk)
    args |= {"no_such": junk} if more else {}
    _own(_told(lambda: validated_arguments(model, args)), args)


def test_a_tool_of_somebody_elses_may_pass_the_librarys_error_on() -> None:
    class Passing:
        actions = ("run",)

        def validate(self, args: dict[str, Any]) -> dict[str, Any]:
            return _Nested.model_validate(args).model_dump()

    class Registered:
        tool_name = "passing"
        tool = Passing()

    registered: Any = Registered()
    words = _told(lambda: fitting_arguments(registered, "run", {"number": "x"}))
    assert "number: must be a whole number" in words
    _own(words, {})


def test_an_error_without_the_facts_of_its_kind_has_words_all_the_same() -> None:
    for config, words in (
        ({"odd": "x"}, "odd: does not have the required form"),
        ({"inner": {"number": "x"}}, "inner.number: must be a whole number"),
        ({"url": ""}, "url: must have 3 characters or more"),
    ):
        with pytest.raises(ValidationError) as caught:
            _Declared.model_validate({"url": "db:x", **config})
        [first] = misfits(caught.value)
        assert f"{first.place}: {first.words}" == words


def test_the_library_s_own_form_of_an_error_is_known_in_one_place() -> None:
    known = re.compile(r"""\.errors\(|\[["']msg["']\]|\.get\(["']msg["']|include_url""")
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if known.search(path.read_text(encoding="utf-8"))
    }
    assert found == {ITS_PLACE}
