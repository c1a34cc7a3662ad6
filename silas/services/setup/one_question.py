"""One card at a time about one thing, whose answer comes after the page that asked has its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from silas.audit.intent import UnrecordedChange
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.errors import ConfigError, SilasError
from silas.language import refusal_words, tr
from silas.stream.owner import Owner

YES: Final = DecisionAnswer(selected_value="yes", approved=True)
"""The answer of such a card that lets it be done; `NO` is the safe one."""

NO: Final = DecisionAnswer()


async def _nothing() -> None:
    """Nobody needs to hear of a no."""


class OneQuestion:
    """Asks the owner, does what he said yes to, and tells him how it went.

    Args:
        owner: Whom it is asked.
        about: What it is about, as in "a question about settings".
        code: Of the error where one waits already.
    """

    def __init__(self, owner: Owner, about: str, code: str) -> None:
        self._owner = owner
        self._about = about
        self._code = code
        self._asking: set[asyncio.Task[None]] = set()
        self._telling: set[asyncio.Task[None]] = set()

    @property
    def waits(self) -> bool:
        """Whether he is being asked, or what he said yes to is being done."""
        return bool(self._asking)

    def require_free(self) -> None:
        """Raises `ConfigError` where one waits already."""
        if self._asking:
            raise ConfigError(
                f"A question about {self._about} waits in Review; answer that one first.",
                code=self._code,
            )

    def ask(
        self,
        card: DecisionCard,
        do: Callable[[], Awaitable[str]],
        failed: str,
        refused: Callable[[], Awaitable[None]] = _nothing,
    ) -> None:
        """Show the card and go on.

        Args:
            card: The question.
            do: Called on a yes; what it returns is told.
            failed: What is told where it cannot be done, with a place for `why`.
            refused: Called where there is no yes.

        Raises:
            ConfigError: One waits already.
        """
        self.require_free()
        task = asyncio.create_task(self._ask_card(card, do, failed, refused))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def close(self) -> None:
        """Ask nobody any more."""
        tasks = self._asking | self._telling
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _ask_card(
        self,
        card: DecisionCard,
        do: Callable[[], Awaitable[str]],
        failed: str,
        refused: Callable[[], Awaitable[None]],
    ) -> None:
        answer = await self._owner.ask(card)
        if not answer.approved:
            await refused()
            return
        try:
            words = await do()
        except UnrecordedChange as error:
            words = refusal_words(error.message)  # it is done, so nothing says that it is not
        except SilasError as error:
            words = tr(failed, why=refusal_words(error.message))
        self._end_question()
        await self._owner.tell(words)

    def _end_question(self) -> None:
        """Wait no more before it is told: a page that hears it then looks again."""
        task = asyncio.current_task()
        if task in self._asking:
            self._asking.discard(task)
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)
