"""What work printed, and what granted tools were told and answered, cut to what can be kept."""

import re
from collections.abc import Callable, Iterable

from silas.language import tr, tr_later
from silas.work.ledger import LedgerEntry
from silas.work.step_descriptions import call_words, has_own_words, step_words

LONGEST = 20_000
"""Characters of one run's output that are kept: the first and the last half."""

SHOWN_TOOLS = frozenset({"shell_exec", "python_exec", "file_list", "file_search"})
"""Tools whose answer is for the owner, too: what a program printed, and listings."""

_INDENT = "    "  # a line that a program printed; only Silas's own words begin at the margin
_ANSWER = 2_000  # characters of what a granted tool answered
_SUCCESS = "exit code 0\n"
_ALONE = "stdout ("
_HEAD = re.compile(
    r"exit code (?P<code>\d+)"
    r"(?:\n(?P<stream>stdout|stderr) \((?P<count>\d+) characters\):)?(?=\n|$)"
)
_STREAMS = {
    "stdout": tr_later("stdout ({count} characters):"),
    "stderr": tr_later("stderr ({count} characters):"),
}


def format_output(entries: Iterable[LedgerEntry], redact: Callable[[str], str]) -> str:
    """The output of an attempt: each call in plain words, below it what it put out, indented.

    The text came through the tool door, which cleaned it and took known secrets out of it; it is
    external, whatever it says.
    """
    parts = list[str]()
    for entry in entries:
        of_others = not has_own_words(entry.tool_name)
        if entry.tool_name not in SHOWN_TOOLS and not of_others:
            continue
        text = _plain(entry.result.return_value or entry.result.error or "").strip("\n")
        if of_others:  # a granted tool: what it was told is as good as what it answered
            call = call_words(entry.tool_name, entry.args, redact)
            answer = redact(text)
            text = answer if len(answer) <= _ANSWER else f"{answer[:_ANSWER]}…"
        else:
            call = redact(step_words(entry.tool_name, entry.args))
        if text.strip() or of_others:
            lines = "\n".join(f"{_INDENT}{line}" for line in text.split("\n"))
            parts.append(f"{call}\n{lines}" if text.strip() else call)
    return _cut_middle("\n".join(parts))


def _plain(text: str) -> str:
    """Without the headings where a program ended well and wrote to one stream alone."""
    if not text.startswith(_SUCCESS):
        return "" if text == _SUCCESS.strip() else _tell_head(text)
    rest = text.removeprefix(_SUCCESS)
    heading, _, body = rest.partition("\n")
    return body if heading.startswith(_ALONE) and "\nstderr (" not in body else rest


def _tell_head(text: str) -> str:
    """How a program ended and which stream comes first, in the owner's language."""
    head = _HEAD.match(text)
    if head is None:
        return text
    ended = tr("exit code {code}", code=head["code"])
    if head["stream"] is None:
        return f"{ended}{text[head.end() :]}"
    stream = tr(_STREAMS[head["stream"]], count=head["count"])
    return f"{ended}\n{stream}{text[head.end() :]}"


def _cut_middle(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    left_out = len(text) - 2 * half
    words = f"[{left_out:,} characters were left out here; {LONGEST:,} of a run are kept.]"
    return f"{text[:half]}\n{words}\n{_INDENT}{text[-half:]}"


PRINTED = tr_later("What it printed (not Silas's words)")


def printed_message(output: str) -> str:
    """The output as a message to the owner, under a heading that says whose words it is."""
    return f"{tr(PRINTED)}:\n{output}"
