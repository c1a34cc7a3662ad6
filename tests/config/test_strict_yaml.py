"""One reader of YAML for plans, workers, skills and the configuration: small, and with places."""

import ast
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import silas
from silas.strict_yaml import (
    Mark,
    Subset,
    YamlError,
    YamlNode,
    read_nodes,
    read_yaml,
    yaml_scalar,
)

PLAIN = Subset(deepest=2)
WRONG = {
    "an anchor": ("a: &x 1", 0, 3, "anchors and aliases"),
    "an alias": ("a: 1\nb: *x", 1, 3, "anchors and aliases"),
    "a tag": ("a: !!python/name:os.system x", 0, 3, "tags"),
    "a key twice": ("b: 1\na: 1\na: 2", 2, 0, "the key `a` is given twice; the first is on line 2"),
    "a key that is no text": ("[a]: 1", 0, 0, "a key must be plain text"),
    "too deep": ("a: {b: {c: 1}}", 0, 11, "nested deeper than 2 levels"),
    "a second document": ("a: 1\n---\nb: 1", 1, 0, "only one YAML document"),
    "a marker": ("---\na: 1", 0, 0, "only one YAML document"),
    "what never ends": ("a: [1\n", 0, 3, "the YAML cannot be read"),
    "a control": ("a: \x07", 0, 3, "a character that YAML does not allow"),
    "no character": ('a: "\\UFFFFFFFF"', 0, 0, "the YAML cannot be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_in_the_subset_is_refused_with_its_place(name: str) -> None:
    text, line, column, words = WRONG[name]
    with pytest.raises(YamlError) as caught:
        read_yaml(text, PLAIN)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert words in str(caught.value)


def test_each_value_and_key_knows_its_place() -> None:
    tree = read_yaml("a: 1\nb:\n  - x\n", PLAIN)
    assert tree is not None
    assert tree.data == {"a": 1, "b": ["x"]}
    assert tree.values[("b", 0)] == Mark(2, 4)
    assert tree.keys[("b",)] == Mark(1, 0)


def test_a_text_without_anything_in_it_is_nothing() -> None:
    assert read_yaml("# words\n", PLAIN) is None


def test_only_what_may_begin_with_a_marker_does() -> None:
    tree = read_yaml("---\na: 1", PLAIN._replace(marker=True))
    assert tree is not None
    assert tree.data == {"a": 1}


def test_a_text_that_is_refused_is_found_behind_its_escape() -> None:
    def refuse(text: str) -> str:
        return "not this" if "\u200b" in text else ""

    with pytest.raises(YamlError, match="not this"):
        read_yaml('"\\u200b": 1', PLAIN._replace(refuse=refuse))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("Null", None), ("nULL", "nULL"), ("True", True), ("tRue", "tRue"),
        ("FALSE", False), ("yes", "yes"), ("on", "on"), ("12:30", "12:30"), ("007", "007"),
        ("-7", -7), ("0x10", "0x10"), ("1.5", 1.5), (".inf", ".inf"), ("1e999", "1e999"),
        ("1" * 19, "1" * 19), ("2026-01-01", "2026-01-01"),
    ],
)  # fmt: skip
def test_only_what_looks_like_a_number_or_a_truth_is_one(text: str, value: object) -> None:
    found = yaml_scalar(text)
    assert (type(found), found) == (type(value), value)


@given(st.text(max_size=60))
def test_any_text_gives_data_or_one_error(text: str) -> None:
    with suppress(YamlError):
        read_yaml(text, PLAIN)


_WRITERS = {"silas/agents/plan_fields.py", "silas/config/show.py"}
"""Who writes YAML, and reads none."""


def _of_yaml(source: str) -> set[str]:
    """What of PyYAML a module uses; one that does not even name it uses nothing."""
    tree = ast.parse(source if "yaml" in source else "")
    imported = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    named = {
        alias.name
        for node in imported
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "yaml"
        for alias in node.names
    }
    plain = any(
        alias.name.split(".")[0] == "yaml"
        for node in imported
        if isinstance(node, ast.Import)
        for alias in node.names
    )
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).split(".")[0] == "yaml"
    }
    return named | (used if plain else set())


def test_yaml_is_read_in_one_module() -> None:
    root = Path(str(silas.__file__)).parent.parent
    used = {
        path.relative_to(root).as_posix(): _of_yaml(path.read_text(encoding="utf-8"))
        for folder in ("silas", "scripts")
        for path in sorted((root / folder).rglob("*.py"))
    }
    found = {name: names for name, names in used.items() if names}
    assert found.pop("silas/strict_yaml.py")
    assert found == {name: {"safe_dump"} for name in _WRITERS}


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("", None),
        ("# nothing\n", None),
        ("'a b'", YamlNode(0, 5, 0, "a b", "'")),
        ("- x", YamlNode(0, 3, 0, items=(YamlNode(2, 3, 2, "x"),))),
        (
            "a: {b: }",
            YamlNode(
                0,
                8,
                0,
                members=(
                    (
                        YamlNode(0, 1, 0, "a"),
                        YamlNode(
                            3,
                            8,
                            3,
                            flows=True,
                            members=((YamlNode(4, 5, 4, "b"), YamlNode(6, 6, 6, "")),),
                        ),
                    ),
                ),
            ),
        ),
    ],
)
def test_nodes_say_where_each_part_is_written(text: str, node: YamlNode | None) -> None:
    assert read_nodes(text, Subset(deepest=8)) == node


def test_nodes_are_of_the_same_subset() -> None:
    with pytest.raises(YamlError, match="anchors and aliases"):
        read_nodes("a: &x 1", Subset(deepest=8))
