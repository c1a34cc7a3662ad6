"""Writes the cockpit's protocol as a page, from the frames' own models: `make protocol`."""

from typing import Any

from silas.channels.web.events import outbound
from silas.channels.web.wire import MOST_CHARACTERS, inbound

HEAD = f"""# The cockpit's protocol

Made from `wire.py`, `events.py`, `questions.py` and `results.py` of `silas/channels/web/` by
`make protocol`; a test holds it against them.

A page opens `/ws` with its session's cookie and says `auth` within five seconds, with the token
that only pages of this origin can read; otherwise the connection is closed with 4001. The answer
is `stream_state`, which is the same on every device. A frame from Silas is one event, or a JSON
array of events where many pages listen. A message has at most {MOST_CHARACTERS:,} characters.
Unknown types and unknown fields are refused.

Close codes: 1001 Silas ends, 1008 nothing but mistakes, 1013 this page reads too slowly and may
come back, 4001 not paired or not any more.

**What a device signs.** Each `proof` is Ed25519 over canonical JSON: sorted keys, no blanks,
ASCII, timestamps as Python's `isoformat` writes them. A message:
`{{"nonce","text","timestamp"}}`. An answer: `silas/decision/v1`, a line feed, and
`{{"answer","card","nonce","timestamp"}}`, where `answer` is the frame without its proof and
`card` the `digest` of the event. A command: `silas/command/v1`, a line feed, and
`{{"command","nonce","subject","timestamp"}}`. An answer that only says no needs none.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, adapter in (("From a page", inbound), ("From Silas", outbound)):
        schema: dict[str, Any] = adapter.json_schema()
        parts.append(f"## {title}\n")
        models: dict[str, Any] = schema["$defs"]
        frames = [name for name, model in models.items() if "type" in model.get("properties", {})]
        shared = [name for name in models if name not in frames and models[name].get("properties")]
        for name in sorted(frames, key=lambda n: _type(models[n])):
            parts.append(_model(f"`{_type(models[name])}`", models[name]))
        for name in sorted(shared):
            parts.append(_model(name, models[name]))
    return "\n".join(parts).rstrip() + "\n"


def _type(model: dict[str, Any]) -> str:
    return str(model["properties"]["type"]["const"])


def _model(title: str, model: dict[str, Any]) -> str:
    lines = [f"### {title}\n", _first(model.get("description", "")) + "\n"]
    required = set(model.get("required", ()))
    rows = [
        f"| `{name}` | {_kind(field)} | {'' if name in required else 'optional'} |"
        for name, field in model["properties"].items()
        if name != "type"
    ]
    if rows:
        lines += ["| field | kind | |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _first(description: str) -> str:
    return " ".join(description.split("\n\nAttributes:", maxsplit=1)[0].split())


def _kind(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if "anyOf" in field or "oneOf" in field:
        return " or ".join(_kind(one) for one in field.get("anyOf") or field["oneOf"])
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}"
    named: dict[Any, str] = {"string": "text", "integer": "whole number", None: "any"}
    kind = str(field.get("format") or named.get(field.get("type"), field.get("type")))
    longest = f", at most {field['maxLength']:,}" if "maxLength" in field else ""
    return f"{kind}{longest}"


if __name__ == "__main__":
    print(page(), end="")
