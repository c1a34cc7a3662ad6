"""A tool call in plain words, for a person who watches: `Run pytest -q`, `Read src/a.py`."""

import shlex
from collections.abc import Callable, Mapping
from typing import Any, cast

from silas.plans import show

_LONGEST = 160  # characters

Args = Mapping[str, Any]


def _argv(args: Args) -> str:
    words: object = args.get("argv")
    listed = cast(list[object], words) if isinstance(words, list) else []
    return shlex.join(map(str, listed))


def _named(word: str, name: str) -> Callable[[Args], str]:
    """The word, and one argument as it is."""

    def words(args: Args) -> str:
        return f"{word} {args.get(name) or ''}"

    return words


_WORDS: Mapping[str, Callable[[Args], str]] = {
    "shell_exec": lambda args: f"Run {_argv(args)}",
    "python_exec": lambda args: f"Run Python {args.get('script') or ''}",
    "file_read": _named("Read", "path"),
    "file_write": _named("Write", "path"),
    "file_edit": _named("Change", "path"),
    "file_list": _named("Look at", "path"),
    "file_search": lambda args: f"Search for {args.get('text') or args.get('regex') or ''}",
    "web_fetch": _named("Read the page", "url"),
    "web_search": _named("Search the web for", "query"),
    "delegate": _named("Hand a task to", "worker"),
    "ask_owner": lambda args: "Ask you",
}


def step_words(tool: str, args: Args) -> str:
    """What a call is about, on one line. The arguments are the model's own: nothing is believed."""
    told = _WORDS.get(tool, lambda _: f"Call {tool}")(args)
    words = show(" ".join(told.split()))
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
