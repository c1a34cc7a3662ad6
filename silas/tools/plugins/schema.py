"""JSON schemas of others: closed, cleaned, and checked without fetching or backtracking."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import (
    extend,  # pyright: ignore[reportUnknownVariableType] - as below
    validator_for,  # pyright: ignore[reportUnknownVariableType] - its stub is partial
)
from pydantic_core import SchemaError as NoSuchPattern
from pydantic_core import SchemaValidator, core_schema
from pydantic_core import ValidationError as NoMatch
from referencing import Registry

from silas.canonical import canonical_json

_NOTHING_ELSE: Registry[Any] = Registry()  # the default one would fetch what `$ref` names
_SHOWN: Final = 80  # characters of a schema's rule in an error
_FOR_READERS: Final = ("description", "title")


def validator_of(schema: object) -> Validator:
    """A validator of a JSON schema.

    It reads nothing but the schema. Patterns are matched by an engine that takes time linear in
    the text, as the text is a model's; one that this engine does not know is left to the toolset.

    Raises:
        ValueError: It is no JSON schema, or names properties by pattern.
    """
    if not isinstance(schema, Mapping):
        raise ValueError("its schema is not a mapping")
    plain = dict(cast(Mapping[str, Any], schema))
    kind = validator_for(plain, default=Draft202012Validator)
    try:
        kind.check_schema(plain)
    except SchemaError as error:
        raise ValueError(f"its schema is no JSON schema ({error.validator})") from None
    if _has_key(plain, "patternProperties"):
        raise ValueError("its schema names properties by pattern")
    linear = cast(type[Validator], extend(kind, {"pattern": _pattern}))
    return linear(plain, registry=_NOTHING_ELSE)


def first_misfit(validator: Validator, found: Any) -> str:
    """Where and how a value does not fit a schema, without the value; empty where it fits."""
    error = min(validator.iter_errors(found), key=lambda e: len(e.path), default=None)
    if error is None:
        return ""
    place = ".".join(str(part) for part in error.absolute_path)
    rule = f"{error.validator}: {_rule_text(error.validator_value)}"
    if error.validator == "required":
        rule = f"needs {', '.join(_absent(error.validator_value, error.instance))}"
    if error.validator == "additionalProperties":
        known = cast(Mapping[str, Any], error.schema).get("properties", {})
        rule = f"takes {', '.join(sorted(known)) or 'nothing'} and no more"
    return f"{place or 'it'} does not fit ({rule})"


def close_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema that takes no further arguments unless it names their form.

    `additionalProperties: true` is what a schema says that was not thought about; a form (a
    mapping) was.
    """
    form = schema.get("additionalProperties")
    return {**schema, "additionalProperties": form if isinstance(form, Mapping) else False}


def clean_schema(schema: Any, clean: Callable[[str], str]) -> Any:
    """A schema whose words for readers are neutralised; everything that is checked stays."""
    if isinstance(schema, Mapping):
        members = cast(Mapping[str, Any], schema).items()
        return {
            key: clean(value)
            if key in _FOR_READERS and isinstance(value, str)
            else clean_schema(value, clean)
            for key, value in members
        }
    if isinstance(schema, list):
        return [clean_schema(member, clean) for member in cast(list[Any], schema)]
    return schema


def _pattern(
    validator: Validator, pattern: str, found: object, schema: object
) -> Iterator[ValidationError]:
    del validator, schema
    if not isinstance(found, str):
        return
    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern)).validate_python(found)
    except NoSuchPattern:
        return
    except NoMatch:
        yield ValidationError("does not match")


def _has_key(schema: object, wanted: str) -> bool:
    if isinstance(schema, Mapping):
        members = cast(Mapping[str, Any], schema)
        return wanted in members or any(_has_key(member, wanted) for member in members.values())
    if isinstance(schema, list):
        return any(_has_key(member, wanted) for member in cast(list[Any], schema))
    return False


def _absent(required: object, found: object) -> list[str]:
    names = [str(name) for name in cast(list[object], required)]
    return [name for name in names if not isinstance(found, Mapping) or name not in found]


def _rule_text(rule: object) -> str:
    text = canonical_json(rule)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
