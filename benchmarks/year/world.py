"""What is outside Silas and outlives its processes: what checks see, the owner, messages."""

import random
import re
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from benchmarks.year.planned import PlannedGoal
from silas.cards import Card, PlanCard
from silas.cards.models import AutonomyThresholdCard
from silas.errors import ChannelError
from silas.sandbox import SandboxResult
from silas.testing import FakeSandbox, ScriptedChannel
from silas.testing.clock import MockClock
from silas.testing.tools import SandboxRun, exit_result

_COMMAND = re.compile(r"\b(look|repair|work) (\S+)")

AWAY = timedelta(hours=3)
"""How long the owner's channel is gone at a time."""


class World:
    """Answers the sandbox and the owner's channel, and counts.

    Args:
        clock: The machine's.
        chance: What fails when.
        goals: What is watched.
        fails: How often a check fails that was healthy, as a share.
        beside: Whether proposals of how much Silas asks have a place beside the conversation, as
            in the cockpit; the owner accepts them.

    Attributes:
        told: Messages of reminders, as they were seen: the time, and the words.
        cards: When each card was shown, with the id of its plan.
        accepted: Those of them that proposed how much Silas asks.
        looks: How often each goal's checks ran.
        repaired: How often work ran.
        models: Calls of any model.
    """

    def __init__(
        self,
        clock: MockClock,
        chance: random.Random,
        goals: list[PlannedGoal],
        fails: float,
        *,
        beside: bool = False,
    ) -> None:
        self.clock, self._chance, self._fails = clock, chance, fails
        self._goals = {goal.id: goal for goal in goals}
        self._bad: set[str] = set()
        self._spared: set[str] = set()
        self._away_until = clock.now()
        self.told: list[tuple[datetime, str]] = []
        self.said: list[str] = []
        self.cards: list[tuple[datetime, str]] = []
        self.accepted: list[AutonomyThresholdCard] = []
        self.looks: Counter[str] = Counter()
        self.repaired = 0
        self.models = 0
        self.sandbox = FakeSandbox(self._ran)
        self.channel = _Channel(self, beside=beside)

    def go_away(self) -> None:
        """Nothing reaches the owner for a while."""
        self._away_until = self.clock.now() + AWAY

    @property
    def away(self) -> bool:
        """Whether nothing reaches the owner."""
        return self.clock.now() < self._away_until

    def _ran(self, run: SandboxRun) -> SandboxResult:
        self.sandbox.runs.clear()
        found = _COMMAND.search(" ".join(run.argv))
        words = [] if found is None else [found[1], found[2]]
        if words[:1] == ["look"]:
            return self._looked(words[1])
        if words[:1] == ["repair"]:
            self.repaired += 1
            if not self._chronic(words[1]):
                self._bad.discard(words[1])
                self._spared.add(words[1])  # it does not fail again at once
        elif words[:1] == ["work"]:
            self.repaired += 1
        return exit_result(0, "")

    def _looked(self, goal_id: str) -> SandboxResult:
        self.looks[goal_id] += 1
        spared = goal_id in self._spared
        self._spared.discard(goal_id)
        if self._chronic(goal_id) or (not spared and self._chance.random() < self._fails):
            self._bad.add(goal_id)
        return exit_result(0, "bad" if goal_id in self._bad else "good")

    def _chronic(self, goal_id: str) -> bool:
        goal = self._goals[goal_id]
        return goal.chronic is not None and goal.chronic[0] <= self.clock.now() < goal.chronic[1]


class _Channel(ScriptedChannel):
    """The owner says yes; what reaches him is noted."""

    def __init__(self, world: World, *, beside: bool) -> None:
        super().__init__(lambda card: card.actions[0].value)
        self._world = world
        self.asks_beside = beside

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        del recipient_id, reply_to
        if self._world.away:
            raise ChannelError("Nobody is there.", code="E_CHANNEL_CLOSED")
        if text.startswith("Reminder: "):
            self._world.told.append((self._world.clock.now(), text))
        else:
            self._world.said.append(text)

    async def ask(self, to: str, card: Card[Any]) -> Any:
        del to
        named = card.work_item_id if isinstance(card, PlanCard) else ""
        self._world.cards.append((self._world.clock.now(), named))
        if isinstance(card, AutonomyThresholdCard):
            self._world.accepted.append(card)
        return card.actions[0].value
