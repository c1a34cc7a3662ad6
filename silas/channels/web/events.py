"""What Silas sends to a browser over the WebSocket, as one discriminated union (spec 8.1).

A frame is one event, or a JSON array of events where many pages listen.
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, TypeAdapter

from silas.channels.web.questions import CardEvent
from silas.channels.web.results import PostExecution
from silas.types import FrozenModel


class CardClosed(FrozenModel):
    """A question that waits no more, for the other devices: `answered`, `expired`, `closed`."""

    type: Literal["card_closed"] = "card_closed"
    request_id: str
    outcome: Literal["answered", "expired", "closed"]
    words: str
    """What the answer was, in the words of its button."""


class MessageEvent(FrozenModel):
    """A message in the Stream, of Silas or of the owner; kept, and sent again after `after`.

    Attributes:
        seq: Its place in the conversation.
        id: The page's own id of an owner's message, or Silas's.
        sender: `silas`, `owner` (signed on a device) or `auth` (a paired browser without a key).
        turn_id: The turn whose pieces this replaces; empty where none were shown.
        reply_to: The `id` of the message that this answers, under which it stands; empty for none.
        conversation: Which conversation it stands in; empty for the first one.
        replaces: The `id` of the message that was edited and asked again with this; empty for none.
    """

    type: Literal["message"] = "message"
    seq: int
    id: str
    text: str
    sender: Literal["silas", "owner", "auth"]
    timestamp: AwareDatetime
    turn_id: str = ""
    reply_to: str = ""
    conversation: str = ""
    replaces: str = ""


class MessageDelta(FrozenModel):
    """A piece of an answer as the model finds it; the message of the same turn replaces it.

    Pieces come where the model gives its answer in pieces and no gate could still stop it;
    elsewhere an answer comes whole, once its gates have passed it. They are not kept, known secrets
    are not in them, and the message may say something else: it counts, they do not.

    Attributes:
        begins: What was shown of this turn is withdrawn, and this is all there is; with an empty
            text nothing is.
        conversation: Which conversation it is said in.
    """

    type: Literal["message_delta"] = "message_delta"
    turn_id: str
    text: str
    begins: bool = False
    conversation: str = ""


class StatusEvent(FrozenModel):
    """What Silas does or waits for now, on the way to an answer; the next one replaces it.

    It is not kept, and gone with the next message or question. Empty words: nothing more.
    """

    type: Literal["in_passing"] = "in_passing"
    words: str
    conversation: str = ""


class ProgressStep(FrozenModel):
    """One step of running work, and how many seconds it took so far."""

    words: str
    state: Literal["running", "done", "failed"]
    seconds: float = 0.0


class Progress(FrozenModel):
    """How running work is going; the newest one of an item replaces the one before.

    Attributes:
        status: `running`, `verification_failed`, `done`, `blocked`, `stuck`, `failed`, `paused`.
        steps: What was done, oldest first; the last ones where there are many.
        log_tail: The last lines that was put out, also by what runs now.
        budget: What of the plan's budget is used: a line each, with its share of 1.
        stoppable: Whether `POST /work/{id}/cancel` would do anything.
        conversation: Which conversation it was asked for in.
    """

    type: Literal["progress"] = "progress"
    work_item_id: str
    title: str
    status: str
    message: str
    attempt: int = 0
    steps: tuple[ProgressStep, ...] = ()
    log_tail: tuple[str, ...] = ()
    budget: tuple["BudgetLine", ...] = ()
    stoppable: bool = True
    conversation: str = ""


class BudgetLine(FrozenModel):
    """One budget: `12 of 100 tokens`, 0.12, and whether too little of it may be left."""

    words: str
    share: float
    tight: bool = False


class Withheld(FrozenModel):
    """Something was forgotten: messages and results that were made of it are shown no more.

    A page puts the words in the place of a message's text and of a result's summary, output and
    report, drops the diff and what its checks said, and fetches anew what else it shows of work. It
    comes whenever something was forgotten, and after `stream_state` to a page that comes back, then
    with every place of the conversation that it is true of.

    Attributes:
        seqs: The places of the messages and results; empty where the conversation has none.
        words: What stands there instead.
    """

    type: Literal["withheld"] = "withheld"
    seqs: tuple[int, ...]
    words: str


class CueEvent(FrozenModel):
    """Something to notice, which stops nobody (0.5.4): answers come too fast, or many wait."""

    type: Literal["cue"] = "cue"
    kind: Literal["cadence", "density", "none"]
    words: str


class WaitingPlanView(FrozenModel):
    """A plan whose question is open and is not on a card now; `POST /work/{id}/ask` shows it.

    Attributes:
        work_item_id, title: Which.
        changes_wanted: Whether its owner asked for changes of it, on whichever device.
    """

    work_item_id: str
    title: str
    changes_wanted: bool = False


class PlansWaiting(FrozenModel):
    """Which plans wait for their owner has changed; these are all of them."""

    type: Literal["plans_waiting"] = "plans_waiting"
    waiting: tuple[WaitingPlanView, ...]


class ConversationView(FrozenModel):
    """A conversation as lists show it.

    Attributes:
        id: Names it; empty for the first one, which paths call `first`.
        title: Its title, or what stands for one; hidden characters are gone.
        named: Whether its owner gave the title.
        said_at: When its owner last said something in it, as ISO 8601; empty for never.
        archived: Whether it is put away; nothing can be said in it then.
        deleted: Whether it is gone for good.
    """

    id: str
    title: str
    named: bool
    said_at: str
    archived: bool
    deleted: bool = False


class ConversationEvent(FrozenModel):
    """A conversation was begun, renamed, archived or brought back, or something was said in it."""

    type: Literal["conversation"] = "conversation"
    conversation: ConversationView


class AskedIn(FrozenModel):
    """Which conversation a question belongs to; it comes before the question itself."""

    type: Literal["asked_in"] = "asked_in"
    request_id: str
    conversation: str


class StreamState(FrozenModel):
    """Everything a page needs when it connects: the same on every device.

    Attributes:
        level: `owner` where this session's device has a key, else `auth`.
        seq: The newest event's place.
        complete: Whether `transcript` is all there is after `after`; if not, older ones are at
            `GET /transcript?before=`, and the page forgets what it had.
        cards: Open questions, the oldest first.
        running: Work under way.
        coming: Answers that are under way, as far as they were shown.
        answering: The `id`s of messages that nothing was said to yet, the oldest first;
            `POST /answers/{id}/stop` ends the answer to one.
        waiting: Plans that wait for their owner.
        stopped: Words about an emergency stop in force; empty when there is none.
        changed: Words where the record was changed outside Silas; empty where it was not.
        head: The newest owner-signed head of the record, which the page keeps and shows when it
            connects again; empty where there is none.
        runbook: Whether no language model is configured.
        onboarding: Whether the first-run cards should be shown.
        conversation: Which conversation `transcript` is of: the one that was asked for, or the
            first one where that is not there or archived.
        conversations: The conversations, the one that was last said something in first.
        asked_in: Which conversation each open question belongs to, by `request_id`.
        answering_in: Which conversation each message of `answering` was said in.
        language: The code of the language that Silas speaks.
        now: What time it is here, which a page goes by whose device's clock is off.
    """

    type: Literal["stream_state"] = "stream_state"
    level: Literal["owner", "auth"]
    device: str
    now: AwareDatetime
    seq: int
    complete: bool
    transcript: tuple["Kept", ...]
    cards: tuple[CardEvent, ...]
    running: tuple[Progress, ...]
    waiting: tuple[WaitingPlanView, ...]
    stopped: str
    runbook: bool
    onboarding: bool
    coming: tuple[MessageDelta, ...] = ()
    answering: tuple[str, ...] = ()
    changed: str = ""
    head: str = ""
    conversation: str = ""
    conversations: tuple[ConversationView, ...] = ()
    asked_in: dict[str, str] = Field(default_factory=dict)
    answering_in: dict[str, str] = Field(default_factory=dict)
    language: str = ""


class Ack(FrozenModel):
    """A message or an answer has arrived and is kept; the page need not send it again."""

    type: Literal["ack"] = "ack"
    id: str


class RefusedEvent(FrozenModel):
    """Something that was sent and did not count, and why: one sentence. `id` as in what it was."""

    type: Literal["error"] = "error"
    id: str = ""
    code: str
    message: str


class StopEvent(FrozenModel):
    """The emergency stop began or ended."""

    type: Literal["stopped"] = "stopped"
    words: str
    """Empty when it ended."""


class RecordEvent(FrozenModel):
    """How the record stands, told when a head was signed and when a change was noticed.

    Attributes:
        changed: Words where the record was changed outside Silas; empty where it was not.
        head: Its newest owner-signed head, which the page keeps as that of `stream_state`; empty
            where there is none that is newer.
    """

    type: Literal["record"] = "record"
    changed: str
    head: str


class DevicePaired(FrozenModel):
    """Another browser came in; told to those that are here, and not kept."""

    type: Literal["device_paired"] = "device_paired"
    words: str


class ModelsEvent(FrozenModel):
    """Other models answer from now on; `runbook`: whether it is the built-in one."""

    type: Literal["models"] = "models"
    runbook: bool


class Undone(FrozenModel):
    """A work item's changes were taken back."""

    type: Literal["undone"] = "undone"
    work_item_id: str


class RecordGrew(FrozenModel):
    """The record has new entries, from whatever program: what a page shows of work, goals,
    reminders and approvals may be older than what there is.
    """

    type: Literal["happened"] = "happened"


Kept = Annotated[MessageEvent | PostExecution, Field(discriminator="type")]
"""What is kept of the conversation and sent again; each has its `seq`."""

Outbound = Annotated[
    MessageEvent
    | MessageDelta
    | StatusEvent
    | Progress
    | PostExecution
    | Withheld
    | CueEvent
    | CardClosed
    | StreamState
    | Ack
    | RefusedEvent
    | StopEvent
    | Undone
    | RecordGrew
    | RecordEvent
    | ModelsEvent
    | DevicePaired
    | PlansWaiting
    | ConversationEvent
    | AskedIn
    | CardEvent,
    Field(discriminator="type"),
]
"""Everything Silas may send."""

StreamState.model_rebuild()
Progress.model_rebuild()

outbound: TypeAdapter[Outbound] = TypeAdapter(Outbound)
"""For the reference page and for tests."""
