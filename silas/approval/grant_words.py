"""What a grant says about its arguments, in the words of a card. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from silas.approval.arguments import Argument, ExactItems, Fields, Literal, Pattern, Slot
from silas.approval.slots import LIST_OF, slot_type

Say = Callable[[Any], str]
"""How a JSON value is shown: on one line, so that two values never look alike."""


def argument_lines(name: str, argument: Argument, say: Say) -> Iterator[str]:
    """What a plan says about an argument, on a line for each part; different for different ones."""
    match argument:
        case Literal():
            yield f"{name}: exactly {say(argument.value)}"
        case Pattern():
            limit = f"up to {argument.max_chars:,} characters"
            words = f"text that as a whole matches {say(argument.pattern)}"
            yield f"{name}: {words}, {limit}, from anywhere"
        case Slot():
            yield f"{name}{_slot_words(argument)}"
        case Fields():
            yield f"{name}: nothing but {', '.join(argument.fields)}"
            for field, part in argument.fields.items():
                yield from argument_lines(f"{name}, {field}", part, say)
        case ExactItems():
            several = len(argument.items) > 1
            yield f"{name}: a list of exactly {len(argument.items)} item{'s' if several else ''}"
            for number, part in enumerate(argument.items, 1):
                yield from argument_lines(f"{name}, item {number}", part, say)


def _slot_words(slot: Slot) -> str:
    words = slot_type(slot.kind).words
    several = slot.kind.startswith(LIST_OF)
    each = f"up to {slot.max_items:,} items, each {words}" if several else words
    limit = f", {'each ' if several else ''}up to {slot.max_chars:,} characters"
    given = ", if given" if slot.optional else ""
    return f"{given}: {each} from {from_words(slot.sources)}{limit if slot.max_chars else ''}"


_SOURCES: Final[Mapping[str, str]] = {
    "owner": "your own messages",
    "plan": "this plan",
    "any": "anywhere",
}


def from_words(sources: Sequence[str]) -> str:
    """Where a value may come from."""
    named = [_SOURCES.get(s) or f"what {s.removeprefix('tool ')} returns" for s in sources]
    return " or ".join(named)


def times_in_words(times: int) -> str:
    """How often at most."""
    return {1: "once", 2: "up to twice"}.get(times, f"up to {times:,} times")
