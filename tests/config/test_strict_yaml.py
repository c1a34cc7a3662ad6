"""One reader of YAML for plans, workers, skills and the configuration: small, and with places."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.strict_yaml import Mark, Subset, YamlError, read_yaml, yaml_scalar

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
