"""Markup in external text: what loads, hides or runs is taken out or made inert."""

import re
from collections import deque
from itertools import compress

from silas.context.rewriting import any_case, rewrite
from silas.context.roles import is_type, roles_among

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

_REST = r"""[^<>"']*+(?:>|(?>(?:(?:"[^"]*"|'[^']*')[^<>"']*+)+)>|[^<>]*+>)"""
"""The rest of a tag; quotes may hold its end, unless they are never closed."""

_UNSHOWN_END = re.compile(rf"</((?ai:{'|'.join(_UNSHOWN)}))\s*>")
"""Names of elements know no letters but ASCII ones: a long s or a dotless i makes another name."""

_UNSHOWN_ENDS = {name: re.compile(rf"</(?ai:{name})\s*>") for name in _UNSHOWN}
_UNSHOWN_ELEMENT = {
    name: re.compile(rf"<{name}\b{_REST}.*?</{name}\s*>", re.IGNORECASE | re.DOTALL)
    for name in _UNSHOWN
}
_COMMENT = re.compile(r"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_UNFINISHED = re.compile(
    rf"<(?=[!/\w])(?=!--|/?(?:{any_case(_LOADING.split('|'))})\b[^<>]*(?:<|\Z))"
)
_TAG = re.compile(rf"(</?[A-Za-z][\w:.-]*+{_REST})")
_TAG_PARTS = re.compile(r"<(/?)([A-Za-z][\w:.-]*+)([^\0]*)>\0")
"""Of tags that a NUL follows: no text has one that was made visible."""

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
_MAY_STYLE = re.compile(r":\s*+[\d.nhctri-]|=\s*+[\"']?t|\(\s*+0", re.IGNORECASE)
"""What each of these has in it, for a quick look."""

_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_HIDDEN = re.compile(r"[\s/\"']hidden(?=[\s=/]|\Z)", re.IGNORECASE)
_PAUSE = re.compile(r"<|\n[ \t]*\n|\Z")
"""Where a hidden element that is never closed is taken to end."""

_PARENTHESES = r"(?>(?:[^()\n]++|\n(?![ \t]*\n)|\([^()\n]*\))*)"
_IMAGE = re.compile(rf"!\[([^\[\]]*)\]\({_PARENTHESES}\)")
_REFERRED_IMAGE = re.compile(r"!\[(?<!\w!\[)([^\[\]]*)\]\[[^\[\]\n]*\]")
_IMAGE_START = re.compile(r"!\[(?!(?<=\w!\[)[^\[\]\n]*\](?!\())")
"""What may still begin an image; `vec![1, 2]` in a program does not."""

_GAP = r"[\s\\]*+"  # what a renderer may read over in a scheme
_SCRIPT = rf"{_GAP}(?:{_GAP.join('java')}|{_GAP.join('vb')}){_GAP}{_GAP.join('script')}\s*:"
_SCRIPT_LINK = re.compile(
    rf"\[([^\[\]]*)\]\(\s*+<?(?:{_SCRIPT}|data:(?=[\w.+-]+/|[,;])|file:(?=/)"
    rf"|(?:[^()\s&]*+&)+?(?:#|colon;|tab;|newline;)){_PARENTHESES}\)?",
    re.IGNORECASE,
)
_SCHEME = re.compile(r":(?<=t:)(?:(?<=\bjavascript:)|(?<=\bvbscript:))", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\n((?>(?:[ \t>*+-]|\d{1,9}[.)][ \t])*)\[(?:[^\[\]\\\n]++|\\.)+\]:\s*<?)"
    r"(?:h(ttps?):)?//([^\s/?#>]*)",
    re.IGNORECASE,
)


_Read = tuple[str, str, str]
"""What is read of a tag: the slash that closes, the name as it is written, the rest."""


def _read(parts: list[str]) -> dict[str, _Read]:
    """Every tag by its text: all in one search, and each but once however often it occurs."""
    tags = set(parts[1::2])
    return dict(zip(tags, _TAG_PARTS.findall("\0".join((*tags, ""))), strict=True))


def _kept_parts(tag: str, read: _Read, name: str, *, role: bool) -> tuple[str, str] | None:
    """What stays of a tag, and what right after a word; None where that is all of it."""
    close, _, rest = read
    opens_bare = not (close or rest)  # and is a type's argument where it comes after a word
    if role:
        words = f"‹{tag[1:-1]}›"
        return words, tag if opens_bare and is_type(name) else words
    if name in _TYPES:
        return "", tag if opens_bare else ""
    if name in _ACTIVE or (_ATTRIBUTES_BEGIN.match(rest) and _ATTRIBUTE.search(rest)):
        return "", ""
    return None


def _hides(rest: str) -> bool:
    """Whether attributes hide the element; most are passed over at first sight."""
    if _MAY_STYLE.search(rest) and _STYLED.search(rest):
        return True
    if rest.isascii() and "hidden" not in rest.lower():
        return False
    quoted = '"' in rest or "'" in rest
    return _HIDDEN.search(_QUOTED.sub('""', rest) if quoted else rest) is not None


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
    for name in sorted({name.lower() for name in set(_UNSHOWN_END.findall(text))}):
        last = deque(_UNSHOWN_ENDS[name].finditer(text), 1)
        closed = last[0].end() if last else 0
        text = _UNSHOWN_ELEMENT[name].sub("", text[:closed]) + text[closed:]
    return text


def _without_tags(text: str) -> str:
    """Drop what is hidden, loads or carries attributes; role elements become words.

    Each tag is looked at once by its text: a page repeats few of them many times.
    """
    parts = _TAG.split(text)  # text and tag in turn
    known = _read(parts)
    roles = roles_among({name.lower() for _, name, _ in known.values()})
    shown: dict[str, str] = {}
    glued: dict[str, str] = {}
    hiding: dict[str, str] = {}
    for tag, read in known.items():
        close, written, rest = read
        name = written.lower()
        if kept := _kept_parts(tag, read, name, role=name in roles):
            shown[tag], after_a_word = kept
            if after_a_word:
                glued[tag] = after_a_word
        if rest and not close and name not in _VOID and _hides(rest):
            hiding[tag] = name
    if hiding:
        _drop_hidden(parts, known, hiding)
    _put(parts, shown, glued)
    return "".join(parts)


def _put(parts: list[str], shown: dict[str, str], glued: dict[str, str]) -> None:
    """Put what stays of each tag in its place."""
    tags = parts[1::2]
    if shown:
        parts[1::2] = map(shown.get, tags, tags)
    if glued:
        for at in compress(range(len(tags)), parts[::2]):  # those that come after something
            if tags[at] in glued and _ends_in_a_word(parts[2 * at]):
                parts[2 * at + 1] = glued[tags[at]]


def _ends_in_a_word(text: str) -> bool:
    last = text[-1:]
    return last.isalnum() or last == "_"


def _drop_hidden(parts: list[str], known: dict[str, _Read], hiding: dict[str, str]) -> None:
    """Empty the parts of elements that are not shown, whose first tags are `hiding`, by name.

    One walk over the tags with a stack per name, so that a page full of unclosed elements costs
    no more than any other.
    """
    opened: dict[str, list[tuple[bool, int]]] = {name: [] for name in hiding.values()}
    lowered = {tag: name.lower() for tag, (_, name, _) in known.items()}
    counted = {tag: name for tag, name in lowered.items() if name in opened}
    spans: list[tuple[int, int]] = []
    for at, tag in enumerate(parts[1::2]):
        name = counted.get(tag)
        if name is None:
            continue
        if not known[tag][0]:
            opened[name].append((tag in hiding, 2 * at + 1))
        elif opened[name]:
            hides, since = opened[name].pop()
            if hides:
                spans.append((since, 2 * at + 2))
    for at in (at for left in opened.values() for hides, at in left if hides):
        parts[at] = ""
        if parts[at + 1]:
            parts[at + 1] = parts[at + 1][_pause(parts[at + 1]) :]
    emptied = 0
    for start, end in sorted(spans):
        if end > emptied:
            begin = max(start, emptied)
            parts[begin:end] = [""] * (end - begin)
            emptied = end


def _pause(text: str) -> int:
    found = _PAUSE.search(text)
    return len(text) if found is None else found.start()


def _without_loading_links(text: str) -> str:
    if "![" in text:
        text = rewrite(_IMAGE, text, "(image: ", ")")
        text = rewrite(_REFERRED_IMAGE, text, "(image: ", ")")
        if "](" in text:
            text = _IMAGE_START.sub("! [", text)
    if "](" in text:
        text = rewrite(_SCRIPT_LINK, text, "", "")
    if "]:" in text:
        text = _without_references("\n" + text)[1:]
    return text


def _without_references(text: str) -> str:
    """Link definitions that a person can read and no renderer follows."""
    pieces = _REFERENCE.split(text)
    if len(pieces) == 1:
        return text
    defanged = [
        f"\n{words}h{(scheme or 'ttp').lower().replace('tt', 'xx')}://{host.replace('.', '(.)')}"
        for words, scheme, host in zip(pieces[1::4], pieces[2::4], pieces[3::4], strict=True)
    ]
    whole = [""] * (2 * len(defanged) + 1)
    whole[::2], whole[1::2] = pieces[::4], defanged
    return "".join(whole)
