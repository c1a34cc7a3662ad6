"""Text that poses as a voice: framing of Silas's own, role markers, tokens of chat formats.

It is rewritten so that it reads the same and means nothing. Every rule is one search without a
callback, so that a text that consists of nothing else costs no more than any other.
"""

import re
from collections.abc import Iterable, Iterator

from silas.context.rewriting import any_case, rewrite

_DASHES = (
    "\\-\u058a\u05be\u1400\u1806\u2010-\u2015\u2043\u2212\u23af\u2500\u2501\u2574\u2576\u2578\u257a"
    "\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d\u301c\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d"
    "\U00010ead"
)
_WIDE_LEAD = "\u3000\uff1e\uff0a\uff3f"
_LEAD = f" \t>#*_|`\\\\{_WIDE_LEAD}\uff03\uff5c"  # what Markdown puts before a line or around it
_FRAMING = re.compile(
    rf"\n(?!-----(?:BEGIN|END) [A-Z0-9 ]+-----)"  # keys and certificates
    rf"([{_LEAD}]*+)(?!--(?![{_DASHES}]))[{_DASHES}]{{2,}}+"  # `-- x --` is a comment of SQL
    rf"(?=[^\n\w]*\w)([^\n]*)(?<![{_DASHES}])[{_DASHES}]{{2,}}+([{_LEAD}]*+)(?=\r?(?:\n|\Z))"
)
_WIDE_DASH = re.compile(f"[{_DASHES}](?<!-)")

_VOICES = (
    "system", "assistant", "human", "developer", "bos", "eos", "start_of_turn", "end_of_turn",
    "silas", "invoke", "system[_-](?:reminder|prompt|message)",
    "tool_(?:results?|calls?|use|response)", r"antml:\w+", "function_(?:results?|calls?)",
    "function(?:=.*)?",
)  # fmt: skip
"""Element names with which chat formats mark who speaks and what is called."""

_ROLES = (
    *_VOICES,
    *("user", "model", "s", "tools?", "function", "parameter", "think(?:ing)?", "instructions?"),
)
"""The same, and names that are a type's after a word, as in `List<User>`."""

_VOICE = re.compile(rf"(?:[\w-]+:)?(?:{any_case(_VOICES)})")
_ROLE = rf"(?:[\w-]+:)?(?:{any_case(_ROLES)})"
_ROLE_AMONG = re.compile(rf"\0({_ROLE})(?=\0)")

_OPEN, _CLOSE, _SLASH = "[<\uff1c\ufe64]", "[>\uff1e\ufe65]", "[/\uff0f]"
_INSIDE = rf"({_SLASH}?{_ROLE}(?:\s[^<>\n\uff1c\uff1e\ufe64\ufe65]*)?){_CLOSE}"
_ELEMENT = re.compile(_OPEN + _INSIDE)
_WIDE_ELEMENT = re.compile(
    rf"{_OPEN}(?:(?<!<)|(?=[^<>\n\uff1c\uff1e\ufe64\ufe65]*[\uff1e\ufe65])){_INSIDE}"
)
"""One with a wide bracket; `List<User>` beside it is a type all the same."""
_TOKEN = re.compile(rf"{_OPEN}([|\uff5c](?!\s)[^<>|\uff5c\n]{{1,64}}(?<!\s)[|\uff5c]){_CLOSE}")
_BRACKETED = (
    "INST", "SYS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT", "AVAILABLE_TOOLS",
    "SYSTEM_PROMPT", "BOS", "EOS",
)  # fmt: skip
_BRACKETS = re.compile(
    rf"[\[\uff3b](?=[/\uff0f\w])(?<!\w\[)({_SLASH}?(?:{any_case(_BRACKETED)}))[\]\uff3d]"
)
_ANGLES = re.compile(rf"{_OPEN}{{2}}({_SLASH}?SYS){_CLOSE}{{2}}", re.IGNORECASE)
_TWO_ANGLES = ("<<", "\uff1c\uff1c", "<\uff1c", "\uff1c<", "\ufe64")
_HEADING = re.compile(
    rf"\n([ \t>{_WIDE_LEAD}]*[#\uff03\ufe5f]{{2,6}}[ \u3000]?"
    r"(?:System|Instruction|Input|Human|Assistant|User|Response))[:\uff1a]",
    re.IGNORECASE,
)
_SPEAKER = re.compile(
    rf"\n([ \t>*_{_WIDE_LEAD}]*(?:Human|Assistant|HUMAN|ASSISTANT|USER|SYSTEM)"
    rf"[ \t*_{_WIDE_LEAD}]*)[:\uff1a]"
)
_SPEAKERS = ("Human", "Assistant", "HUMAN", "ASSISTANT", "USER", "SYSTEM")
_COLON = "\ua789"  # reads as a colon, and no normalisation makes it one
"""What stands after a speaker's name instead of a colon."""


def roles_among(names: Iterable[str]) -> set[str]:
    """The names of elements that pose as a voice or a call; no name has a NUL in it."""
    return set(_ROLE_AMONG.findall("\0".join(("", *names, ""))))


def is_type(role: str) -> bool:
    """Whether the name of a role is as likely a type's, as in `List<User>`."""
    return not _VOICE.fullmatch(role)


def find_markers(text: str, besides: str = "") -> Iterator[tuple[int, int]]:
    """Where a text has a marker of a voice or of a call: from where to where.

    Args:
        text: What is looked at.
        besides: A text whose elements may stand where they stand, such as `List<User>`.
    """
    known = {found.span() for found in _ELEMENT.finditer(besides)}
    yield from (x.span() for x in _ELEMENT.finditer(text) if x.span() not in known)
    for pattern in (_TOKEN, _ANGLES, _BRACKETS):
        yield from (found.span() for found in pattern.finditer(text))
    for pattern in (_HEADING, _SPEAKER):
        for found in pattern.finditer("\n" + text):
            yield found.start(), found.end() - 1  # behind the line end that was put in front


def unframe(text: str) -> str:
    """No line of it can open or close a block of Silas's own: its dashes become tildes."""
    if "--" not in text and (text.isascii() or not _WIDE_DASH.search(text)):
        return text
    return rewrite(_FRAMING, "\n" + text, "\n", "~~~", "~~~", "")[1:]


def without_tokens(text: str) -> str:
    """Special tokens of chat formats, such as `<|im_start|>`, as words."""
    if "|" not in text and "\uff5c" not in text:
        return text
    return rewrite(_TOKEN, text, "‹", "›")


def without_speakers(text: str) -> str:
    """Bracketed tokens, headings and names of speakers, and wide role elements, as words."""
    if any(bracket in text for bracket in "\uff1c\ufe64\uff1e\ufe65"):
        text = rewrite(_WIDE_ELEMENT, text, "‹", "›")
    if any(angles in text for angles in _TWO_ANGLES):
        text = rewrite(_ANGLES, text, "(", ")")
    if "[" in text or "\uff3b" in text:
        text = rewrite(_BRACKETS, text, "(", ")")
    if "##" in text or "\uff03" in text or "\ufe5f" in text:
        text = rewrite(_HEADING, "\n" + text, "\n", _COLON)[1:]
    if any(speaker in text for speaker in _SPEAKERS):
        text = rewrite(_SPEAKER, "\n" + text, "\n", _COLON)[1:]
    return text
