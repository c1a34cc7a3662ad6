"""What a careful planner would propose for a user task, before anything is read. Pure.

It knows what the task needs: the state-changing and egress calls of the task's ground truth, and
where a planner that thinks would look for each value. What it *fixes* comes from the owner's words
alone: a value that stands there as a whole, a date or time that they tell in other words, a choice
that the tool's own schema lists; a text that they give but for a part is a pattern. Everything else
is a slot of the narrowest type, with its source.
"""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from benchmarks.agentdojo.suites import PAGE, Call, is_read
from silas.approval.slots import SLOT_TYPES

SEVERAL: Final = 10
"""How many calls a grant allows that is needed more than once: nobody knows the number before."""

_LONG: Final = frozenset({"body", "content", "description"})
_TITLES: Final = frozenset({"subject", "title"})
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MOMENT: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?: (\d\d:\d\d))?")
_EITHER: Final = re.compile(r"(\d\d:\d\d) or (?:at )?(\d\d:\d\d)")
_WITH_BRACES: Final = re.compile(r"['\"]([^'\"{}]*\{\w+\}[^'\"]*)['\"]")
_REPLACED: Final = re.compile(r"\bwhere (\w+) is replaced\b")
_FIXED_WORDS: Final = 3  # of a text that is given but for a part
_OPEN: Final = r"[^{}]{1,100}"
_LENGTHS: Final = {"one": 1, "two": 2, "three": 3, **{str(hours): hours for hours in range(1, 10)}}


class Seen(NamedTuple):
    """A call of the task and what it returned."""

    call: Call
    result: str


def grants(prompt: str, seen: Sequence[Seen], schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """The grants of the plan, in the order of the calls; those of one form are one grant.

    Args:
        prompt: The owner's words.
        seen: The task's calls in a world without injections, in order, with their results.
        schemas: JSON schema of the arguments by tool.
    """
    found: dict[str, dict[str, Any]] = {}
    for at, (call, _) in enumerate(seen):
        if is_read(call.tool):
            continue
        args = _arguments(at, prompt, seen, schemas)
        taken = set[str]()
        for name, given in args.items():  # a text that the words give is given for one argument
            form = given.get("pattern", "") if isinstance(given, dict) else ""
            if form in taken:
                args[name] = _argument(name, call.args[name], "", seen[:at], {})
            taken |= {form} - {""}
        for one in (args, *_otherwise(args, prompt)):
            form = json.dumps([call.tool, one], sort_keys=True)
            if form in found:
                found[form]["times"] = SEVERAL
            else:
                found[form] = {"tool": call.tool, "args": one}
    return list(found.values())


def left_open(prompt: str, seen: Sequence[Seen], schemas: dict[str, Any]) -> list[Call]:
    """The calls with an argument that the words do not fix, so that the work must find it."""
    return [
        call
        for at, (call, _) in enumerate(seen)
        if not is_read(call.tool)
        and any(
            not (isinstance(given, dict) and "literal" in given)
            for given in _arguments(at, prompt, seen, schemas).values()
        )
    ]


def _arguments(
    at: int, prompt: str, seen: Sequence[Seen], schemas: dict[str, Any]
) -> dict[str, Any]:
    """What a planner says about each argument of the call at `at`, who knows those before."""
    call = seen[at].call
    fields = schemas[call.tool].get("properties", {})
    return {
        name: _argument(name, value, prompt, seen[:at], fields.get(name, {}))
        for name, value in call.args.items()
        if value is not None
    }


def fixed(seen: Sequence[Seen]) -> list[dict[str, Any]]:
    """The grants of a planner that looked first: every value as it was read, word for word.

    Only what a call of the plan itself will make, such as the id of a new file, is a slot.
    """
    found: dict[str, dict[str, Any]] = {}
    for at, (call, _) in enumerate(seen):
        if is_read(call.tool) or call.tool == PAGE:
            continue
        made = [one for one in seen[:at] if not is_read(one.call.tool) and one.call.tool != PAGE]
        looked = [one for one in seen[:at] if one not in made]
        args = {
            name: {"slot": _kind(name, value), "from": _source(value, made)}
            if isinstance(value, str) and _made_here(value, made, looked)
            else {"literal": value}
            for name, value in call.args.items()
            if value is not None
        }
        form = json.dumps([call.tool, args], sort_keys=True)
        again = found.setdefault(form, {"tool": call.tool, "args": args, "times": 0})
        again["times"] += 1
    return list(found.values())


def _made_here(value: str, made: Sequence[Seen], looked: Sequence[Seen]) -> bool:
    """Whether an identifier is that of something an earlier call of the same plan made."""
    told = {text for one in made for text in one.call.args.values() if isinstance(text, str)}
    new = value not in told and _source(value, made) != "any" and " " not in value
    return new and not any(stands_in(f"id_: '{value}'", one.result) for one in looked)


def markdown(plan_id: str, prompt: str, tools: list[dict[str, Any]]) -> str:
    """A plan that carries the owner's words and these grants."""
    front = {
        "id": plan_id,
        "type": "task",
        "title": "What you asked for",
        "budget": {"max_attempts": 1},
        **({"tools": tools} if tools else {}),
    }
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items())
    return "\n".join(("---", *lines, "---", "Do what was asked:", "", prompt, ""))


def _argument(name: str, value: Any, prompt: str, seen: Sequence[Seen], field: Any) -> Any:
    if _is_choice(value, field):
        return {"literal": value}
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return _list(name, value, prompt, seen)
    if isinstance(value, list):
        return [_argument(name, item, prompt, seen, field) for item in value]
    if isinstance(value, dict):
        return {
            key: {"literal": part}
            if _is_quoted(part, field)
            else _argument(key, part, prompt, seen, {})
            for key, part in value.items()
        }
    if said(value, prompt):
        return {"literal": value}
    form = next((form for form in _forms(value, prompt) if re.fullmatch(form, str(value))), "")
    return {"pattern": form} if form else {"slot": _kind(name, value), "from": _source(value, seen)}


def _forms(value: Any, prompt: str) -> Iterator[str]:
    """Texts that the words give but for a part: 'Dinner at {name}', or "where k is replaced"."""
    if not isinstance(value, str):
        return
    for text in _WITH_BRACES.findall(prompt):
        yield _OPEN.join(map(_exactly, re.split(r"\{\w+\}", text)))
    for open_word in _REPLACED.findall(prompt):
        for part in re.finditer(r"\w+", value):
            before, after = value[: part.start()], value[part.end() :]
            fixed = len(f"{before}{after}".split()) >= _FIXED_WORDS
            if fixed and f"{before}{open_word}{after}" in prompt:
                filled = r"[0-9]{1,3}" if part[0].isdigit() else _OPEN
                yield _exactly(before) + filled + _exactly(after)


def _exactly(text: str) -> str:
    return re.escape(text).replace("\\ ", " ").replace("\\-", "-")


def _otherwise(args: dict[str, Any], prompt: str) -> Iterator[dict[str, Any]]:
    """The same call at the other time, where the words offer two: "at 10:00 or at 16:00"."""
    for pair in _EITHER.findall(prompt):
        moved = dict(args)
        for name, given in args.items():
            value = given.get("literal") if isinstance(given, dict) else None
            if isinstance(value, str) and _MOMENT.fullmatch(value) and value[11:]:
                moved[name] = {"literal": _moved(value, *pair)}
        if moved != args:
            yield moved


def _moved(moment: str, one: str, other: str) -> str:
    """A time as far after the other start as it is after the one that comes before it."""
    at = datetime.fromisoformat(moment)
    starts = [datetime.fromisoformat(f"{moment[:10]} {clock}") for clock in (one, other)]
    mine = max((start for start in starts if start <= at), default=starts[0])
    theirs = starts[1] if mine == starts[0] else starts[0]
    return f"{theirs + (at - mine):%Y-%m-%d %H:%M}"


def _is_choice(value: Any, field: Any) -> bool:
    """Whether the tool's schema lists what may be chosen; choosing is the planner's work."""
    return isinstance(value, bool) or "enum" in field or "$ref" in field or "allOf" in field


def _is_quoted(value: Any, field: Any) -> bool:
    """Whether the tool's schema names a word of its own, in quotes, for what is inside a value."""
    return isinstance(value, str) and f'"{value}"' in field.get("description", "")


def _list(name: str, values: list[str], prompt: str, seen: Sequence[Seen]) -> dict[str, Any]:
    if all(said(value, prompt) for value in values):
        return {"literal": values}
    kinds = {_kind(name, value) for value in values}
    sources = [_source(value, seen) for value in values]
    known = list(dict.fromkeys(sources))
    return {
        "slot": f"list of {kinds.pop() if len(kinds) == 1 else 'line'}",
        "from": "any" if "any" in known else known if len(known) > 1 else known[0],
    }


def said(value: Any, prompt: str) -> bool:
    """Whether the owner's words have this value."""
    if isinstance(value, float) and value.is_integer():
        return any(stands_in(form, prompt) for form in (f"{value:.0f}", f"{value:.2f}"))
    text = str(value)
    return stands_in(text, prompt) or _told(text, prompt)


def stands_in(value: str, text: str) -> bool:
    """Whether a value stands in a text as a whole: no word or number goes on at its ends."""
    words = r"\s+".join(map(re.escape, value.split()))
    return bool(words) and bool(
        re.search(rf"(?<![\w@/.-])(?<!\d,){words}(?![\w@/]|[.,:-]\w)", text)
    )


def _told(text: str, prompt: str) -> bool:
    """Whether the words tell this day in another form, or this time as a start and a length."""
    moment = _MOMENT.fullmatch(text)
    if moment is None:
        return False
    year, month, day, clock = moment.groups()
    name, number, words = _MONTHS[int(month) - 1], int(day), prompt.lower()
    forms = rf"\b{name} {number}(?:st|nd|rd|th)?\b|\b{number}(?:st|nd|rd|th)? (?:of )?{name}\b"
    dated = stands_in(text[:10], prompt) or (re.search(forms, words) and stands_in(year, prompt))
    if not dated or clock is None:
        return bool(dated)
    return stands_in(clock, prompt) or any(
        stands_in(f"{datetime.fromisoformat(text) - timedelta(hours=hours):%H:%M}", prompt)
        for word, hours in _LENGTHS.items()
        if re.search(rf"\b{word}[ -]hours?\b", words)
    )


def _kind(name: str, value: Any) -> str:
    if name in _LONG or (isinstance(value, str) and ("\n" in value or "\t" in value)):
        return "text"
    for kind in ("boolean", "integer", "number", "email", "date", "datetime"):
        if SLOT_TYPES[kind].fits(value):
            return kind
    return "line" if " " in value or name in _TITLES else "identifier"


def _source(value: Any, seen: Sequence[Seen]) -> str:
    """The last thing looked at that has the value; prose is put in words of one's own."""
    text = str(value)
    answers = [one for one in seen if _answers(one.call)]
    for call, result in reversed(answers):
        if stands_in(text, result):
            return f"tool {call.tool}"
    prose = text.count(" ") >= 3
    looked = [call.tool for call, _ in answers if is_read(call.tool) or call.tool.startswith("get")]
    return f"tool {looked[-1]}" if prose and looked else "any"


def _answers(call: Call) -> bool:
    """Whether a call tells more than what it was told: a message that was sent says nothing new."""
    return not call.tool.startswith("send_")
