"""The readable text of an HTML page: linear in its length, whatever the markup.

It is no browser: styles of other files are not known. What a page hides in its own markup from its
readers is hidden from the model, too, because nobody who looks at the page could warn of it.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple
from urllib.parse import urljoin

_OPENING = re.compile(r"<(?=/?[A-Za-z]|[!?])")
_NAME = re.compile(r"<(/?)([A-Za-z][^\s/>]*)")
_ATTRIBUTE = re.compile(
    r"\s*(?:/|([^\s\"'>/=][^\s>/=]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]*)))?|[^>])"
)
_SPACES = re.compile(r"\s+")
_MANY_LINES = re.compile(r"\n\s*\n\s*")
_MOST_LINK = 300  # characters of a link's address that is shown

_UNREAD = frozenset(
    {"script", "style", "template", "noscript", "iframe", "object", "svg", "math", "head", "select"}
)
"""Elements whose text no reader sees as text of the page."""

_RAW = {name: re.compile(rf"</{name}", re.IGNORECASE) for name in ("script", "style", "textarea")}
_TITLE_END = re.compile(r"</title", re.IGNORECASE)
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "dd", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tr", "ul"),
    }
)
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|opacity\s*:\s*0(?![.\d]*[1-9])",
    re.IGNORECASE,
)


class Tag(NamedTuple):
    """A tag as it stands; the name in lower case."""

    name: str
    closes: bool
    attributes: dict[str, str]


class PageText(NamedTuple):
    """What a page says."""

    title: str
    text: str


def text_of(html: str, base: str) -> PageText:
    """Title and text of a page; total, and linear in its length.

    Args:
        html: The page.
        base: Its address, for links.
    """
    reader = _Reader(base)
    for token in _tokens(html):
        if isinstance(token, str):
            reader.words(token)
        elif token.closes:
            reader.close(token.name)
        else:
            reader.open(token)
    return PageText(reader.title(), reader.text())


def _tokens(html: str) -> Iterator[Tag | str]:
    """Tags and the text between them. Each step moves on, or ends where nothing closes."""
    at = 0
    while at < len(html):
        opening = _OPENING.search(html, at)
        if opening is None:
            yield html[at:]
            return
        start = opening.start()
        if start > at:
            yield html[at:start]
        named = _NAME.match(html, start)
        if named is None:
            at = _end_of_markup(html, start)
            continue
        attributes, at = _attributes(html, named.end())
        tag = Tag(named[2].lower(), bool(named[1]), attributes)
        yield tag
        if tag.name in _RAW and not tag.closes:
            closing = _RAW[tag.name].search(html, at)
            if closing is None:
                return
            if tag.name == "textarea":
                yield html[at : closing.start()]
            at = closing.start()


def _end_of_markup(html: str, start: int) -> int:
    """Where a comment, declaration or instruction ends."""
    comment = html.startswith("<!--", start)
    closing = "-->" if comment else ">"
    end = html.find(closing, start + (4 if comment else 2))
    return len(html) if end < 0 else end + len(closing)


def _attributes(html: str, at: int) -> tuple[dict[str, str], int]:
    """The attributes of a tag, and where it ends."""
    found: dict[str, str] = {}
    while at < len(html) and html[at] != ">":
        one = _ATTRIBUTE.match(html, at)
        if one is None:
            break  # white space before the end of the tag or of the text
        name, *values = one.groups()
        if name:
            value = next((value for value in values if value is not None), "")
            found.setdefault(name.lower(), unescape(value))
        at = one.end()
    end = html.find(">", at)
    return found, len(html) if end < 0 else end + 1


class _Reader:
    """Collects what is seen."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._parts: list[str] = []
        self._title: list[str] = []
        self._in_title = False
        self._hidden = ""  # the outermost element that hides, and how deep in ones of its name
        self._depth = 0
        self._pre = 0
        self._link = ""

    def words(self, raw: str) -> None:
        """Text between tags."""
        text = unescape(raw)
        if self._in_title:
            self._title.append(text)
        elif not self._hidden:
            self._parts.append(text if self._pre else _SPACES.sub(" ", text))

    def open(self, tag: Tag) -> None:
        """An opening tag."""
        name = tag.name
        if self._hidden:
            self._depth += name == self._hidden and name not in _VOID
        if name == "title":
            self._in_title = not self._title
        elif self._hidden or name in _VOID:
            if name in ("br", "hr") and not self._hidden:
                self._parts.append("\n")
        elif name in _UNREAD or _hides(tag):
            self._hidden, self._depth = name, 1
        else:
            self._show_tag(tag)

    def _show_tag(self, tag: Tag) -> None:
        name = tag.name
        if name in _BLOCKS:
            self._parts.append("\n\n" if name in ("p", "pre") or name[0] == "h" else "\n")
        if name == "li":
            self._parts.append("- ")
        elif name in ("td", "th"):
            self._parts.append("\t")
        elif name == "pre":
            self._pre += 1
        elif name == "a":
            self._link = tag.attributes.get("href", "")

    def close(self, name: str) -> None:
        """A closing tag; one that nothing opened means nothing."""
        if name == "title":
            self._in_title = False
        if self._hidden:
            self._depth -= name == self._hidden
            if not self._depth:
                self._hidden = ""
            return
        if name in _BLOCKS:
            self._parts.append("\n")
        if name == "pre":
            self._pre = max(0, self._pre - 1)
        elif name == "a":
            self._parts.append(_shown_link(self._base, self._link))
            self._link = ""

    def title(self) -> str:
        """The title in one line."""
        return _SPACES.sub(" ", "".join(self._title)).strip()

    def text(self) -> str:
        """The text, with at most one empty line in a row."""
        lines = (line.rstrip() for line in "".join(self._parts).split("\n"))
        return _MANY_LINES.sub("\n\n", "\n".join(lines)).strip()


def _hides(tag: Tag) -> bool:
    given = tag.attributes
    return (
        "hidden" in given
        or given.get("aria-hidden", "").lower() == "true"
        or bool(_HIDING.search(given.get("style", "")))
    )


def _shown_link(base: str, link: str) -> str:
    """Where a link leads, if that is another page of the web."""
    if not link or link.startswith("#"):
        return ""
    try:
        full = urljoin(base, link.strip())
    except ValueError:
        return ""
    leads = full.startswith(("http://", "https://")) and len(full) <= _MOST_LINK
    return f" ({full})" if leads else ""
