"""How answers come in: a cue for the owner, and each on record for the measures (spec 0.5.4)."""

from collections.abc import Iterable

from silas.approval.cadence import CUE_WORDS, AttentionCue, Cadence
from silas.audit import Audit
from silas.channels.web import events
from silas.types import Risk


class FatigueWatch:
    """Notices a habit of quick answers and a pile of questions. Holds nobody up."""

    def __init__(self, audit: Audit) -> None:
        self._audit = audit
        self._cadence = Cadence()
        self._shown = AttentionCue.none

    async def record_answer(
        self,
        *,
        kind: str,
        risk: Risk,
        seconds: float,
        answer: str,
        role: str,
        verdict: str,
        device: str,
        taps: int = 1,
        freetext: bool = False,
        work_item_id: str = "",
        waiting: Iterable[Risk] = (),
    ) -> events.CueEvent | None:
        """Put one answer on record, and say where there is something new to notice.

        Args:
            kind: The type of the card's event.
            risk: Of the card.
            seconds: From when it was shown to when it was answered.
            answer: The words of the button.
            role: The button's role, empty for an answer without one.
            verdict: What the page sent.
            device: Which device answered.
            taps: How many it took.
            freetext: Whether words of the owner's own came with it.
            work_item_id: Whose card, where it is of a work item.
            waiting: The risks of the questions that still wait.

        Returns:
            A cue where it changed, `none` among them; else nothing.
        """
        await self._audit.log(
            "card_answered",
            kind=kind,
            risk=risk.value,
            seconds=round(seconds, 2),
            answer=answer,
            role=role,
            verdict=verdict,
            device=device,
            taps=taps,
            freetext=freetext,
            work_item_id=work_item_id,
        )
        self._cadence = self._cadence.after(risk, seconds)
        return await self.find_cue(waiting)

    async def find_cue(self, waiting: Iterable[Risk]) -> events.CueEvent | None:
        """The cue for these waiting questions, where it is another than the one shown last."""
        cue = self._cadence.cue(waiting)
        if cue is self._shown:
            return None
        self._shown = cue
        if cue is not AttentionCue.none:
            await self._audit.log("fatigue_cue", kind=cue.value, words=CUE_WORDS[cue])
        return events.CueEvent(kind=cue.value, words=CUE_WORDS[cue])
