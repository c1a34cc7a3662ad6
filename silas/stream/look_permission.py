"""What a turn may look at in the workspace, and whether models elsewhere may be shown it."""

import asyncio
import os
from collections.abc import Callable

from silas.audit import Audit
from silas.cards import Action, CardChannel, Detail
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.clock import Clock
from silas.errors import Stopped
from silas.language import tr
from silas.stream.look_answers import TAKE_BACK, LookAnswers
from silas.stream.owner import Owner
from silas.stream.turn_place import Aside
from silas.tools.look_limits import MAX_LOOKS, MAX_SEEN, NO_LOOKS, LookLimits
from silas.types import OWNER, Risk, address_of

_YES = DecisionAnswer(selected_value="yes", approved=True)
_NEVER = DecisionAnswer(selected_value="no")
_NOT_NOW = DecisionAnswer()
_SECONDS = 120.0  # the owner has just written; whoever waits for the answer is he


class WorkspaceLooks:
    """Makes the looks of a turn of the owner's own words.

    Args:
        shown_to: Who outside this machine is shown what the models in force are shown, in words;
            empty where every model answers on it.
        answers: What the owner said before.
        channel: Where he is asked, once for each workspace.
        attached: The folder of what he attached to a conversation of his; empty for nothing.
    """

    def __init__(
        self,
        shown_to: Callable[[], str],
        answers: LookAnswers,
        channel: CardChannel,
        audit: Audit,
        clock: Clock,
        attached: Callable[[str], str],
    ) -> None:
        self._attached = attached
        self._shown = shown_to
        self._answers = answers
        self._owner = Owner(channel, audit, clock)
        self._audit = audit
        self._asking = asyncio.Lock()

    @property
    def _shown_to(self) -> str:
        return self._shown()

    def of(self, workspace: str, words: str, conversation: str, aside: Aside) -> LookLimits:
        """What a turn may look at: what is attached, and the workspace where there is one and the
        owner did not say no.
        """
        attached = self._attached(conversation)
        place = os.path.realpath(workspace) if workspace else ""
        if place and self._shown_to and self._answers.of(place, self._shown_to) is False:
            place = ""
        if not place and not attached:
            return NO_LOOKS
        unanswered = False

        async def may_look() -> str:
            nonlocal unanswered
            if not self._shown_to:
                return ""
            answer = self._answers.of(place, self._shown_to)
            if answer is None and not unanswered:
                try:
                    async with aside(), self._asking:  # where another turn asks, its answer counts
                        answer = await self._ask_owner(place, conversation)
                except Stopped as error:
                    return f"Nothing was looked at. {error.message}"
            if answer is None:
                unanswered = True  # once a turn is enough
                return (
                    f"The owner has not answered whether files in {place} may be shown to "
                    f"{self._shown_to}, so nothing was looked at."
                )
            return self._refusal_words(place, allowed=answer)

        return LookLimits(place, words, may_look, attached)

    def is_allowed(self, workspace: str) -> bool:
        """Whether what lies in a directory may be shown to the models, without asking."""
        if not self._shown_to:
            return True
        return self._answers.of(os.path.realpath(workspace), self._shown_to) is True

    def _refusal_words(self, place: str, *, allowed: bool) -> str:
        if allowed:
            return ""
        return (
            f"The owner said that nothing in {place} may be shown to {self._shown_to}; "
            f"`{TAKE_BACK} DIRECTORY` asks again."
        )

    async def _ask_owner(self, place: str, conversation: str) -> bool | None:
        if (known := self._answers.of(place, self._shown_to)) is not None:
            return known
        to = address_of(OWNER, conversation)
        self._audit.require_whole()  # a yes lasts, so it is not taken while the record is changed
        answer = await self._owner.ask(look_card(place, self._shown_to), to)
        said = answer.model_copy(update={"signed": False})
        known = True if said == _YES else False if said == _NEVER else None
        words = "no answer" if known is None else "yes" if known else "never"
        await self._audit.log("workspace_look_asked", answer=words)
        if known:
            self._audit.require_whole()
        if known is not None:
            self._answers.keep(place, self._shown_to, allowed=known)
        return known


def look_card(workspace: str, shown_to: str) -> DecisionCard:
    """Whether models elsewhere may be shown what is looked at; silence shows nothing."""
    return DecisionCard(
        intent=tr("Let the model look at files in {workspace}", workspace=workspace),
        risk=Risk.medium,
        rationale=tr(
            "To answer, it wants to read there. What it reads goes to {shown_to}.",
            shown_to=shown_to,
        ),
        details=(
            Detail(
                heading=tr("What a yes means"),
                lines=(
                    tr(
                        "in each message of yours at most {max_looks} looks and {max_seen:,} bytes",
                        max_looks=MAX_LOOKS,
                        max_seen=MAX_SEEN,
                    ),
                    tr(
                        "hidden files and files that may hold secrets are listed and "
                        "not read, unless your message names them"
                    ),
                    tr("nothing is changed, and you are not asked again for this directory"),
                ),
            ),
        ),
        actions=(
            Action(label=tr("Let it look here"), value=_YES, role="recommended"),
            Action(label=tr("Never show it this directory"), value=_NEVER),
            Action(label=tr("Not now, look at nothing"), value=_NOT_NOW, role="decline"),
        ),
        safe=_NOT_NOW,
        timeout_seconds=_SECONDS,
    )
