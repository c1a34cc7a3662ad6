"""A sentence at the door where it is read: a command in a terminal, a place on a page (0.5, 8.2).

Silas's own sentences name commands. In the cockpit the place with the button is named instead.
Messages of models are never given to this. A result's summary is, and it may quote an executor or
what a check found: what is `quoted` stays as it was said.
"""

import re
from collections.abc import Sequence
from typing import Final

from silas.language.catalogue import tr, tr_later

COCKPIT: Final = "web"
"""The cockpit's channel; every other door keeps the commands."""

_STOP: Final = tr_later("“Stop” on every page")
_RESUME: Final = tr_later("“Resume” at the top of every page")
_TRY: Final = tr_later("“Try it” under “Who answers”")
_PHONE: Final = tr_later("“Your phone” under “Devices”")
_SIGN: Final = tr_later("“Sign the newest entry” under “What protects you”")
_UNDER_MORE: Final = tr_later("“{page}” under “More”")

PAGES: Final = (
    (r"ahead|goals (?:list|resume|run|pause|history)", tr_later("Ahead")),
    (r"approvals(?: revoke| narrow| tighten|$)|goals$", tr_later("Ahead")),
    (r"status|show|diff|undo(?!.*--)|approvals list|approve|deny|projects rest", tr_later("Work")),
    (r"batch (?:undo|show|list)", tr_later("Moved files")),
    (r"remind(?: list|$)", tr_later("Reminders")),
    (r"memory (?:list|search|show|forget)", tr_later("Memory")),
    (r"persona", tr_later("How Silas speaks")),
    (r"(?:tools|workers) list", tr_later("Tools")),
    (r"mcp (?:list|add|trust|distrust|remove)", tr_later("Connections")),
    (r"devices (?:list|revoke$)", tr_later("Devices")),
    (r"secrets", tr_later("Secrets")),
    (r"doctor(?!.*--)|audit verify|approvals (?:showing|ask-again)", tr_later("What protects you")),
    (r"setup", tr_later("Who answers")),
    (r"config (?:show|set)", tr_later("Settings")),
)  # fmt: skip
"""What a command begins with, and the page under More that does the same. Who is told of `devices
link`, or to revoke one device by its id, is not paired and may have no browser that is."""

_ELSEWHERE: Final = (
    (r"stop --now", _STOP),
    (r"resume", _RESUME),
    (r"doctor --deep", _TRY),
    (r"start --phone", _PHONE),
    (r"audit show", tr_later("“Activity”")),
    (r"audit witness", _SIGN),
    (r"approvals (?:show|approve|deny)", tr_later("“Review”")),
    (r"conversations", tr_later("“Conversations”")),
)
"""The same of what has its place elsewhere; `silas resume` is no `silas goals resume`."""

RUN_PLAN_AGAIN: Final = tr_later(
    "`silas run` its plan again, or ask again; it needs a new approval."
)
RUN_PROJECT_AGAIN: Final = tr_later(
    "`silas run` that project again, or ask for it again; it needs a new approval."
)
RUN_AS_IT_IS: Final = tr_later("run its plan again to approve it as it is now.")
RUN_UNDER_ANOTHER_ID: Final = tr_later(
    "run its plan again, under another id where Silas says that this one is taken."
)
RUN_ANEW: Final = tr_later("run its plan again to approve it anew.")
WHY_FILES_STAY: Final = tr_later("`silas batch FOLDER --dry-run` says why.")
_ON_THE_PAGE: Final = (
    (
        tr_later("run `silas init`"),
        tr_later(
            "run `silas init` in a terminal (key and folders are made before there is a page)"
        ),
    ),
    (
        tr_later("`keys.signer: apart` and `silas signer` keep it out of there."),
        tr_later(
            "A signer apart (`silas signer`) keeps it out of there: a program of its own in a "
            "terminal, at best of another user, that shows you what it signs. No page sets it up: "
            "what this page could start, the process that it is kept from could reach."
        ),
    ),
    (
        tr_later("and `silas audit accept` after a backup"),
        tr_later(
            "and `silas audit accept` in a terminal after a backup (this page comes from the "
            "program whose record is in doubt)"
        ),
    ),
    (
        tr_later("run `silas audit accept`"),
        tr_later(
            "run `silas audit accept` in a terminal (this page comes from the program whose record "
            "is in doubt)"
        ),
    ),
    (WHY_FILES_STAY, tr_later("What you did not choose stays, and what no rule knows.")),
    (RUN_AS_IT_IS, tr_later("ask for it again in a conversation to approve it as it is now.")),
    (RUN_UNDER_ANOTHER_ID, tr_later("ask for it again in a conversation, under another id.")),
    (RUN_ANEW, tr_later("ask for it again in a conversation to approve it anew.")),
    (RUN_PLAN_AGAIN, tr_later("Ask for it again in a conversation; it needs a new approval.")),
    (
        RUN_PROJECT_AGAIN,
        tr_later("ask for that project again in a conversation; it needs a new approval."),
    ),
)
"""What nothing on the page does as the command does it, and what its owner does there instead."""

_COMMAND: Final = re.compile(r"`silas ([a-z][^`]*)`")


def said_at(door: str, words: str, quoted: Sequence[str] = ()) -> str:
    """A sentence of Silas's own, in whatever language, as it is read at a door.

    Args:
        door: The channel's name; see `COCKPIT`.
        words: The sentence, with its commands between backquotes.
        quoted: What in it somebody else said; its commands stay as they were said.

    Returns:
        The same, where the door is the cockpit with the names of pages in the place of commands. A
        command that no page has a button for stays: then a terminal is the only way.
    """
    if door != COCKPIT:
        return words
    longest = sorted(filter(None, quoted), key=len, reverse=True)  # one may begin another
    instead = {
        tell(there): tell(here) for there, here in _ON_THE_PAGE for tell in (tr, _in_english)
    }  # what was kept is in the language that was spoken then
    whole = "|".join(map(re.escape, (*longest, *instead)))

    def here(found: re.Match[str]) -> str:
        if found[0] in longest:
            return found[0]
        return instead.get(found[0]) or place_of(found[1] or "") or found[0]

    return re.sub(f"(?:{whole})|{_COMMAND.pattern}", here, words)


def _in_english(sentence: str) -> str:
    return sentence


def place_of(command: str) -> str:
    """Where the cockpit does what a command does; empty where nothing in it does.

    Args:
        command: Its words after `silas`, with or without arguments.
    """
    for begins, place in _ELSEWHERE:
        if re.match(rf"(?:{begins})\b", command):
            return tr(place)
    for begins, page in PAGES:
        if re.match(rf"(?:{begins})(?![\w-])", command):
            return tr(_UNDER_MORE, page=tr(page))
    return ""
