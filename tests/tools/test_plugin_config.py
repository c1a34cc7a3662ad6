"""Settings of toolsets: variables, what a class declares, and errors that repeat no value."""

from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from silas.errors import ConfigError
from silas.tools.plugins.config import ExpandedConfig, expand, fit_config
from silas.tools.plugins.schema import close_schema, first_misfit, validator_of

SECRET = "s3cr3t-value"
ENV = {"KEY": SECRET, "HOST": "db", "EMPTY": ""}
NO_FORM = "does not have the required form"
NOTHING = ExpandedConfig({}, {}, frozenset())


def filled(**config: Any) -> ExpandedConfig:
    return expand(config, ENV, "toolsets.x")


@pytest.mark.parametrize(
    ("written", "is_"),
    [
        ("${KEY}", SECRET),
        ("db://u:${KEY}@${HOST}/x", f"db://u:{SECRET}@db/x"),
        ("$${KEY}", "${KEY}"),
        ("$$${KEY}", "$${KEY}"),
        ("${KEY", "${KEY"),
        ("$KEY", "$KEY"),
        ("${1}", "${1}"),
        (["${HOST}", {"a": "${HOST}"}], ["db", {"a": "db"}]),
        (7, 7),
        (None, None),
        (True, True),
    ],
)
def test_they_are_filled_in_wherever_text_is(written: Any, is_: Any) -> None:
    assert filled(a=written).config == {"a": is_}


@pytest.mark.parametrize("name", ["GONE", "EMPTY"])
def test_one_that_is_not_set_is_named_with_its_place(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"toolsets\.x\.a\.0 needs the .*variable {name}"):
        filled(a=["${KEY}${" + name + "}"])


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    assert expand({"a": "${A}"}, {"A": "${B}", "B": "b"}, "x").config == {"a": "${B}"}


def test_it_says_what_was_filled_in_and_where() -> None:
    expanded = filled(a={"b": "${KEY}"}, c="plain")
    assert (expanded.values, expanded.places) == ({"KEY": SECRET}, frozenset({("a", "b")}))


@given(st.text())
def test_a_text_without_a_variable_stays_as_it_is(text: str) -> None:
    if "${" not in text:
        assert filled(a=text).config == {"a": text}


class Settings(BaseModel):
    url: str = Field(min_length=3)
    depth: int = 1
    key: str = ""

    @field_validator("key")
    @classmethod
    def _repeats(cls, value: str) -> str:
        if value:
            raise ValueError(f"what a value: {value}")
        return value


class Joined(BaseModel):
    url: str
    depth: int = 1

    @model_validator(mode="after")
    def _repeats(self) -> "Joined":
        raise ValueError(f"cannot reach {self.url}")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Crossed(BaseModel):
    url: str
    depth: int

    @field_validator("depth")
    @classmethod
    def _repeats(cls, value: int, info: ValidationInfo) -> int:
        raise ValueError(f"too deep for {info.data['url']}")


class WithCrossed:
    config_model = Crossed


class WithModel:
    config_model = Settings


class WithConfig:
    Config = Settings


class WithJoined:
    config_model = Joined


class WithOpen:
    config_model = Open


class WithSchema:
    config_schema: ClassVar[dict[str, Any]] = {
        "type": "object",
        "properties": {"url": {"type": "string", "pattern": "^db:"}, "n": {"type": "integer"}},
        "required": ["url"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("made_by", [WithModel, WithConfig])
def test_a_class_with_a_model_is_given_the_model(made_by: type) -> None:
    assert fit_config(made_by, filled(url="db://${HOST}"), "x") == Settings(url="db://db")


def test_a_class_that_declares_nothing_is_given_the_mapping() -> None:
    assert fit_config(object, filled(a="${HOST}"), "x") == {"a": "db"}


def test_a_model_that_takes_anything_is_given_anything() -> None:
    assert fit_config(WithOpen, filled(b=1), "x").model_extra == {"b": 1}


@pytest.mark.parametrize(
    ("made_by", "config", "words"),
    [
        (WithModel, {"url": "ab"}, r"x\.url: must have 3 characters or more"),
        (WithModel, {"url": "abc", "dpeth": 2}, r"x\.dpeth: is not known here"),
        (WithModel, {"url": "abc", "depth": "${KEY}"}, r"x\.depth: must be a whole number"),
        (WithModel, {"url": "abc", "key": "${KEY}"}, rf"x\.key: {NO_FORM}"),
        (WithCrossed, {"url": "${KEY}", "depth": 1}, rf"x\.depth: {NO_FORM}"),
        (WithJoined, {"url": "${KEY}"}, rf"x: {NO_FORM}"),
        (WithSchema, {"n": 1}, r"needs url"),
        (WithSchema, {"url": "db:", "m": 1}, r"takes n, url and no more"),
        (WithSchema, {"url": "db:", "n": "${KEY}"}, r"n does not fit \(type: \"integer\"\)"),
        (WithSchema, {"url": "${KEY}"}, r"url does not fit \(pattern: "),
    ],
)
def test_what_does_not_fit_is_named_by_its_path_and_never_by_its_value(
    made_by: type, config: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        fit_config(made_by, filled(**config), "x")
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"type": "no such type"},
        {"type": "object", "properties": []},
        {"patternProperties": {"(a+)+$": {}}},
        {"properties": {"a": {"patternProperties": {}}}},
    ],
)
def test_what_is_no_usable_schema_is_refused(schema: Any) -> None:
    with pytest.raises(ValueError, match="schema"):
        validator_of(schema)


def test_a_reference_to_elsewhere_is_never_fetched() -> None:
    validator = validator_of({"$ref": "http://127.0.0.1:9/schema.json"})
    with pytest.raises(Exception, match="127"):
        first_misfit(validator, {})


def test_a_pattern_that_would_backtrack_forever_is_matched_at_once() -> None:
    validator = validator_of({"type": "string", "pattern": "^(a+)+$"})
    assert first_misfit(validator, "a" * 50_000 + "!")
    assert not first_misfit(validator, "a" * 50_000)


def test_a_pattern_that_the_engine_does_not_know_is_left_to_the_toolset() -> None:
    assert not first_misfit(validator_of({"type": "string", "pattern": "(?=b)"}), "a")


@pytest.mark.parametrize(
    ("further", "is_"),
    [
        ({}, False),
        ({"additionalProperties": True}, False),
        ({"additionalProperties": False}, False),
        ({"additionalProperties": {"type": "string"}}, {"type": "string"}),
    ],
)
def test_further_arguments_are_refused_unless_their_form_is_said(
    further: dict[str, Any], is_: Any
) -> None:
    assert close_schema({"type": "object", **further})["additionalProperties"] == is_
