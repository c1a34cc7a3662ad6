"""Grants that are wrong, each with where and why."""

from typing import Any, NamedTuple


class Refused(NamedTuple):
    name: str
    raw: Any
    loc: tuple[str | int, ...]
    reason: str


def _arg(argument: Any) -> list[dict[str, Any]]:
    return [{"tool": "send_email", "args": {"to": argument}}]


def _slot(**more: Any) -> list[dict[str, Any]]:
    return _arg({"slot": "text", "from": "owner"} | more)


_TO = (0, "args", "to")
_OPEN: Any = {"slot": "text", "from": "any"}
_DEEP: Any = {"a": [[[[[[[[[1]]]]]]]]]}

CASES = (
    Refused("no list", {"tool": "t"}, (), "must be a list"),
    Refused("nothing", None, (), "must be a list"),
    Refused("no JSON", [{"tool": "t", "args": {"x": {1, 2}}}], (), "plain JSON"),
    Refused("not a number", _arg(float("nan")), (), "plain JSON"),
    Refused("a key twice", [{"tool": "t", "args": {1: "a", "1": "b"}}], (), "plain JSON"),
    Refused("too many", [{"tool": "t"}] * 51, (), "at most 50"),
    Refused("a name alone", ["send_email"], (0,), "must be a mapping"),
    Refused("the second", [{"tool": "t"}, 5], (1,), "must be a mapping"),
    Refused("no tool", [{"args": {}}], (0,), "which tool"),
    Refused("an empty tool", [{"tool": ""}], (0, "tool"), "named exactly"),
    Refused("a number as tool", [{"tool": 5}], (0, "tool"), "named exactly"),
    Refused("a pattern as tool", [{"tool": "send_*"}], (0, "tool"), "named exactly"),
    Refused("two tools", [{"tool": "a b"}], (0, "tool"), "named exactly"),
    Refused("a tool in disguise", [{"tool": "sеnd"}], (0, "tool"), "named exactly"),
    Refused("a long tool", [{"tool": "a" * 129}], (0, "tool"), "128"),
    Refused("a misspelt key", [{"tool": "t", "arg": {}}], (0, "arg"), "did you mean `args`?"),
    Refused("a far-off key", [{"tool": "t", "xyz": 1}], (0, "xyz"), "known are `tool`, `args`"),
    Refused("a hidden key", [{"tool": "t", "\u202e": 1}], (0, "\u202e"), "unknown key here"),
    Refused("arguments as list", [{"tool": "t", "args": []}], (0, "args"), "must be a mapping"),
    Refused("no arguments", [{"tool": "t", "args": None}], (0, "args"), "must be a mapping"),
    Refused("a path as argument", [{"tool": "t", "args": {"a[]": 1}}], (0, "args", "a[]"), "64"),
    Refused("a part as argument", [{"tool": "t", "args": {"a.b": 1}}], (0, "args", "a.b"), "64"),
    Refused("no argument's name", [{"tool": "t", "args": {"": 1}}], (0, "args", ""), "64"),
    Refused("no call", [{"tool": "t", "times": 0}], (0, "times"), "from 1 to 1,000"),
    Refused("less than none", [{"tool": "t", "times": -1}], (0, "times"), "from 1"),
    Refused("endless", [{"tool": "t", "times": 10**9}], (0, "times"), "to 1,000"),
    Refused("true times", [{"tool": "t", "times": True}], (0, "times"), "whole number"),
    Refused("half a time", [{"tool": "t", "times": 1.5}], (0, "times"), "whole number"),
    Refused("times as text", [{"tool": "t", "times": "2"}], (0, "times"), "whole number"),
    Refused("slot and pattern", _arg({"slot": "text", "pattern": "a"}), _TO, "not several"),
    Refused("slot and literal", _arg({"slot": "text", "literal": 1}), _TO, "not several"),
    Refused("an unknown slot", _slot(slot="emial"), (*_TO, "slot"), "did you mean `email`?"),
    Refused("no slot", _slot(slot=None), (*_TO, "slot"), "known are `text`"),
    Refused(
        "a list of a list",
        _slot(slot="list of list of text"),
        (*_TO, "slot"),
        "did you mean `list of text`?",
    ),
    Refused("a list of no type", _slot(slot="list of emial"), (*_TO, "slot"), "`list of email`?"),
    Refused("a slot from nowhere", _arg({"slot": "text"}), _TO, "where its value may come from"),
    Refused("a bad source", _slot(**{"from": "web"}), (*_TO, "from"), "owner, plan, tool NAME"),
    Refused("a tool alone", _slot(**{"from": "tool"}), (*_TO, "from"), "owner, plan, tool NAME"),
    Refused("a tool of no name", _slot(**{"from": "tool "}), (*_TO, "from"), "named exactly"),
    Refused("two blanks", _slot(**{"from": "tool  x"}), (*_TO, "from"), "named exactly"),
    Refused("a source in a list", _slot(**{"from": ["plan", "x"]}), (*_TO, "from", 1), "source is"),
    Refused("no source", _slot(**{"from": []}), (*_TO, "from"), "at least one"),
    Refused("a source twice", _slot(**{"from": ["plan", "plan"]}), (*_TO, "from"), "each once"),
    Refused("any and more", _slot(**{"from": ["any", "plan"]}), (*_TO, "from"), "`any` alone"),
    Refused("a number as source", _slot(**{"from": 5}), (*_TO, "from"), "owner, plan"),
    Refused("a misspelt part", _slot(max_char=5), (*_TO, "max_char"), "did you mean `max_chars`?"),
    Refused("no character", _slot(max_chars=0), (*_TO, "max_chars"), "from 1 to 100,000"),
    Refused("a whole book", _slot(max_chars=10**6), (*_TO, "max_chars"), "100,000"),
    Refused("a long number", _slot(slot="integer", max_chars=5), (*_TO, "max_chars"), "has no"),
    Refused("a long date", _slot(slot="date", max_chars=5), (*_TO, "max_chars"), "has no"),
    Refused("items of no list", _slot(max_items=5), (*_TO, "max_items"), "has no `max_items`"),
    Refused(
        "no item", _slot(slot="list of text", max_items=0), (*_TO, "max_items"), "from 1 to 1,000"
    ),
    Refused("perhaps", _slot(optional="yes"), (*_TO, "optional"), "true or false"),
    Refused("a broken pattern", _arg({"pattern": "("}), (*_TO, "pattern"), "not valid"),
    Refused("an endless pattern", _arg({"pattern": "(a+)+"}), (*_TO, "pattern"), "without nesting"),
    Refused("an empty pattern", _arg({"pattern": ""}), (*_TO, "pattern"), "regular expression"),
    Refused("a list of patterns", _arg({"pattern": ["a"]}), (*_TO, "pattern"), "as text"),
    Refused(
        "a pattern's source", _arg({"pattern": "a", "from": "any"}), (*_TO, "from"), "unknown key"
    ),
    Refused("a literal and more", _arg({"literal": 1, "x": 2}), (*_TO, "x"), "unknown key `x`"),
    Refused("a bad slot inside", _arg(["a", {"slot": "text"}]), (*_TO, 1), "may come from"),
    Refused("a bad pattern inside", _arg({"x": {"pattern": ""}}), (*_TO, "x", "pattern"), "expres"),
    Refused("a slot and a field", _arg({"a": _OPEN | {"b": 1}}), (*_TO, "a", "b"), "unknown key"),
    Refused("a part as field", _arg({"a.b": _OPEN}), (*_TO, "a.b"), "at most 64"),
    Refused("a field in disguise", _arg([{"а": _OPEN}]), (*_TO, 0, "а"), "at most 64"),
    Refused(
        "an item that may be absent",
        _arg([_OPEN | {"optional": True}]),
        (*_TO, 0, "optional"),
        "cannot be absent",
    ),
    Refused("a deep slot", _arg([[[[[[[[_OPEN]]]]]]]]), _TO, "at most 8 levels"),
    Refused("a hundred parts", _arg([_OPEN] * 50), _TO, "at most 100 parts"),
    Refused("a deep literal", _arg(_DEEP), _TO, "at most 8 levels"),
    Refused("a deep wrapped literal", _arg({"literal": _DEEP}), (*_TO, "literal"), "at most 8"),
)
