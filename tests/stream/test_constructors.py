"""A reader sees from a constructor what a class of the Stream can touch: twelve ports at most."""

import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel
from pydantic_ai.toolsets import AbstractToolset

import silas.stream
from silas.stream.review import ReviewQueue
from silas.stream.state import Turn
from silas.stream.turn import TurnSteps

MOST = 12


def classes() -> Iterator[Any]:
    """Every class that a module of the room defines."""
    for module in iter_modules(silas.stream.__path__):
        name = f"silas.stream.{module.name}"
        for _, found in inspect.getmembers(import_module(name), inspect.isclass):
            if found.__module__ == name:
                yield found


def is_record(kind: Any) -> bool:
    """Whether its constructor is its list of fields."""
    return is_dataclass(kind) or hasattr(kind, "_fields")


def is_port(hint: Any) -> bool:
    """Whether a value of this type does something: data of any shape does not."""
    if typing.get_origin(hint) is not None:
        made_of = typing.get_args(hint)
        called = typing.get_origin(hint) is typing.get_origin(Callable[[], None])
        return called or any(is_port(part) for part in made_of)
    if not isinstance(hint, type) or not hint.__module__.startswith("silas."):
        return False
    return not (is_record(hint) or issubclass(hint, BaseModel | Enum))


def ports(kind: Any) -> list[str]:
    """The constructor's parameters; of a record those that are ports."""
    if is_record(kind):
        names = [f.name for f in fields(kind)] if is_dataclass(kind) else list(kind.__annotations__)
        hints = typing.get_type_hints(kind, vars(import_module(kind.__module__)))
        return [name for name in names if is_port(hints[name])]
    if issubclass(kind, BaseModel | Enum | Exception) or getattr(kind, "_is_protocol", False):
        return []
    return list(inspect.signature(kind.__init__).parameters)[1:]


def test_no_class_of_the_stream_is_given_more_than_twelve_ports() -> None:
    given = {f"{kind.__module__}.{kind.__name__}": ports(kind) for kind in classes()}
    assert {name: of for name, of in given.items() if len(of) > MOST} == {}
    assert "silas.stream.turn_writer.TurnWriter" in given  # and the room was looked at


@pytest.mark.parametrize("step", sorted(typing.get_type_hints(TurnSteps)))
def test_no_step_is_given_a_record_of_ports(step: str) -> None:
    kind = typing.get_type_hints(TurnSteps)[step]
    if getattr(kind, "_is_protocol", False):
        return
    names = {**vars(import_module(kind.__module__)), "AbstractToolset": AbstractToolset}
    taken = typing.get_type_hints(kind.__init__, names)
    assert not any(isinstance(hint, type) and is_record(hint) for hint in taken.values())


class _Bag(NamedTuple):
    stream: Turn
    said: str
    do: Callable[[], None]
    chosen: tuple[TurnSteps, ...]
    review: ReviewQueue


def test_data_is_no_port() -> None:
    assert ports(_Bag) == ["do", "review"]
