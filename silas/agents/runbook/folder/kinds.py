"""What people call kinds of files, and orders that they are shown in."""

import re
from collections.abc import Mapping
from typing import Final

_ENDINGS: Final = """
pdf: pdf
picture image photo foto bild bilder: jpg jpeg png gif heic webp svg bmp tif tiff
video movie film filme: mp4 mov mkv avi webm m4v
song track audio lied lieder musik music: mp3 flac ogg wav m4a opus
document dokument dokumente: pdf doc docx odt rtf txt md
text texte: txt md
word: doc docx
spreadsheet excel tabelle tabellen: xls xlsx ods csv
presentation slide präsentation: ppt pptx odp
archive archiv zip: zip tar gz tgz bz2 xz 7z rar
python: py
javascript: js mjs cjs
typescript: ts tsx
markdown: md
html: html htm
csv: csv
json: json
xml: xml
yaml: yaml yml
jpg jpeg: jpg jpeg
png: png
gif: gif
mp3: mp3
mp4: mp4
docx: docx
xlsx: xlsx
txt: txt
md: md
"""

ALL_KINDS: Final = frozenset({"file", "files", "datei", "dateien", "everything", "alles"})
"""What people call files of every kind."""


def _kinds() -> Mapping[str, tuple[str, ...]]:
    found = dict[str, tuple[str, ...]]()
    for line in _ENDINGS.strip().split("\n"):
        names, _, endings = line.partition(":")
        patterns = tuple(f"*.{one}" for one in endings.split())
        found |= {form: patterns for name in names.split() for form in (name, f"{name}s")}
    return found


KINDS: Final = _kinds()
"""Kinds of files as people call them, and the patterns of their names."""

ORDERS: Final = {
    **dict.fromkeys(("biggest", "largest", "größte", "größten", "groesste"), "biggest"),
    **dict.fromkeys(("smallest", "kleinste", "kleinsten"), "smallest"),
    **dict.fromkeys(("newest", "latest", "neueste", "neuesten", "neuste", "neusten"), "newest"),
    **dict.fromkeys(("oldest", "älteste", "ältesten"), "oldest"),
}
"""Words for an order of files, and which one it is."""


def patterns_of_kind(said: str) -> str | None:
    """The patterns of names, with blanks between, of a kind of files; None for other words."""
    word = (
        said.lower().removeprefix(".").rstrip(",").removesuffix("-dateien").removesuffix("-files")
    )
    if word in ALL_KINDS:
        return "*"
    if re.fullmatch(r"\*\.\w{1,8}", word):
        return word
    return " ".join(KINDS[word]) if word in KINDS else None
