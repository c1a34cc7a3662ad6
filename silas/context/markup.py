"""Markup in external text: what loads, hides or runs is taken out or made inert."""

import re
from typing import NamedTuple

from silas.context.roles import is_role, is_type

NEUTRAL = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "!": "ǃ", "-": "‐"})
"""The last resort for text that keeps uncovering markup: none of its signs means anything."""

_LOADING = "applet|audio|embed|frameset|iframe|img|meta|noscript|script|style|svg|textarea|video"
_ACTIVE = frozenset(_LOADING.split("|"))
_TYPES = frozenset(
    ("base", "frame", "image", "input", "link", "object", "source", "template", "title", "track")
)
"""Elements that load something, run, or never show their text.

The second are also names of types: after a word and without attributes they are one, as in
`Promise<object>`.
"""

_EMPTY = "area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
_VOID = frozenset(_EMPTY.split("|"))
"""Elements without a content that could be hidden."""

_UNSHOWN = ("script", "style", "template", "noscript", "title", "iframe", "textarea")
"""Elements whose text no reader sees."""

_REST = r"""(?:(?:[^<>"']++|"[^"]*"|'[^']*')*+>|[^<>]*+>)"""
"""The rest of a tag; quotes may hold its end, unless they are never closed."""

_UNSHOWN_END = re.compile(rf"</((?ai:{'|'.join(_UNSHOWN)}))\s*>")
"""Names of elements know no letters but ASCII ones: a long s or a dotless i makes another name."""

_UNSHOWN_ELEMENT = {
    name: re.compile(rf"<{name}\b{_REST}.*?</{name}\s*>", re.IGNORECASE | re.DOTALL)
    for name in _UNSHOWN
}
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_UNFINISHED = re.compile(
    rf"<(?=!--|/?[aefimnstv])(?=!--|/?(?:{_LOADING})\b[^<>]*(?:<|\Z))", re.IGNORECASE
)
_TAG = re.compile(rf"(</?[A-Za-z][\w:.-]*+{_REST})")
_TAG_PARTS = re.compile(r"<(/?)([A-Za-z][\w:.-]*+)(.*)>", re.DOTALL)

_ATTRIBUTE = re.compile(
    r"[\s/\"'](?:on\w+|style|href|src\w*|title|alt|aria-\w+|data-[\w-]+|class|id|name|content"
    r"|value|placeholder|action|background|poster|xlink:href)\s*=(?!=)",
    re.IGNORECASE,
)
_ATTRIBUTES_BEGIN = re.compile(r"[\s/]+[\w:@.#*\"'-]")
"""What follows a tag's name, but not a comparison in a program such as `a <b && c > d`."""

_STYLED = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|content-visibility\s*:\s*hidden"
    r"|font-size\s*:\s*(?:[01](?:\.\d+)?p[xt]|0+(?![.\d]*[1-9]))"
    r"|opacity\s*:\s*(?:0+(?:\.0\d*)?|\.0\d*)(?![.\d])|color\s*:\s*transparent"
    r"|(?:left|top|right|bottom|text-indent)\s*:\s*-\d{3,}"
    r"|(?<![\w-])(?:max-width|max-height|height)\s*:\s*0(?![.\d]*[1-9])"
    r"|clip\s*:\s*rect\(\s*0|clip-path\s*:\s*inset\(\s*(?:50|100)%|scale\(\s*0\s*\)"
    r"|aria-hidden\s*=\s*[\"']?true",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HIDDEN = re.compile(r"[\s/\"']hidden(?=[\s=/]|\Z)", re.IGNORECASE)
_PAUSE = re.compile(r"<|\n[ \t]*\n|\Z")
"""Where a hidden element that is never closed is taken to end."""

_PARENTHESES = r"(?:[^()\n]++|\n(?![ \t]*\n)|\([^()\n]*\))*+"
_IMAGE = re.compile(rf"!\[([^\[\]]*)\]\({_PARENTHESES}\)")
_REFERRED_IMAGE = re.compile(r"!\[(?<!\w!\[)([^\[\]]*)\]\[[^\[\]\n]*\]")
_IMAGE_START = re.compile(r"!\[(?!(?<=\w!\[)[^\[\]\n]*\](?!\())")
"""What may still begin an image; `vec![1, 2]` in a program does not."""

_GAP = r"[\s\\]*+"  # what a renderer may read over in a scheme
_SCRIPT = rf"{_GAP}(?:{_GAP.join('java')}|{_GAP.join('vb')}){_GAP}{_GAP.join('script')}\s*:"
_SCRIPT_LINK = re.compile(
    rf"\[([^\[\]]*)\]\(\s*+<?(?:{_SCRIPT}|data:(?=[\w.+-]+/|[,;])|file:(?=/)"
    rf"|[^()\s]*?&(?:#|colon;|tab;|newline;)){_PARENTHESES}\)?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r":(?<=\bjavascript:)|:(?<=\bvbscript:)", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\n((?:[ \t>*+-]|\d{1,9}[.)][ \t])*+\[(?:[^\[\]\\\n]|\\.)+\]:\s*<?)"
    r"(?:h(?P<scheme>ttps?):)?//(?P<host>[^\s/?#>]*)",
    re.IGNORECASE,
)


class _Tag(NamedTuple):
    """What is known of one tag by its text alone.

    Attributes:
        name: In lower case.
        opens: Whether it opens an element.
        hides: Whether that element can hold text and does not show it.
        shown: What stays of it.
        glued: What stays of it right after a word, where it may be a type's argument.
    """

    name: str
    opens: bool
    hides: bool
    shown: str
    glued: str


def _read(text: str) -> _Tag:
    [(close, written, rest)] = _TAG_PARTS.findall(text)
    name, opens, bare = written.lower(), not close, not rest
    shown, glued = text, text
    if is_role(name):
        shown = f"‹{text[1:-1]}›"
        glued = text if bare and opens and is_type(name) else shown
    elif name in _ACTIVE or name in _TYPES:
        shown, glued = "", text if bare and opens and name in _TYPES else ""
    elif _ATTRIBUTES_BEGIN.match(rest) and _ATTRIBUTE.search(rest):
        shown, glued = "", ""
    return _Tag(name, opens, opens and name not in _VOID and _hides(rest), shown, glued)


def _hides(rest: str) -> bool:
    return bool(_STYLED.search(rest) or _HIDDEN.search(_QUOTED.sub('""', rest)))


def without_markup(text: str) -> str:
    """One pass; `scrub` repeats it until nothing changes."""
    if "<" in text:
        text = _without_tags(_without_unshown(_without_comments(text)))
        text = _UNFINISHED.sub("‹", text)
    if "[" in text:
        text = _without_loading_links(text)
    return _SCHEME.sub(" :", text) if ":" in text else text


def _without_comments(text: str) -> str:
    """Drop `<!-- ... -->`; what is never closed stays and is made inert later."""
    closed = max(text.rfind("-->") + 3, text.rfind("--!>") + 4)
    return _COMMENT.sub("", text[:closed]) + text[closed:] if closed > 3 else text


def _without_unshown(text: str) -> str:
    """Drop scripts, styles and the like with their text; looks no further than the last end."""
    names = {found[1].lower() for found in _UNSHOWN_END.finditer(text)}
    for name in sorted(names):
        ends = [found.end() for found in _UNSHOWN_END.finditer(text) if found[1].lower() == name]
        closed = max(ends, default=0)
        text = _UNSHOWN_ELEMENT[name].sub("", text[:closed]) + text[closed:]
    return text


def _without_tags(text: str) -> str:
    """Drop what is hidden, loads or carries attributes; role elements become words.

    Each tag is looked at once by its text: a page repeats few of them many times.
    """
    parts = _TAG.split(text)  # text and tag in turn
    known = {tag: _read(tag) for tag in set(parts[1::2])}
    if any(tag.hides for tag in known.values()):
        _drop_hidden(parts, known)
    changed = {of: tag for of, tag in known.items() if not of == tag.shown == tag.glued}
    if changed:
        for at in range(1, len(parts), 2):
            tag = changed.get(parts[at])
            if tag is not None:
                before = parts[at - 1][-1:]
                parts[at] = tag.glued if before.isalnum() or before == "_" else tag.shown
    return "".join(parts)


def _drop_hidden(parts: list[str], known: dict[str, _Tag]) -> None:
    """Empty the parts of elements that are not shown.

    One walk over the tags with a stack per name, so that a page full of unclosed elements costs
    no more than any other.
    """
    names = {tag.name for tag in known.values() if tag.hides}
    opened: dict[str, list[tuple[bool, int]]] = {name: [] for name in names}
    spans: list[tuple[int, int]] = []
    for at in range(1, len(parts), 2):
        tag = known[parts[at]]
        if tag.name not in names:
            continue
        if tag.opens:
            opened[tag.name].append((tag.hides, at))
        elif opened[tag.name]:
            hides, since = opened[tag.name].pop()
            if hides:
                spans.append((since, at + 1))
    for left in opened.values():
        for hides, at in left:
            if hides:
                parts[at + 1] = parts[at + 1][_pause(parts[at + 1]) :]
                spans.append((at, at + 1))
    emptied = 0
    for start, end in sorted(spans):
        for at in range(max(start, emptied), end):
            parts[at] = ""
        emptied = max(emptied, end)


def _pause(text: str) -> int:
    found = _PAUSE.search(text)
    return len(text) if found is None else found.start()


def _without_loading_links(text: str) -> str:
    text = _IMAGE.sub(r"(image: \1)", text)
    text = _REFERRED_IMAGE.sub(r"(image: \1)", text)
    if "](" in text:
        text = _IMAGE_START.sub("! [", text)
        text = _SCRIPT_LINK.sub(r"\1", text)
    if "]:" in text:
        text = _REFERENCE.sub(_defanged, "\n" + text)[1:]
    return text


def _defanged(found: re.Match[str]) -> str:
    """A link definition that a person can read and no renderer follows."""
    scheme = (found["scheme"] or "ttp").lower().replace("tt", "xx")
    return f"\n{found[1]}h{scheme}://{found['host'].replace('.', '(.)')}"
