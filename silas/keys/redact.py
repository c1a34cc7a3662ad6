"""Known secrets in text, as they are and in the encodings that programs print; and out of it.

What it cannot do: find a secret that a program took care to hide, by reversing or encrypting it, by
leaving letters out, or by printing half of it on each stream; nor one in an archive or encoding
that is not named here.

The redactor looks for every form of each secret at the end of the text, with as little as one
letter of it. That delays a few letters.
"""

import base64
import html
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from silas.keys.partial_secrets import half_escapes, unread_from

SHORTEST = 8
"""Characters of a secret: what is shorter would be found in the middle of ordinary words."""

_LINE = 16  # characters; a shorter line of a longer secret is no secret by itself
_CUT = 4  # characters; how little of a secret at the end of a cut output is taken for its beginning
_WINDOW = 1 << 20  # characters of a file that are looked at together
_UNPACKED = 1 << 26  # bytes of a compressed text that are looked at

Decode = Callable[[re.Match[str]], str]


class Needle(NamedTuple):
    """One form of one secret, as it is looked for in a view.

    Attributes:
        name: The secret's.
        text: What is looked for.
        before, after: How many characters around it may hold a part of the secret, too.
    """

    name: str
    text: str
    before: int = 0
    after: int = 0


class DecodedText(NamedTuple):
    """A text decoded; for each character where its source starts and ends, or no such places.

    Places cost much more than the text: they are kept only where something is to be replaced.
    """

    text: str
    starts: "array[int]"
    ends: "array[int]"

    def again(self, pattern: re.Pattern[str], decode: Decode) -> "DecodedText":
        """The view decoded once more; itself where there is nothing to decode."""
        if not self.starts:
            return self._replace(text=pattern.sub("" if decode is _nothing else decode, self.text))
        parts: list[str] = []
        starts, ends, at = array("Q"), array("Q"), 0
        for found in pattern.finditer(self.text):
            begin, end = found.span()
            plain = decode(found)
            parts += (self.text[at:begin], plain)
            starts += self.starts[at:begin]
            ends += self.ends[at:begin]
            starts.extend([self.starts[begin]] * len(plain))
            ends.extend([self.ends[end - 1]] * len(plain))
            at = end
        if not parts:
            return self
        starts += self.starts[at:]
        ends += self.ends[at:]
        return DecodedText("".join((*parts, self.text[at:])), starts, ends)


class _Span(NamedTuple):
    start: int
    end: int
    name: str


# Terminal sequences, control and invisible characters: cleaning a text for people takes them away,
# so a secret interrupted by them is whole again later.
_UNSEEN = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
    r"|[\x00-\x1a\x1c- \x7f-\xa0\xad\u034f\u061c\u115f\u1160"
    r"\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff0-\ufffb\ud800-\udfff\ue000-\uf8ff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e01ef]+|\x1b"
)
_BETWEEN_HEX = re.compile(r"\\x|0x|[:,\-\"'\[\]]")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_BACKSLASH = re.compile(
    r"(?:\\u[0-9A-Fa-f]{4})+|(?:\\x[0-9A-Fa-f]{2})+|\\[0-7]{3}|\\[nrtbfav0\"'\\/ $`!]"
)
_ENTITY = re.compile(r"""&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});|'"'"'|'\\''""")
"""Characters written as HTML has them, and a quote within quotes as a shell has it."""
_DUMP = re.compile(
    r"^[0-9A-Fa-f]{6,16}:?[ ]{1,2}(?P<bytes>[0-9A-Fa-f]{2}(?:[ ]{0,2}[0-9A-Fa-f]{2})*)"
    r"(?:[ ]{2,}[^\n]*)?(?:\n|\Z)",
    re.MULTILINE,
)
"""A line of `xxd` or `hexdump -C`: offset, bytes, the same as letters."""
_TRAILING = re.compile(rf"(?:{_UNSEEN.pattern}|{_BETWEEN_HEX.pattern})+\Z")
_PACKED = re.compile(r"H4sI[A-Za-z0-9+/_-]{16,}={0,2}")
_PACKED_HEX = re.compile(r"1f8b08[0-9a-f]{26,}", re.IGNORECASE)
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0"}
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def _nothing(found: re.Match[str]) -> str:
    del found
    return ""


def _text(octets: bytes) -> str:
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return octets.decode("latin-1")


def _percent(found: re.Match[str]) -> str:
    return _text(bytes.fromhex(found[0].replace("%", "")))


def _backslash(found: re.Match[str]) -> str:
    written = found[0]
    match written[1]:
        case "u":
            units = bytes.fromhex(written.replace("\\u", ""))
            return units.decode("utf-16-be", "replace")
        case "x":
            return _text(bytes.fromhex(written.replace("\\x", "")))
        case _ if len(written) == 4:
            return chr(int(written[1:], 8) & 0xFF)
        case letter:
            return _LETTERS.get(letter, letter)


def _decode_dump(found: re.Match[str]) -> str:
    return bytes.fromhex(found["bytes"].replace(" ", "")).decode("latin-1")


def _entity(found: re.Match[str]) -> str:
    return html.unescape(found[0]) if found[0].startswith("&") else "'"


def _lower(text: str) -> str:
    """Lower case in which every character keeps its place, whatever stands beside it."""
    plain = text.isascii() or not ("\u0130" in text or "\u03a3" in text)
    return text.lower() if plain else text.translate(_LOWER)


def _standard(text: str) -> str:
    """Base64 for URLs as the ordinary one."""
    return text.replace("-", "+").replace("_", "/")


def _secret_parts(value: str) -> set[str]:
    """A secret, and each line of one that has several: keys are printed line by line."""
    lines = (line.strip() for line in value.splitlines())
    long = {line for line in lines if len(line) >= _LINE and not line.startswith("-----")}
    return {value, value.strip(), *long} if len(value.splitlines()) > 1 else {value}


def _base64_cores(octets: bytes) -> Iterator[tuple[str, int, int]]:
    """What of its base64 form does not depend on what stands around it, at all three places."""
    for place in range(3):
        encoded = base64.b64encode(b"\0" * place + octets).decode("ascii")
        bits = (place + len(octets)) * 8
        first = -(-place * 8 // 6)
        yield encoded[first : bits // 6], int(place > 0), int(bits % 6 > 0)


class Redactor:
    """Finds a fixed set of secrets; text about them says `[secret NAME]` in their place.

    Args:
        secrets: Name and value of each.
    """

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        self._plain: list[Needle] = []
        self._squeezed: list[Needle] = []
        self._base64: list[Needle] = []
        self._hex: list[Needle] = []
        for name, value in secrets:
            for part in sorted(_secret_parts(value), key=len, reverse=True):
                self._learn(name, part)
        needles = (*self._plain, *self._base64, *self._hex)
        self._longest = max((len(needle.text) for needle in needles), default=0)

    def _learn(self, name: str, part: str) -> None:
        octets = part.encode("utf-8", "surrogatepass")
        self._plain.append(Needle(name, _lower(part)))
        if " " in part:
            self._plain.append(Needle(name, _lower(part.replace(" ", "+"))))
        squeezed = _UNSEEN.sub("", part)
        if len(squeezed) >= SHORTEST:
            self._squeezed.append(Needle(name, _lower(squeezed)))
        self._base64 += [Needle(name, *core) for core in _base64_cores(octets)]
        self._hex.append(Needle(name, octets.hex()))

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._plain)

    def redact(self, text: str, *, cut: bool = False) -> str:
        """The text without any known secret. Total and idempotent.

        Args:
            text: What is about to be stored or shown.
            cut: It ends where a limit was, so a secret may have only begun.
        """
        least = _CUT if cut else 0
        if not any(self._spans(_bare(text), least)):
            return text
        return self._remove_spans(text, self._spans(_place_text(text), least))

    @staticmethod
    def _remove_spans(text: str, spans: Iterable[_Span]) -> str:
        parts: list[str] = []
        at = 0
        for span in _merge_spans(spans):
            parts += [text[at : span.start], f"[secret {span.name}]"]
            at = span.end
        return "".join((*parts, text[at:]))

    def redact_begun(self, text: str) -> str:
        """As `redact`, of a text that goes on: it ends before where a secret may have begun."""
        if not self:
            return text
        end = self._begins(text, unread_from(text))
        if not any(self._spans(_bare(text), 0)):
            return text[:end]
        spans = list(self._spans(_place_text(text), 0))
        while through := [span.start for span in spans if span.start < end < span.end]:
            end = min(through)
        return self._remove_spans(text[:end], (span for span in spans if span.end <= end))

    def _begins(self, text: str, end: int) -> int:
        """Where in the last part of a text a secret may begin; its end where none does."""
        first = max(0, end - self._longest * 6 - 64)
        for cut in (end, *half_escapes(text, end)):
            tail = _TRAILING.sub("", text[first:cut])
            for span in self._spans(_place_text(tail), 1):
                if span.end == len(tail):
                    end = min(end, first + span.start)
        return end

    def names_in(self, text: str) -> tuple[str, ...]:
        """Which secrets a text holds, by name."""
        return tuple(sorted({span.name for span in self._spans(_bare(text), 0)}))

    def names_in_file(self, chunks: Iterable[bytes]) -> tuple[str, ...]:
        """Which secrets a file holds, by name; a gzip file is looked into."""
        overlap, found, text = self._longest * 6 + 64, set[str](), ""
        for chunk in _unpack_chunks(chunks):
            text += chunk.decode("utf-8", "replace")
            if len(text) >= _WINDOW:
                found.update(self.names_in(text))
                text = text[-overlap:]
        return tuple(sorted(found.union(self.names_in(text))))

    def _spans(self, raw: DecodedText, least: int) -> Iterator[_Span]:
        if not self:
            return
        backslash = raw.again(_BACKSLASH, _backslash)
        percent = raw.again(_PERCENT, _percent)
        once = (raw, backslash, percent)
        twice = (backslash.again(_BACKSLASH, _backslash), percent.again(_PERCENT, _percent))
        others = (raw.again(_ENTITY, _entity), raw.again(_DUMP, _decode_dump))
        for view in _different((*once, *twice, *others)):
            yield from _find_spans(view, _lower(view.text), self._plain, least)
        for view in _different(once):
            tight = view.again(_UNSEEN, _nothing)
            yield from _find_spans(tight, _lower(tight.text), self._squeezed, least)
            yield from _find_spans(tight, _standard(tight.text), self._base64, least)
            yield from self._find_in_packed(tight)
        digits = raw.again(_UNSEEN, _nothing).again(_BETWEEN_HEX, _nothing)
        yield from _find_spans(digits, _lower(digits.text), self._hex, least)

    def _find_in_packed(self, view: DecodedText) -> Iterator[_Span]:
        """Secrets in compressed text that was printed as letters."""
        for pattern, read in ((_PACKED, _from_base64), (_PACKED_HEX, bytes.fromhex)):
            for found in pattern.finditer(view.text):
                even = found[0][: len(found[0]) // 2 * 2]
                for name in self.names_in(_text(_unzip(read(even)))):
                    yield _span(view, *found.span(), name)


def _different(views: tuple[DecodedText, ...]) -> Iterator[DecodedText]:
    """Each view once; most texts have nothing to decode."""
    seen: list[str] = []
    for view in views:
        if not any(view.text is text for text in seen):
            seen.append(view.text)
            yield view


def _find_spans(
    view: DecodedText, searched: str, needles: Iterable[Needle], least: int
) -> Iterator[_Span]:
    for needle in needles:
        at = searched.find(needle.text)
        while at >= 0:
            yield _around(view, searched, needle, at, len(needle.text))
            at = searched.find(needle.text, at + 1)
        longest = min(len(needle.text), len(searched)) if least else 0
        for length in range(longest, least - 1, -1) if longest else ():
            if searched.endswith(needle.text[:length]):
                yield _around(view, searched, needle, len(searched) - length, length)
                break


def _around(view: DecodedText, searched: str, needle: Needle, at: int, length: int) -> _Span:
    start, end = max(0, at - needle.before), min(len(searched), at + length + needle.after)
    if needle.before or needle.after:
        end += len(searched[end : end + 2]) - len(searched[end : end + 2].lstrip("="))
    return _span(view, start, end, needle.name)


def _span(view: DecodedText, start: int, end: int, name: str) -> _Span:
    return _Span(view.starts[start], view.ends[end - 1], name) if view.starts else _Span(0, 0, name)


def _bare(text: str) -> DecodedText:
    return DecodedText(text, array("Q"), array("Q"))


def _place_text(text: str) -> DecodedText:
    numbers = array("Q", range(len(text) + 1))
    return DecodedText(text, numbers[:-1], numbers[1:])


def _merge_spans(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Spans in order, those that overlap as one."""
    ordered = sorted(spans, key=lambda span: (span.start, -span.end))
    if not ordered:
        return
    current = ordered[0]
    for span in ordered[1:]:
        if span.start < current.end:
            current = current._replace(end=max(current.end, span.end))
        else:
            yield current
            current = span
    yield current


def _from_base64(text: str) -> bytes:
    plain = _standard(text).rstrip("=")
    return base64.b64decode(plain[: len(plain) // 4 * 4])


def _unzip(octets: bytes) -> bytes:
    """As much of a gzip text as can be read."""
    try:
        return zlib.decompressobj(31).decompress(octets, _WINDOW)
    except zlib.error:
        return b""


def _unpack_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """A file's content; of a gzip file what is in it, up to a ceiling."""
    zipped, left = None, _UNPACKED
    for number, chunk in enumerate(chunks):
        if number == 0 and chunk.startswith(b"\x1f\x8b"):
            zipped = zlib.decompressobj(31)
        if zipped is None:
            yield chunk
            continue
        data = chunk
        while data and left > 0:
            try:
                plain = zipped.decompress(data, min(left, _WINDOW))
            except zlib.error:
                return
            left -= len(plain)
            yield plain
            data = zipped.unconsumed_tail
