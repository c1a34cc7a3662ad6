"""Step 7 without a model: code understands what the owner says about batches of files.

Nobody else's words, and none that a model wrote, begin one. Nothing is moved without its card.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from silas.agents import AgentResponse, RouteDecision
from silas.audit import Audit
from silas.clock import Clock
from silas.errors import SilasError
from silas.stream.models import Outcome
from silas.stream.owner import Owner
from silas.stream.state import Turn
from silas.stream.tidying import OpenBatches
from silas.stream.turn_modes import TurnModes
from silas.types import InteractionMode, InteractionRegister, TaintLevel

if TYPE_CHECKING:
    from silas.work.batches.request import BatchRequest

_HINTS = ("tidy", "clean up", "sort out", "organi", "räum", "sortier", "undo", "rückgängig")


class TidyWords:
    """Answers the owner's own messages that ask for a folder to be tidied, or a batch undone.

    Args:
        batches: What asks and moves.
        audit: Where the turn is recorded.
        clock: What cards are timed by.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    def __init__(
        self, batches: OpenBatches, audit: Audit, clock: Clock, modes: TurnModes, profile: str
    ) -> None:
        self._batches = batches
        self._audit = audit
        self._clock = clock
        self._modes = modes
        self._profile = profile

    async def answer(self, turn: Turn) -> bool:
        """Fill in route and response; False where it is no such message of the owner's."""
        lower = turn.text.lower()
        if turn.taint is not TaintLevel.owner or not any(hint in lower for hint in _HINTS):
            return False
        from silas.work.batches.request import request_of  # noqa: PLC0415 - few turns need it

        asked = request_of(turn.text)
        if asked is None:
            return False
        try:
            words, outcome = await self._do(turn, asked)
        except SilasError as error:
            words, outcome = error.message, "answered"
        turn.outcome, turn.speaker, turn.returned = outcome, "silas", 0
        turn.response = AgentResponse(message=words)
        turn.route = RouteDecision(
            route="direct",
            reason="batch",
            response=turn.response,
            interaction_register=InteractionRegister.review,
            interaction_mode=InteractionMode.confirm_only_when_required,
            context_profile=self._profile,
        )
        turn.mode = self._modes.mode(turn, None)
        await self._audit.log(
            "turn_routed",
            turn_id=turn.id,
            route="direct",
            register=turn.route.interaction_register.value,
            mode=turn.mode.value,
            profile=self._profile,
            batch=asked.wanted,
        )
        return True

    async def _do(self, turn: Turn, asked: "BatchRequest") -> tuple[str, Outcome]:
        from silas.work.batches.request import folder_named  # noqa: PLC0415 - as above
        from silas.work.batches.words import tidied_in_short, undone_in_short  # noqa: PLC0415

        review = self._batches()
        if asked.wanted == "undo":
            undone = await review.undo(asked.which, asked.numbers)
            return undone_in_short(undone), "answered"
        place = turn.incoming.workspace
        standing_in = None if place is None else Path(place)
        folder = folder_named(asked.place, Path.home(), standing_in)
        owner = Owner(turn.channel, self._audit, self._clock)
        tidied = await review.tidy(folder, owner.ask)
        declined = not tidied.batches and (tidied.declined or tidied.unseen)
        return tidied_in_short(tidied), "declined" if declined else "answered"
