"""Why a file goes where it goes, or stays: kept in English, read in the owner's language (8.2)."""

from typing import Final

from silas.language import refusal_words, retranslate, tr, tr_later

_REASONS: Final = (
    tr_later("the same as {name}, and its name says that it is a copy"),
    tr_later("the same as {name}"),
    tr_later("it is empty"),
    tr_later(".{ending}, and unchanged for a year"),
    tr_later("its name ends in .{ending}"),
    tr_later("it begins as such a file does"),
    tr_later("it is called .{ending} and begins as a program does"),
    tr_later("it is called .{ending} and does not begin as such a file does"),
    tr_later("no rule knows files without an ending"),
    tr_later("no rule knows .{ending}"),
    tr_later("you said so"),
    tr_later("you did not choose it"),
    tr_later("{folder} is no folder, so nothing can go there"),
    tr_later("it is a symbolic link"),
    tr_later("it is no ordinary file"),
    tr_later("its name has hidden characters"),
    tr_later("its download has not ended"),
    tr_later("it changed a moment ago"),
    tr_later("it cannot be read ({why})"),
    tr_later("it changed since you were asked"),
    tr_later("it changed since it was moved"),
    tr_later("{goal}: something of that name is there already"),
    tr_later("something of that name is there already"),
    tr_later("it is gone"),
    tr_later("what stands there is no folder or no ordinary file"),
    tr_later("its place is on another disk"),
    tr_later("the system refuses it ({why})"),
    tr_later("Silas ended before it was moved"),
)
"""What the rules, the look into a folder and the mover say; the first that fits."""


def file_words(reason: str) -> str:
    """The reason of one file in the owner's language; names in it are as they are.

    Args:
        reason: As a proposal, the journal and JSON have it, in English.
    """
    told = retranslate(reason, _REASONS, {"why": tr})
    return told if told != reason else refusal_words(reason)  # a stop has a sentence of its own


def ending_words(ending: str) -> str:
    """What files that no rule knows have in common: `.xyz`, or that they have no ending."""
    return tr("no ending") if ending == NO_ENDING else ending


NO_ENDING: Final = tr_later("no ending")
"""The group of files whose names have none."""
