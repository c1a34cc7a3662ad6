"""Which folder a kind of file goes to, by its ending and by how it begins: tables alone."""

from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, str]] = {
    "Pictures": "jpg jpeg png gif webp bmp tif tiff heic heif svg avif ico raw cr2 nef arw psd",
    "Videos": "mp4 mov mkv avi webm m4v mpg mpeg wmv 3gp",
    "Music": "mp3 flac wav ogg m4a aac opus aiff mid midi",
    "Documents": "pdf doc docx odt rtf txt md pages epub tex ps",
    "Tables": "xls xlsx ods csv tsv numbers",
    "Slides": "ppt pptx odp key",
    "Archives": "zip tar gz tgz bz2 xz 7z rar zst",
    "Installers": "deb rpm appimage dmg pkg exe msi iso img flatpakref apk snap",
    "Code": "py js ts html htm css json xml yaml yml toml sql ipynb java c h cpp rs go rb sh",
    "Calendars and contacts": "ics vcf",
}
"""Folder and its endings, in the order in which a card shows them."""

KIND_OF: Final[Mapping[str, str]] = {
    ending: kind for kind, endings in KINDS.items() for ending in endings.split()
}

_ZIP, _OLE, _MZ, _ELF = b"PK", b"\xd0\xcf\x11\xe0", b"MZ", b"\x7fELF"

BEGINNINGS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "pdf": (b"%PDF", b"\xef\xbb\xbf%PDF"),
    "png": (b"\x89PNG",),
    **dict.fromkeys(("jpg", "jpeg"), (b"\xff\xd8\xff",)),
    "gif": (b"GIF8",),
    "webp": (b"RIFF",),
    **dict.fromkeys(("zip", "docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "apk"), (_ZIP,)),
    **dict.fromkeys(("gz", "tgz"), (b"\x1f\x8b",)),
    "bz2": (b"BZh",),
    "xz": (b"\xfd7zXZ",),
    "7z": (b"7z\xbc\xaf",),
    "rar": (b"Rar!",),
    "deb": (b"!<arch>",),
    "rpm": (b"\xed\xab\xee\xdb",),
    "exe": (_MZ,),
    "msi": (_OLE,),
    "flac": (b"fLaC", b"ID3"),
    "ogg": (b"OggS",),
    "wav": (b"RIFF",),
    "avi": (b"RIFF",),
}
"""How a file of this ending begins; one that begins otherwise is not what its name says."""

PROGRAMS: Final = (_MZ, _ELF)
"""How a program begins, whatever it is called."""

_BY_BEGINNING: Final[tuple[tuple[bytes, str], ...]] = (
    (b"%PDF", "Documents"),
    (b"\x89PNG", "Pictures"),
    (b"\xff\xd8\xff", "Pictures"),
    (b"GIF8", "Pictures"),
    (_ZIP, "Archives"),
    (b"\x1f\x8b", "Archives"),
)

UNFINISHED: Final = frozenset(
    ["part", "crdownload", "download", "partial", "tmp", "opdownload", "aria2"]
)
"""Endings of downloads that are under way."""


def ending_of(name: str) -> str:
    """The ending without its dot, in lower case; empty where there is none."""
    stem, dot, ending = name.rpartition(".")
    return ending.lower() if dot and stem else ""


def contradicts(ending: str, head: bytes) -> str:
    """What a file is not that its name says it is; empty where they agree or nothing is known."""
    if not head:
        return ""
    program = head.startswith(PROGRAMS)
    expected = BEGINNINGS.get(ending)
    if program and KIND_OF.get(ending, "Installers") != "Installers":
        return f"it is called .{ending} and begins as a program does"
    if expected is not None and not head.startswith(expected):
        return f"it is called .{ending} and does not begin as such a file does"
    return ""


def kind_by_beginning(head: bytes) -> str:
    """The kind of a file without a known ending, by its first bytes; empty where none fits."""
    return next((kind for begin, kind in _BY_BEGINNING if head.startswith(begin)), "")
