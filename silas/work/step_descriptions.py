"""A tool call in plain words, for a person who watches: `Run pytest -q`, `Read src/a.py`."""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any, cast

from silas.language import tr, tr_later
from silas.plans import show

_LONGEST = 160  # characters
_LONGEST_CALL = 500

Args = Mapping[str, Any]


def _argv(args: Args) -> str:
    words: object = args.get("argv")
    listed = cast(list[object], words) if isinstance(words, list) else []
    return shlex.join(map(str, listed))


def _words_with_argument(sentence: str, name: str) -> Callable[[Args], str]:
    """The sentence with one argument as it is."""

    def words(args: Args) -> str:
        return tr(sentence, what=args.get(name) or "")

    return words


_WORDS: Mapping[str, Callable[[Args], str]] = {
    "shell_exec": lambda args: tr("Run {what}", what=_argv(args)),
    "python_exec": _words_with_argument(tr_later("Run Python {what}"), "script"),
    "file_read": _words_with_argument(tr_later("Read {what}"), "path"),
    "file_write": _words_with_argument(tr_later("Write {what}"), "path"),
    "file_edit": _words_with_argument(tr_later("Change {what}"), "path"),
    "file_list": _words_with_argument(tr_later("Look at {what}"), "path"),
    "file_search": lambda args: tr(
        "Search for {what}", what=args.get("text") or args.get("regex") or ""
    ),
    "web_fetch": _words_with_argument(tr_later("Read the page {what}"), "url"),
    "web_search": _words_with_argument(tr_later("Search the web for {what}"), "query"),
    "delegate": _words_with_argument(tr_later("Hand a task to {what}"), "worker"),
    "ask_owner": lambda args: tr("Ask you"),
}


def step_words(tool: str, args: Args) -> str:
    """What a call is about, on one line. The arguments are the model's own: nothing is believed."""
    told = _WORDS.get(tool, lambda _: tr("Call {tool}", tool=tool))(args)
    words = show(" ".join(told.split()))
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def has_own_words(tool: str) -> bool:
    """Whether a tool is one of Silas's own, whose calls are told in words."""
    return tool in _WORDS


def call_words(tool: str, args: Args, redact: Callable[[str], str]) -> str:
    """A call of any other tool with its arguments, on one line, without known secrets.

    Args:
        tool: Its name.
        args: The model's own: nothing is believed.
        redact: Takes secrets out, before anything is cut in two.
    """
    told = redact(json.dumps(dict(args), ensure_ascii=False, default=str)) if args else ""
    words = show(" ".join(f"{step_words(tool, args)} {told}".split()))
    return words if len(words) <= _LONGEST_CALL else f"{words[:_LONGEST_CALL]}…"
