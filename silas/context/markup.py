"""Markup in external text: what loads, hides or poses as a role is taken out or made inert."""

import re

NEUTRAL = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "!": "ǃ", "-": "‐"})
"""The last resort for text that keeps uncovering markup: none of its signs means anything."""

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]*)(?P<rest>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>"
)
_LOADING = frozenset(
    {
        "applet",
        "audio",
        "base",
        "embed",
        "frame",
        "frameset",
        "iframe",
        "img",
        "input",
        "link",
        "meta",
        "noscript",
        "object",
        "script",
        "source",
        "style",
        "svg",
        "template",
        "textarea",
        "title",
        "track",
        "video",
    }
)
"""Elements that load something, run, or never show their text."""

_SWALLOW = frozenset({"script", "style", "template", "noscript", "title", "iframe", "textarea"})
"""Elements whose text no reader sees."""

_ROLES = frozenset(
    {
        "system",
        "assistant",
        "user",
        "human",
        "developer",
        "tool_result",
        "tool_results",
        "tool_call",
        "tool_calls",
        "tool_use",
        "tool_response",
        "function_result",
        "function_results",
        "function_call",
        "function_calls",
        "invoke",
        "parameter",
        "thinking",
        "system_reminder",
        "instructions",
        "silas",
    }
)
"""Element names with which chat formats mark who speaks."""

_ATTRIBUTE = re.compile(
    r"\s(?:on\w+|style|href|src\w*|title|alt|aria-\w+|data-[\w-]+|class|id|name|content|value"
    r"|placeholder|action|background|poster|xlink:href)\s*=",
    re.IGNORECASE,
)
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]*[1-9])"
    r"|\shidden(?=[\s=/]|$)|aria-hidden\s*=\s*[\"']?true",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(rf"<(?=!--|/?(?:{'|'.join(sorted(_LOADING))})\b)", re.IGNORECASE)
_SPECIAL = re.compile(r"<([|｜])([^<>|｜\n]{1,64})([|｜])>")
_INST = re.compile(r"\[(/?INST|/?SYS)\]|<<(/?SYS)>>", re.IGNORECASE)
_IMAGE = re.compile(r"!\[([^\[\]\n]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|\[[^\[\]\n]*\])")
_IMAGE_START = re.compile(r"!\[(?=[^\n]{0,400}\][(\[])")
_SCRIPT_LINK = re.compile(
    r"\[([^\[\]\n]*)\]\(\s*<?(?:javascript|vbscript|data|file):"
    r"[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(javascript|vbscript):", re.IGNORECASE)
_REFERENCE = re.compile(
    r"^([ \t>]*\[[^\[\]\n]+\]:\s*<?)(https?)://([^\s/?#>]*)", re.MULTILINE | re.I
)


def neutralise_markup(text: str) -> str:
    """One pass; `scrub` repeats it until nothing changes."""
    if "<" in text:
        text = _comments(text)
        text = _tags(text)
        text = _SPECIAL.sub(r"‹\1\2\3›", text)
        text = _UNFINISHED.sub("‹", text)
    if "[" in text:
        text = _INST.sub(lambda found: f"({found[1] or found[2]})", text)
        text = _IMAGE.sub(r"(image: \1)", text)
        text = _IMAGE_START.sub("! [", text)
        text = _SCRIPT_LINK.sub(r"\1", text)
        text = _REFERENCE.sub(_defang, text)
    return _SCHEME.sub(r"\1 :", text) if ":" in text else text


def _comments(text: str) -> str:
    """Drop `<!-- ... -->`; what is never closed stays and is made inert later."""
    kept: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return "".join([*kept, text[at:]])


def _defang(found: re.Match[str]) -> str:
    """A link definition that a person can read and no renderer follows."""
    lead, scheme, host = found.groups()
    return f"{lead}{scheme.lower().replace('tt', 'xx')}://{host.replace('.', '(.)')}"


def _tags(text: str) -> str:
    """Drop elements that hide, load or carry attributes; make role elements inert; keep the rest.

    One walk over all tags with a stack of hidden elements by name, so that a page full of unclosed
    elements costs no more than any other.
    """
    tags = list(_TAG.finditer(text))
    hidden = _hidden_spans(tags)
    kept: list[str] = []
    at = 0
    for index, tag in enumerate(tags):
        if tag.start() < at:
            continue
        kept.append(text[at : tag.start()])
        at = tag.end()
        if index in hidden:
            at = hidden[index]
        else:
            kept.append(_shown(tag))
    kept.append(text[at:])
    return "".join(kept)


def _hidden_spans(tags: list[re.Match[str]]) -> dict[int, int]:
    """For each tag that opens a hidden element that is closed: where the element ends."""
    open_tags: dict[str, list[int]] = {}
    spans: dict[int, int] = {}
    for index, tag in enumerate(tags):
        name = tag["name"].lower()
        if not tag["close"]:
            open_tags.setdefault(name, []).append(index)
        elif open_tags.get(name):
            start = open_tags[name].pop()
            if name in _SWALLOW or _HIDDEN.search(tags[start]["rest"]):
                spans[start] = tag.end()
    return spans


def _shown(tag: re.Match[str]) -> str:
    """What stays of one tag: nothing, an inert form, or itself."""
    name = tag["name"].lower()
    if name.split(":")[0] == "antml" or name.replace("-", "_").split(":")[-1] in _ROLES:
        return f"‹{tag.group()[1:-1]}›"
    if name in _LOADING or _ATTRIBUTE.search(tag["rest"]):
        return ""
    return tag.group()
