"""What `silas mcp serve` offers to other clients: the stream's own road, with a stranger on it."""

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from silas.audit.log import AuditLog
from silas.audit.narrate import timeline
from silas.cards import ChannelMessage
from silas.channels.mcp import McpOffer
from silas.errors import PlanFamilyError
from silas.plans import WorkItem, WorkItemStatus
from silas.plans.characters import show
from silas.stream.models import MCP_CLIENT, Incoming
from silas.stream.session import Session
from silas.work.projects.undo import UNDONE
from silas.work.report import result_texts

if TYPE_CHECKING:
    from silas.services.schedules.ahead import Ahead, Upcoming

_PAUSED = "An MCP client paused it."

_LONGEST = 20_000  # characters of one request
_MOST_LINES = 50
_MOST_MEMORIES = 10
_MOST_DAYS = 366
_BATCH = re.compile("batch-[0-9a-f]{32}")
_WIDTH = 100  # columns of an activity line


def _schema(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(words: str, longest: int = 200) -> dict[str, Any]:
    return {"type": "string", "description": words, "maxLength": longest}


class Services:
    """The answers to a client, over a session that is open.

    Args:
        silas: The session.
        ahead: What comes within so many days.
    """

    def __init__(self, silas: Session, ahead: "Callable[[int], Awaitable[Ahead]]") -> None:
        self._silas = silas
        self._ahead = ahead

    def offers(self) -> tuple[McpOffer, ...]:
        """Everything that is offered."""
        return (
            McpOffer(
                "ask",
                "Ask Silas to do or say something. What it would do is a plan, which waits for "
                "the owner's approval; nothing runs without it.",
                _schema(
                    ("text",),
                    text=_text("The request.", _LONGEST),
                    workspace=_text("The directory this is about, absolute.", 4096),
                ),
                self.ask,
            ),
            McpOffer(
                "plan_status",
                "What became of a plan: waiting for the owner, at work, done, refused, or taken "
                "back. Of a batch of moved files, too.",
                _schema(("id",), id=_text("The plan's id, as `ask` told it.")),
                self.plan_status,
            ),
            McpOffer(
                "memory_search",
                "What Silas remembers that fits a text.",
                _schema(("text",), text=_text("What to look for.", 2000)),
                self.memory_search,
            ),
            McpOffer(
                "activity",
                "What Silas did lately, one sentence a line.",
                _schema(last={"type": "integer", "description": f"At most {_MOST_LINES} lines."}),
                self.activity,
            ),
            McpOffer(
                "ahead",
                "When goals, projects and reminders come or how they stand. What a reminder says "
                "is for the owner alone.",
                _schema(days={"type": "integer", "description": f"At most {_MOST_DAYS}."}),
                self.ahead,
            ),
            McpOffer(
                "pause_goal",
                "Keep a goal from running until its owner resumes it. Only the owner can.",
                _schema(
                    ("id",), id=_text("The goal's id, or words of its title, as `ahead` has them.")
                ),
                self.pause_goal,
            ),
            McpOffer(
                "tighten_approvals",
                "Have Silas ask its owner as often as configured again. Nothing here makes it ask "
                "less often.",
                _schema(),
                self.tighten_approvals,
            ),
        )

    async def ask(self, arguments: Mapping[str, Any]) -> str:
        """One turn of a stranger's: unsigned, on a connection of its own."""
        message = ChannelMessage(
            channel=MCP_CLIENT,
            sender_id="an MCP client",
            text=arguments["text"],
            timestamp=self._silas.messages.clock.now(),
        )
        workspace = arguments.get("workspace")
        if workspace is not None and not Path(workspace).is_absolute():
            raise PlanFamilyError("`workspace` must be an absolute path.", code="E_PLAN_WORKSPACE")
        reply = await self._silas.stream.handle(Incoming(message, MCP_CLIENT, workspace=workspace))
        if reply.plan is None:
            return reply.text
        return f"{reply.text}\n\nThe plan's id is {reply.plan.id}."

    async def plan_status(self, arguments: Mapping[str, Any]) -> str:
        """How it stands with one plan."""
        name = arguments["id"]
        if any(item.id == name for item in await self._silas.runs.proposer.waiting()):
            return f"{name} waits for the owner's approval."
        item = await self._silas.store.get(name)
        if item is None and (words := self._batch(name)):
            return words
        if item is None:
            return f"There is no plan {name!r}: it was never proposed, or not approved."
        result = await self._silas.runs.work.result(name)
        back = self._silas.taken_back(item)
        state = self._silas.undoing.state(item).replace(UNDONE, "taken back")
        told = f"{name} is {state}{self._asks(item)}"
        if back:  # ahead of what it did, which does not stand any more
            told = f"{told}. {back}"
        if result is None:
            return told
        ended = f"{told}\n\nBefore that: " if back else f"{told}: "
        return "\n\n".join((f"{ended}{result.summary}", *result_texts(result)))

    def _asks(self, item: WorkItem) -> str:
        """That running work or a task of it waits for its owner; what it asks is for him alone."""
        asking = self._silas.store.asking() if item.status is WorkItemStatus.running else ()
        if item.id in asking:
            return " and waits for its owner's answer to a question"
        tasks = ", ".join(name for name in item.tasks if name in asking)
        return f" and waits for its owner's answer to a question of {tasks}" if tasks else ""

    def _batch(self, name: str) -> str:
        """How it stands with a batch of moved files, without their names; empty where it is none.

        Args:
            name: Its whole id.
        """
        from silas.work.batches.words import batch_state  # noqa: PLC0415 - few clients ask

        kept = self._silas.batch(name) if _BATCH.fullmatch(name) else None
        return "" if kept is None else batch_state(kept)

    async def memory_search(self, arguments: Mapping[str, Any]) -> str:
        """What is remembered for this connection."""
        found = await self._silas.retriever.search(arguments["text"], MCP_CLIENT, _MOST_MEMORIES)
        return "\n".join(one.item.content for one in found) or "Nothing is remembered that fits."

    async def ahead(self, arguments: Mapping[str, Any]) -> str:
        """What is to come and how projects stand; nothing can be changed from here."""
        from silas.services.projects import state_words  # noqa: PLC0415 - few clients ask

        days = max(1, min(arguments.get("days", 7), _MOST_DAYS))
        found = await self._ahead(days)
        lines = [_coming(one, found.zone) for one in found.coming]
        lines += [f"goal {one.id} ({one.title}) is paused" for one in found.paused]
        lines += [
            f"goal {one.id} ({one.title}) starts nothing: its approval has lapsed, and its owner "
            "can see why with `silas ahead`"
            for one in found.alone
            if one.lapsed
        ]
        for project in found.projects:
            lines.append(f"project {project.id} ({project.title}):")
            for number, step in enumerate(project.steps, start=1):
                lines += [
                    f"  {number}. {task.id}: {state_words(task, project.waits)}" for task in step
                ]
        lines = [*(lines or [f"Nothing comes within {days} days."]), *found.warnings, *found.asks]
        return "\n".join(map(show, lines))

    async def pause_goal(self, arguments: Mapping[str, Any]) -> str:
        """Less of what runs by itself, on record as a client's; resuming is its owner's."""
        goal = self._silas.pause(await self._silas.find_goal(arguments["id"]), why=_PAUSED)
        name = await self._silas.unasked.ahead().goal_name(goal.id)
        return f"{name} is paused; its owner can resume it with `silas goals resume {goal.id}`."

    async def tighten_approvals(self, arguments: Mapping[str, Any]) -> str:
        """Settings that a card widened are as configured again."""
        del arguments
        return self._silas.tighten().words

    async def activity(self, arguments: Mapping[str, Any]) -> str:
        """The latest entries of the record, in words."""
        last = max(1, min(arguments.get("last", 20), _MOST_LINES))
        log = self._silas.audit
        if not isinstance(log, AuditLog):
            raise AssertionError("the audit of a session is a log")
        head = await log.head()
        entries = await log.entries(after=max(head.seq - last, 0), limit=last)
        zone = (await self._ahead(1)).zone
        return "\n".join(timeline(entries, zone, width=_WIDTH))


def _coming(one: "Upcoming", zone: ZoneInfo) -> str:
    """A moment; of a reminder nothing but that it is one."""
    what = "a reminder" if one.kind == "reminder" else f"goal {one.id} ({one.title})"
    again = f", {one.again}" if one.again else ""
    return f"{one.due.astimezone(zone):%Y-%m-%d %H:%M} {what}{again}"
