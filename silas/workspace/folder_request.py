"""What somebody wants of batches, recognised by code: no model is asked for any of this."""

import os
import re
from pathlib import Path
from typing import Final, Literal, NamedTuple

BatchAction = Literal["tidy", "undo"]


class BatchRequest(NamedTuple):
    """What is wanted.

    Attributes:
        wanted: What to do.
        place: The folder in the owner's words, with `tidy`.
        which: The batch, with `undo`; empty for the last one.
        numbers: Its files, with `undo`; empty for all.
    """

    wanted: BatchAction
    place: str = ""
    which: str = ""
    numbers: tuple[int, ...] = ()


MOST_CHARACTERS: Final = 300

_POLITE: Final = (
    r"(?:(?:hi|hey|hello|hallo|ok(?:ay)?|so|please|bitte|silas)[\s,:!]+)*"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|(?:kannst|könntest)\s+du\s+(?:bitte\s+)?)?"
)
_FOLDER: Final = r"(?:\s+(?:folder|directory|ordner|verzeichnis))?"
_MY: Final = r"(?:(?:my|the|this|meine[nm]?|mein|den|die|das|diesen)\s+)?"
_NAMES: Final = (
    r"downloads?|desktop|schreibtisch|documents?|dokumente?|pictures|bilder|music|musik|videos?"
)
_PLACE: Final = (
    rf"(?:(?:folder|directory|ordner|verzeichnis)\s+)?"
    rf"(?P<place>{_NAMES}|(?:~|\.{{0,2}})/\S[^\n]*?|\"[^\"\n]+\"|“[^”\n]+”){_FOLDER}"
)
_BY_KIND: Final = (
    r"(?:\s+(?:by|nach)\s+(?:(?:file\s+|their\s+)?(?:types?|kinds?)|(?:datei)?typ(?:en)?|(?:datei)?arten?)"
    r"(?:\s+(?:into|in)\s+(?:folders|ordner))?)?"
)
"""The rules of a batch go by the kinds of files, so saying so asks for no more."""
_PATHS: Final = ("/", "~", ".")  # a place without quotes, which goes on to the end
_CLOCK: Final = re.compile(
    r"\s(?:every|each|jede[nmsr]?|alle|täglich|wöchentlich|monatlich|daily|weekly|monthly)\b",
    re.IGNORECASE,
)
_END: Final = r"(?:[\s,]+(?:please|bitte|up|auf))*[\s.!?]*"
_TIDY: Final = re.compile(
    rf"{_POLITE}(?:tidy(?:\s+up)?|clean\s+up|sort\s+out|organi[sz]e|r(?:ä|ae)um(?:e|st)?|"
    rf"sortier(?:e|st)?|ordne)\s+(?:mir\s+)?(?:bitte\s+)?{_MY}{_PLACE}{_BY_KIND}{_END}",
    re.IGNORECASE,
)
_SORT: Final = re.compile(
    rf"{_POLITE}sort\s+{_MY}(?P<place>{_NAMES}){_FOLDER}{_BY_KIND}{_END}", re.IGNORECASE
)  # of names alone: what else is sorted is a list or a table
_TIDY_GERMAN: Final = re.compile(
    rf"{_POLITE}(?:bitte\s+)?{_MY}{_PLACE}\s+(?:bitte\s+)?(?:aufr(?:ä|ae)umen|sortieren)[\s.!?]*",
    re.IGNORECASE,
)
_WHICH: Final = (
    r"(?:the\s+|my\s+|die\s+|den\s+|dem\s+|das\s+)?(?:last\s+|letzte[nmsr]?\s+)?"
    r"(?:batch|stapels?|tidying|aufräumens?)?(?:\s*(?P<which>batch-[0-9a-f]{4,32}))?"
)
_SOME: Final = (
    r"(?:(?:files?|numbers?|no\.?|nummern?|datei(?:en)?)\s+)?(?P<numbers>\d[\d\s,]*)"
    r"\s+(?:of|from|von|vom|aus|des)\s+"
)
_ALL: Final = (
    r"(?:all|alle)\s+(?:of\s+)?(?:(?:the|my|these|die|meine|diese)\s+)?(?:batch(?:es)?|stapel)"
)
_UNDO: Final = re.compile(rf"{_POLITE}undo\s+(?:{_SOME})?{_WHICH}{_END}", re.IGNORECASE)
_UNDO_GERMAN: Final = re.compile(
    rf"{_POLITE}mach(?:e|st)?\s+(?:bitte\s+)?(?:(?:die\s+)?{_SOME})?{_WHICH}\s+rückgängig[\s.!?]*",
    re.IGNORECASE,
)

_UNDO_ALL: Final = re.compile(
    rf"{_POLITE}(?:undo\s+{_ALL}{_END}|mach(?:e|st)?\s+(?:bitte\s+)?{_ALL}\s+rückgängig[\s.!?]*)",
    re.IGNORECASE,
)

FOLDERS: Final = {
    "download": ("XDG_DOWNLOAD_DIR", "Downloads"),
    "desktop": ("XDG_DESKTOP_DIR", "Desktop"),
    "schreibtisch": ("XDG_DESKTOP_DIR", "Desktop"),
    "document": ("XDG_DOCUMENTS_DIR", "Documents"),
    "dokument": ("XDG_DOCUMENTS_DIR", "Documents"),
    "pictures": ("XDG_PICTURES_DIR", "Pictures"),
    "bilder": ("XDG_PICTURES_DIR", "Pictures"),
    "music": ("XDG_MUSIC_DIR", "Music"),
    "musik": ("XDG_MUSIC_DIR", "Music"),
    "video": ("XDG_VIDEOS_DIR", "Videos"),
}
"""How the beginning of a name is said, how a desktop calls that folder, and its usual name."""

_HINTS: Final = ("tidy", "clean up", "sort", "organi", "räum", "raeum", "undo", "rückgängig")


def may_be_request(said: str) -> bool:
    """Whether it is worth a closer look; costs next to nothing."""
    lower = said.lower()
    return len(said) <= MOST_CHARACTERS and any(hint in lower for hint in _HINTS)


def request_of(said: str) -> BatchRequest | None:
    """What is wanted; None where it is nothing about batches, for a model to answer."""
    text = " ".join(said.split())
    if not may_be_request(text):
        return None
    if found := _TIDY.fullmatch(text) or _SORT.fullmatch(text) or _TIDY_GERMAN.fullmatch(text):
        if found["place"].startswith(_PATHS) and _CLOCK.search(found["place"]):
            return None  # by the clock, and no folder that is called so
        return BatchRequest("tidy", place=found["place"].strip('"“”'))
    if _UNDO_ALL.fullmatch(text):
        return BatchRequest("undo", which="all")
    found = _UNDO.fullmatch(text) or _UNDO_GERMAN.fullmatch(text)
    if found is None or not re.search(r"batch|stapel|tidying|aufräumen", text, re.IGNORECASE):
        return None
    numbers = tuple(int(one) for one in re.findall(r"\d{1,4}", found["numbers"] or ""))
    return BatchRequest("undo", which=found["which"] or "", numbers=numbers)


def folder_named(place: str, home: Path, standing_in: Path | None) -> Path:
    """The folder that words name: a well-known one as the owner's desktop has it, or a path.

    Where the desktop has no such folder, one of its name in the folder that it is about is meant.

    Args:
        place: As said.
        home: The owner's home.
        standing_in: The folder that it is about, where a path that begins with `./` begins.
    """
    known = next((FOLDERS[key] for key in FOLDERS if place.lower().startswith(key)), None)
    if known is not None and "/" not in place:
        variable, usual = known
        desktop = _desktop_folder(home, variable) or home / usual
        here = [] if standing_in is None else [standing_in / place, standing_in / usual]
        return desktop if desktop.is_dir() else next((one for one in here if one.is_dir()), desktop)
    if place.startswith("~/"):
        return home / place[2:]
    return (standing_in or home) / place


def _desktop_folder(home: Path, variable: str) -> Path | None:
    """What the desktop's own file says; None where it says nothing of it."""
    base = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    try:
        lines = (base / "user-dirs.dirs").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    for line in lines:
        name, _, value = line.strip().partition("=")
        if name == variable and value.startswith('"$HOME/'):
            return home / value.strip('"').removeprefix("$HOME/")
        if name == variable and value.startswith('"/'):
            return Path(value.strip('"'))
    return None
