"""What is ahead for the cockpit, and the goals that it pauses, resumes, runs and takes back."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from silas.channels.web.views import Done
from silas.channels.web.views_ahead import AheadView, PausedGoalRow, UnattendedGoalRow, UpcomingRow
from silas.errors import SilasError
from silas.language import COCKPIT, refusal_words, said_at, tr
from silas.language.calendar import near_day_words
from silas.plans.characters import show
from silas.services.cockpit.project_graph import project_row

if TYPE_CHECKING:
    from silas.services.schedules.ahead import (
        Ahead,
        AheadService,
        PausedGoal,
        UnattendedGoal,
        Upcoming,
    )
    from silas.work.authority.narrowing import ApprovalNarrowing


class CockpitAhead:
    """`silas.channels.web.port.AheadRoom` over the services that the commands use.

    Args:
        service: Opens the service; what nobody asks for is not loaded.
        narrowing: Opens what makes approvals smaller.
        redact: Takes secrets out of what is shown.
    """

    def __init__(
        self,
        service: "Callable[[], AheadService]",
        narrowing: "Callable[[], ApprovalNarrowing]",
        redact: Callable[[str], str],
    ) -> None:
        self._service = service
        self._narrowing = narrowing
        self._redact = redact

    async def look(self, days: int) -> AheadView:
        """See `AheadRoom.look`."""
        found = await self._service().look(days)
        return AheadView(
            days=days,
            coming=tuple(self._upcoming_row(one, found) for one in found.coming),
            later=found.later,
            alone=tuple(self._unattended_row(one, found) for one in found.alone),
            paused=tuple(self._paused_row(one) for one in found.paused),
            asking=tuple(self._paused_row(one) for one in found.asking),
            projects=tuple(project_row(one, self._redact) for one in found.projects),
            words=" ".join(found.warnings),
            asks=tuple(map(self._redact, found.asks)),
        )

    async def pause(self, goal_id: str) -> Done:
        """See `AheadRoom.pause`."""
        async with self._by_title(goal_id):
            self._service().goals.pause(goal_id)
        return Done(words=tr("It is paused."))

    async def resume(self, goal_id: str) -> Done:
        """See `AheadRoom.resume`."""
        async with self._by_title(goal_id):
            self._service().goals.resume(goal_id)
        return Done(words=tr("It runs again."))

    async def run(self, goal_id: str) -> Done:
        """See `AheadRoom.run`."""
        async with self._by_title(goal_id):
            self._service().goals.run_now(goal_id)
        return Done(words=tr("It is due now."))

    async def take_back(self, goal_id: str) -> Done:
        """See `AheadRoom.take_back`."""
        async with self._by_title(goal_id):
            await self._service().take_back(goal_id)
        return Done(words=tr("Your yes is taken back: nothing more of it begins."))

    async def narrow(self, goal_id: str, uses: int) -> Done:
        """See `AheadRoom.narrow`."""
        async with self._by_title(goal_id):
            narrowed = await self._narrowing().narrow(goal_id, uses, None)
        return Done(words=self._redact(narrowed.words))

    async def tighten(self) -> Done:
        """See `AheadRoom.tighten`."""
        return Done(words=self._narrowing().tighten().words)

    @asynccontextmanager
    async def _by_title(self, goal_id: str) -> AsyncGenerator[None]:
        """A refusal calls the goal as its owner does; a question of its work is said instead."""
        try:
            yield
        except SilasError as error:
            raise await self._refuse_by_title(goal_id, error) from error

    async def _refuse_by_title(self, goal_id: str, error: SilasError) -> SilasError:
        service, kind, code = self._service(), type(error), error.code
        if code == "E_GOAL_UNDER_WAY" and (asks := await service.question(goal_id)):
            return kind(self._redact(asks), code="E_GOAL_ASKED")
        words, item = (
            said_at(COCKPIT, refusal_words(error.message)),
            await service.store.get(goal_id),
        )
        if item is not None:
            title = tr("“{words}”", words=show(self._redact(item.title)))
            whole = rf"(?<![\w-]){re.escape(goal_id)}(?![\w-])"
            words = re.sub(whole, lambda _: title, words)
        return kind(words, code=code)

    def _upcoming_row(self, one: "Upcoming", found: "Ahead") -> UpcomingRow:
        at = one.due.astimezone(found.zone)
        return UpcomingRow(
            kind=one.kind.value,
            id=one.id,
            title=self._redact(one.title),
            due=one.due,
            day=near_day_words(at, found.now.astimezone(found.zone)),
            time=f"{at:%H:%M}",
            again=one.again,
            more=one.more,
        )

    def _paused_row(self, one: "PausedGoal") -> PausedGoalRow:
        return PausedGoalRow(
            id=one.id,
            title=self._redact(one.title),
            why=self._redact(said_at(COCKPIT, refusal_words(one.why))),
            resumes=one.resumes,
        )

    def _unattended_row(self, one: "UnattendedGoal", found: "Ahead") -> UnattendedGoalRow:
        from silas.services.schedules.ahead import left_words  # noqa: PLC0415 - few pages ask

        lapsed = tr(
            "It has lapsed and starts nothing: {why}",
            why=said_at(COCKPIT, self._redact(one.lapsed)),
        )
        return UnattendedGoalRow(
            id=one.id,
            title=self._redact(one.title),
            does=self._redact(one.does),
            uses_left=0 if one.lapsed else one.uses - one.used,
            left=lapsed if one.lapsed else left_words(one, found.zone),
            lapsed=bool(one.lapsed),
        )
