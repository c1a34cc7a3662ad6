"""Letters that look like others: which of them a card marks, so that no word passes for another.

A table-driven rule, not the whole list of confusable characters that Unicode keeps: prose in a
human language stays as it is, a word that only looks like one of another alphabet does not. Where
every character counts (paths, hosts, commands, names) cards mark whatever is not ASCII, but for the
letters of a word that shows its alphabet (`unmistakable`).
"""

import re
import unicodedata
from collections.abc import Iterator

_LOOK_LATIN = frozenset(
    "асеорухіјѕһԁԛԝӏв"  # Cyrillic
    "АВЕКМНОРСТУХІЈЅԌԚԜӀҮ"
    "ονικραυγχϲϳ"  # Greek
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ"
    "օսոհյցքզգ"  # Armenian
    "ՍՕԼՏ"
)  # fmt: skip
"""Letters of other alphabets that are drawn as Latin ones are."""

_MIX_WITH_LATIN = frozenset(
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}
)
"""Scripts that stand next to Latin letters in ordinary writing, and look like none of them."""

_PHONETIC = ((0x0250, 0x02AF), (0x1D00, 0x1DBF), (0xA720, 0xA7FF), (0xAB30, 0xAB6F))
"""Latin letters of phonetic writing: small capitals, script forms and the like."""

_TYPOGRAPHY = frozenset("’‘“”„«»–—…·•→←×°§€£")
"""Signs that stand between letters or digits in ordinary writing."""

_WHOLE = frozenset("ßẞæÆøØœŒþÞðÐłŁđĐħĦ")
"""Letters of Latin alphabets that are no ASCII letter with a mark, and look like none."""

_PLAINLY_MARKED = "\u017f"
"""The last of the letters that Europe's languages have; beyond it marks are small or doubled."""

_SHOWING = {
    "CYRILLIC": frozenset("джийлфцшщъыэюяДЖИЙЛФЦШЩЪЫЭЮЯ"),
    "GREEK": frozenset("δζθλξπςσφψωΓΔΘΛΞΠΣΦΨΩ"),
}
"""Letters that are like no Latin one, small capitals included: a word with one is read as its own
alphabet has it."""

_OF_ONE_LANGUAGE = ({"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK"}, {"HANGUL", "CJK"})
_LIKE_SIGNS = frozenset("ノ丿一丨丶ーヽヾ")
"""Letters of these that are drawn as a slash, a dash, a bar or a dot could be."""

_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile(r"\S+")
_MARKS = 3  # combining marks on one letter; more of them reach into other lines


def alike(text: str) -> frozenset[int]:
    """Where in one line of text stand characters that could be taken for others.

    Those are: another way of writing ordinary letters and digits (fullwidth, mathematical,
    ligatures, phonetic); in a run without blanks that has Latin letters, letters of another
    alphabet and foreign signs; a run that is made of letters alike to Latin ones alone, where the
    line has no word that shows its alphabet; and marks that would make a letter there is already.
    """
    if text.isascii():
        return frozenset()
    runs = [(m.start(), m.group()) for m in _RUN.finditer(text)]
    shown = {s for _, run in runs for c in run if c not in _LOOK_LATIN for s in _script(c)}
    return frozenset(at for start, run in runs for at in _in_run(run, start, shown))


def unmistakable(text: str) -> frozenset[int]:
    """Where in one line stand letters beyond ASCII that can be taken for nothing else.

    They are those of a word of one alphabet that shows it: of a Latin one a letter with its mark as
    one character (`ö`), or one of its own (`ß`); of Greek or Cyrillic a word in which a letter is
    unlike any Latin one; of Chinese, Japanese and Korean whatever is like no sign. Combining marks,
    digits of other scripts and what is read from the right are never among them.
    """
    if text.isascii():
        return frozenset()
    words = [(m.start(), m.group()) for m in _WORD.finditer(text) if not m.group().isascii()]
    whole = {start: word for start, word in words if _shows_its_alphabet(word)}
    return frozenset(
        start + at
        for start, word in whole.items()
        for at, c in enumerate(word)
        if not c.isascii() and c not in _LIKE_SIGNS and not _another_writing(c)
    )


def _shows_its_alphabet(word: str) -> bool:
    if unicodedata.normalize("NFC", word) != word:  # another one would look like it
        return False
    scripts = {script for c in word for script in _script(c)}
    if scripts == {"LATIN"}:
        return all(c.isascii() or c in _WHOLE or _is_marked(c) for c in word)
    if len(scripts) == 1 and (showing := _SHOWING.get(next(iter(scripts)))):
        return any(c in showing for c in word)
    return any(scripts <= of for of in _OF_ONE_LANGUAGE)


def _is_marked(character: str) -> bool:
    """Whether it is an ASCII letter with a mark that nobody overlooks, as one character.

    A dot below a letter, as in `ạ`, may be taken for dirt, and two marks for one.
    """
    plain = unicodedata.normalize("NFD", character)
    return character <= _PLAINLY_MARKED and plain != character and plain[0].isascii()


def _in_run(run: str, start: int, shown: set[str]) -> Iterator[int]:
    scripts = {script for c in run for script in _script(c)}
    mixed = "LATIN" in scripts
    letters = [c for c in run if c.isalpha()]
    borrowed = bool(letters) and all(c in _LOOK_LATIN for c in letters)
    for at, c in enumerate(run):
        if c.isascii():
            continue
        if (
            _another_writing(c)
            or (mixed and not _script(c) <= _MIX_WITH_LATIN)
            or (borrowed and not _script(c) <= shown)
            or _foreign_sign(run, at)
            or _odd_mark(run, at)
        ):
            yield start + at


def _script(character: str) -> frozenset[str]:
    """The alphabet of a letter, as its name begins; nothing for what is no letter."""
    if not character.isalpha():
        return frozenset()
    return frozenset({unicodedata.name(character, "UNKNOWN").split(" ", 1)[0]})


def _another_writing(character: str) -> bool:
    """Whether a letter or digit stands for others, or is one of phonetic writing."""
    category, code = unicodedata.category(character), ord(character)
    if category[0] != "L" and category != "Nd":
        return False
    plain = unicodedata.normalize("NFKC", character)
    # a letter that some alphabets write in two parts is its own
    stands_for = plain != character and (plain.isascii() or len(plain) == 1)
    return stands_for or any(first <= code <= last for first, last in _PHONETIC)


def _foreign_sign(run: str, at: int) -> bool:
    """Whether a sign stands between ASCII letters or digits where a slash or a dot could."""
    sign = run[at]
    if unicodedata.category(sign)[0] not in "PS" or sign in _TYPOGRAPHY:
        return False
    return all(c.isascii() and c.isalnum() for c in (run[at - 1 : at], run[at + 1 : at + 2]))


def _odd_mark(run: str, at: int) -> bool:
    """Whether a combining mark stands alone, in a crowd, or makes a letter that exists whole."""
    if unicodedata.category(run[at])[0] != "M":
        return False
    if at == 0 or len(unicodedata.normalize("NFC", run[at - 1 : at + 1])) == 1:
        return True
    before = run[max(at - _MARKS, 0) : at]
    return len(before) == _MARKS and all(unicodedata.category(c)[0] == "M" for c in before)
