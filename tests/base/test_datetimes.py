"""Moments have a time zone: a naive one is refused wherever data comes in (spec 3)."""

import importlib
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, get_args

import pytest
from pydantic import (
    AwareDatetime,
    BaseModel,
    FutureDatetime,
    NaiveDatetime,
    PastDatetime,
    TypeAdapter,
    ValidationError,
)

import silas
from silas.clock import Clock, SystemClock
from silas.testing import MockClock

_KINDS: tuple[Any, ...] = (datetime, AwareDatetime, NaiveDatetime, PastDatetime, FutureDatetime)


def _models() -> list[type[BaseModel]]:
    """Every data model of the package, wherever it is defined."""
    for module in pkgutil.walk_packages(silas.__path__, "silas."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: dict[str, type[BaseModel]] = {}
    waiting: list[type[BaseModel]] = [BaseModel]
    while waiting:
        for model in waiting.pop().__subclasses__():
            waiting.append(model)
            if model.__module__.startswith("silas."):
                found[f"{model.__module__}.{model.__qualname__}"] = model
    return list(found.values())


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def _moments() -> list[Any]:
    """Every field that holds a moment, as (name, type)."""
    return [
        pytest.param(
            Annotated[field.annotation, "as declared", *field.metadata],
            id=f"{model.__name__}.{name}",
        )
        for model in _models()
        for name, field in model.model_fields.items()
        if any(part in _KINDS for part in _parts(field.annotation))
    ]


@pytest.mark.proves("S3-AWARE-DATETIMES")
@pytest.mark.parametrize("moment", _moments())
def test_every_field_with_a_moment_refuses_one_without_a_time_zone(moment: Any) -> None:
    field = TypeAdapter[Any](moment)
    aware = datetime(2026, 1, 1, tzinfo=UTC)
    assert field.validate_python(aware) == aware
    for naive in (datetime(2026, 1, 1), "2026-01-01T00:00:00"):
        with pytest.raises(ValidationError, match="timezone"):
            field.validate_python(naive)


def test_there_are_such_fields() -> None:
    names = {param.id for param in _moments()}
    assert {"ChannelMessage.timestamp", "WorkItem.created_at", "ApprovalToken.expires_at"} <= names


@pytest.mark.proves("S3-AWARE-DATETIMES")
@pytest.mark.parametrize("clock", [SystemClock(), MockClock()], ids=lambda c: type(c).__name__)
def test_every_clock_tells_utc(clock: Clock) -> None:
    assert clock.now().utcoffset() == timedelta(0)
