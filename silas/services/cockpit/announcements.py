"""News that every page must hear of at once, for a channel that has a place for it."""

from typing import Protocol, runtime_checkable

from silas.cards import CardChannel


@runtime_checkable
class Announcer(Protocol):
    """Shows what was taken back, what was stored, and whether Silas is stopped."""

    def announce_undo(self, work_item_id: str) -> None:
        """What an item changed was taken back."""
        ...

    def announce_stop(self, words: str) -> None:
        """The emergency stop began, or with no words: ended."""
        ...

    def secret_stored(self, ref_id: str) -> None:
        """The vault has the secret that a card asked for."""
        ...

    def other_models(self, *, runbook: bool) -> None:
        """Others answer from now on."""
        ...


class NoAnnouncer:
    """For a channel without such a place."""

    def announce_undo(self, work_item_id: str) -> None:
        """Nobody is told."""

    def announce_stop(self, words: str) -> None:
        """Nobody is told."""

    def secret_stored(self, ref_id: str) -> None:
        """Nobody is told."""

    def other_models(self, *, runbook: bool) -> None:
        """Nobody is told."""


def announced_on(channel: CardChannel) -> Announcer:
    """The channel, if it can show such news."""
    return channel if isinstance(channel, Announcer) else NoAnnouncer()
