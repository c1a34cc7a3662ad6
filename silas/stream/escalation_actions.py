"""Carrying out an escalation: a hand-over, a queue, a report, a task in draft (spec 5.1.1)."""

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from silas.audit import Audit
from silas.cards import CardChannel
from silas.clock import Clock
from silas.errors import ChannelError
from silas.gates import EscalationAction, Gate
from silas.language import said_at
from silas.plans import WorkItem, WorkItemType
from silas.stream.escalate import BLOCKED_WORDS, Escalation, Escalator
from silas.stream.owner import Owner
from silas.types import OWNER, new_id

Transfer = Callable[[str, str, str], Awaitable[None]]
"""(connection, queue, rule): lets a conversation wait for a person, on record."""

KeepDraft = Callable[[WorkItem, str], Awaitable[object]]
"""Keeps a plan and its reason until the owner is asked about it; nothing of it runs before."""


@runtime_checkable
class HandoverChannel(Protocol):
    """A channel on which a person can take over a conversation."""

    async def hand_over(self, connection_id: str, queue: str, words: str) -> bool:
        """Hand the conversation to a person; false where nobody takes it."""
        ...


class EscalationActions:
    """What one connection's blocked turn leads to.

    Args:
        escalator: Says what is left to be done.
        channel: Where the turn takes place.
        connection_id: Whose turn it is.
        keep: Keeps a task in draft.
        transfer: Lets the conversation wait for a person.
        audit: Where everything is recorded.
    """

    def __init__(
        self,
        escalator: Escalator,
        channel: CardChannel,
        connection_id: str,
        keep: KeepDraft,
        transfer: Transfer,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._escalator = escalator
        self._channel = channel
        self._connection_id = connection_id
        self._owner = Owner(channel, audit, clock)
        self._keep = keep
        self._transfer = transfer
        self._audit = audit
        self._clock = clock

    async def of(self, gate: Gate, escalation: Escalation) -> str:
        """Carry it out; returns what is said to whoever asked."""
        action = await self._escalator.last(gate, escalation.action)
        words = action.message or BLOCKED_WORDS
        told = await self._carry_out(gate, action, escalation.reason)
        if told and self._connection_id != OWNER:
            await self._owner.tell(told)
        elif action.action == "spawn_task":  # in his own turn he sees all the rest
            return f"{words}\n\n{said_at(self._channel.channel_name, told, [escalation.reason])}"
        return words

    async def _carry_out(self, gate: Gate, action: EscalationAction, reason: str) -> str:
        """Do what it says; returns what the owner is to know of it, if he is."""
        stopped = f"The rule '{gate.name}' stopped a turn of {self._connection_id}"
        if action.action == "respond":
            return ""
        if action.action == "escalate_human" and await self._hand_over(gate, action):
            return ""
        if action.queue and action.action in ("escalate_human", "transfer_to_queue"):
            await self._transfer(self._connection_id, action.queue, gate.name)
            return (
                f"{stopped}, which waits for a person now, in the queue '{action.queue}'; "
                "`silas queue list` shows who does."
            )
        if action.action == "spawn_task":
            return await self._draft_task(gate, reason, f"{stopped}.")
        await self._audit.log(
            "escalation_reported", gate=gate.name, wanted=action.action, queue=action.queue
        )
        return f"{stopped}; `silas audit show` says why."

    async def _hand_over(self, gate: Gate, action: EscalationAction) -> bool:
        channel = self._channel
        if not isinstance(channel, HandoverChannel):
            return False
        words = action.message or BLOCKED_WORDS
        try:
            taken = await channel.hand_over(self._connection_id, action.queue or "", words)
        except ChannelError:
            taken = False
        if taken:
            await self._audit.log("handed_over", gate=gate.name, connection_id=self._connection_id)
        return taken

    async def _draft_task(self, gate: Gate, reason: str, why: str) -> str:
        item = draft_of(gate, reason, self._connection_id, self._clock)
        await self._keep(item, why)
        await self._audit.log("task_drafted", gate=gate.name, work_item_id=item.id)
        return f"{why} A task to look into it waits for your approval: `silas approve {item.id}`."


def draft_of(gate: Gate, reason: str, connection_id: str, clock: Clock) -> WorkItem:
    """A task made of a failure, for the owner to read, change, approve or decline."""
    body = (
        f"# Context\nThe rule '{gate.name}' ({gate.on.value}) stopped a turn of {connection_id}.\n"
        f"Its reason: {reason}\n\n"
        "# What to do\nFind out what led to this, and report what should change so that it does "
        "not happen again.\n\n"
        "# Constraints\n- Change nothing.\n- Do not weaken the rule.\n"
    )
    return WorkItem(
        id=new_id("task"),
        type=WorkItemType.task,
        title=f"Look into what the rule '{gate.name}' stopped",
        body=body,
        failure_context=reason,
        created_at=clock.now(),
    )
