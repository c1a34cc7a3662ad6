"""An approval given beforehand, for exactly one plan: `silas run --approve sha256:HEX`."""

from typing import Any, TypeVar

from silas.cards import Card, CardChannel, HeldCard, PlanCard
from silas.cards.unseen import left_answer
from silas.cards.wrapped import WrappedChannel
from silas.channels.live_terminal import LiveTerminal
from silas.language import tr
from silas.plans.characters import show

AnswerT = TypeVar("AnswerT")

_NAMED = 8  # files that a refusal names


class PreApproved(WrappedChannel):
    """Approves the plan, or the changes, with one hash, declines every other plan, passes all else
    on.
    """

    def __init__(self, channel: CardChannel, plan_hash: str) -> None:
        super().__init__(channel)
        self._plan_hash = plan_hash

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        """Say in passing what is waited for, where the wrapped channel has a place for it."""
        if isinstance(self._channel, LiveTerminal):
            self._channel.waits(recipient_id, source, words)

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """Answer plan cards by their hash; either way it is told which plan was meant."""
        shown = _hash_of(card)
        plain = _plan_of(card)
        if shown is None or (_of_changes(card) and shown != self._plan_hash):
            return await self._channel.ask(to, card)  # a plan was approved, not what came of it
        if self._plan_hash in (shown, plain):
            files = (
                "" if shown == self._plan_hash else tr(", with the files it runs as they are now")
            )
            said = tr(
                "Approved beforehand: exactly sha256:{plan_hash}{files}.",
                plan_hash=self._plan_hash,
                files=files,
            )
            await self._channel.send(to, said)
            return next(action.value for action in card.actions if action.role == "recommended")
        await self._channel.send(to, _another(card, shown, self._plan_hash))
        return left_answer(card)


def _another(card: Card[Any], shown: str, approved: str) -> str:
    """That another plan was approved; no hash tells which file changed, so all are named."""
    said = tr(
        "This plan is sha256:{shown}, but sha256:{approved} was approved; look at it again with "
        "`silas plan check`.",
        shown=shown,
        approved=approved,
    )
    files = card.files if isinstance(card, PlanCard) else ()
    if not files:
        return said
    named = ", ".join(f"`{show(file)}`" for file in files[:_NAMED])
    more = len(files) - _NAMED
    if more > 0:
        named = tr("{named} and {more} more", named=named, more=more)
    runs = tr("What it runs may have changed since: {named}.", named=named)
    return f"{said} {runs}"


def _hash_of(card: Card[Any]) -> str | None:
    match card:
        case PlanCard():
            return card.approves
        case HeldCard():
            return card.digest
        case _:
            return None


def _of_changes(card: Card[Any]) -> bool:
    return isinstance(card, HeldCard)


def _plan_of(card: Card[Any]) -> str:
    """The plan's own hash, which says nothing of the files that it runs; empty for other cards, and
    for a project, whose own hash says nothing of what its tasks do.
    """
    return card.plan_hash if isinstance(card, PlanCard) and not card.task_hashes else ""
