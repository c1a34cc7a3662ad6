"""What the folders that files are sorted into are called, in the owner's language (spec 5.2.4)."""

from collections.abc import Callable
from typing import Final

from silas.language import tr, tr_later

FOLDERS: Final = (
    *(tr_later("Pictures"), tr_later("Videos"), tr_later("Music"), tr_later("Documents")),
    *(tr_later("Tables"), tr_later("Slides"), tr_later("Archives"), tr_later("Installers")),
    *(tr_later("Code"), tr_later("Calendars and contacts"), tr_later("Other")),
    *(tr_later("Older"), tr_later("Duplicates"), tr_later("To check")),
)
"""Every folder that a rule or an answer names; rules and answers know them by these words."""


def folder_name(target: str, is_folder: Callable[[str], bool]) -> str:
    """Where files really go: a folder that is there by either name, else one in the owner's words.

    Args:
        target: The folder by its English name, one below another behind a `/`.
        is_folder: Whether a folder of this name is there.
    """
    top = target.partition("/")[0]
    told = "/".join(tr(part) if part in FOLDERS else part for part in target.split("/"))
    in_english = not is_folder(told.partition("/")[0]) and is_folder(top)
    return target if in_english else told
