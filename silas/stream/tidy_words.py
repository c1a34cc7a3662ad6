"""Step 7 without a model: code understands what the owner says about batches of files.

Nobody else's words, and none that a model wrote, begin one. Nothing is moved without its card.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from silas.audit import Audit
from silas.clock import Clock
from silas.language import said_at, tr_later
from silas.stream.owner import Owner
from silas.stream.owner_words import Answered, OwnerWords
from silas.stream.state import Turn
from silas.stream.tidying import OpenBatches
from silas.stream.turn_modes import TurnModes
from silas.types import InteractionRegister

if TYPE_CHECKING:
    from silas.workspace.folder_request import BatchRequest

_HINTS = ("tidy", "clean up", "sort", "organi", "räum", "raeum", "undo", "rückgängig")


class TidyWords(OwnerWords["BatchRequest"]):
    """Answers the owner's own messages that ask for a folder to be tidied, or a batch undone.

    Args:
        batches: What asks and moves.
        audit: Where the turn is recorded.
        clock: What cards are timed by.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    reason = "batch"
    owners_only = tr_later(
        "Only Silas's owner can have a folder tidied or a batch undone: with `silas batch`, in "
        "`silas chat` or in the cockpit. Nothing was changed."
    )
    register = InteractionRegister.review

    def __init__(
        self, batches: OpenBatches, audit: Audit, clock: Clock, modes: TurnModes, profile: str
    ) -> None:
        super().__init__(audit, modes, profile)
        self._batches = batches
        self._clock = clock

    def _parse_request(self, text: str) -> "BatchRequest | None":
        if not any(hint in text.lower() for hint in _HINTS):
            return None
        from silas.workspace.folder_request import request_of  # noqa: PLC0415 - few turns need it

        return request_of(text)

    def _facts(self, asked: "BatchRequest") -> dict[str, str]:
        return {"batch": asked.wanted}

    async def _do(self, turn: Turn, asked: "BatchRequest") -> Answered:
        from silas.work.batches.words import tidied_in_short, undone_in_short  # noqa: PLC0415
        from silas.workspace.folder_request import folder_named  # noqa: PLC0415 - as above

        review, door = self._batches(), turn.door
        if asked.wanted == "undo":
            undone = await review.undo(asked.which, asked.numbers)
            return said_at(door, undone_in_short(undone)), "answered"
        place = turn.message.incoming.workspace
        standing_in = None if place is None else Path(place)
        folder = folder_named(asked.place, Path.home(), standing_in)
        owner = Owner(turn.seat.channel, self._audit, self._clock)
        tidied = await review.tidy(folder, owner.ask)
        declined = not tidied.batches and (tidied.declined or tidied.unseen)
        return said_at(door, tidied_in_short(tidied)), "declined" if declined else "answered"
