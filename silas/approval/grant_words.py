"""What a grant says about its arguments, in the words of a card. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from silas.approval.arguments import BoundArgument, ExactItems, Fields, Literal, Pattern, Slot
from silas.approval.slots import LIST_OF, slot_type
from silas.language import tr, tr_later, tr_many

Say = Callable[[Any], str]
"""How a JSON value is shown: on one line, so that two values never look alike."""


def argument_lines(name: str, argument: BoundArgument, say: Say) -> Iterator[str]:
    """What a plan says about an argument, on a line for each part; different for different ones."""
    match argument:
        case Literal():
            yield tr("{name}: exactly {value}", name=name, value=say(argument.value))
        case Pattern():
            yield tr(
                "{name}: text that as a whole matches {pattern}, up to {most:,} "
                "characters, from anywhere",
                name=name,
                pattern=say(argument.pattern),
                most=argument.max_chars,
            )
        case Slot():
            yield f"{name}{_slot_words(argument)}"
        case Fields():
            yield tr("{name}: nothing but {fields}", name=name, fields=", ".join(argument.fields))
            for field, part in argument.fields.items():
                yield from argument_lines(f"{name}, {field}", part, say)
        case ExactItems():
            many = tr_many(len(argument.items), "{count} item", "{count} items")
            yield tr("{name}: a list of exactly {many}", name=name, many=many)
            for number, part in enumerate(argument.items, 1):
                yield from argument_lines(
                    tr("{name}, item {number}", name=name, number=number), part, say
                )


def _slot_words(slot: Slot) -> str:
    words = tr(slot_type(slot.kind).words)
    each, limit = words, ""
    if several := slot.kind.startswith(LIST_OF):
        each = tr("up to {most:,} items, each {words}", most=slot.max_items, words=words)
    if slot.max_chars:
        said = (
            tr_later(", each up to {most:,} characters")
            if several
            else tr_later(", up to {most:,} characters")
        )
        limit = tr(said, most=slot.max_chars)
    given = tr(", if given") if slot.optional else ""
    sources = from_words(slot.sources)
    return given + tr(": {each} from {sources}{limit}", each=each, sources=sources, limit=limit)


_SOURCES: Final[Mapping[str, str]] = {
    "owner": tr_later("your own messages"),
    "plan": tr_later("this plan"),
    "any": tr_later("anywhere"),
}


def from_words(sources: Sequence[str]) -> str:
    """Where a value may come from."""
    named = [
        tr(_SOURCES[one])
        if one in _SOURCES
        else tr("what {tool} returns", tool=one.removeprefix("tool "))
        for one in sources
    ]
    return tr(" or ").join(named)


def times_in_words(times: int) -> str:
    """How often at most."""
    if times <= 2:
        return tr("once") if times == 1 else tr("up to twice")
    return tr("up to {times:,} times", times=times)
