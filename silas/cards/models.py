"""Cards: one question each, with an answer that harms nobody (spec 0.5.3, 3.11, 4.1.1)."""

from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, model_validator

from silas.types import FrozenModel, Risk

AnswerT = TypeVar("AnswerT")

_ROLE_ORDER = {"recommended": 0, "alternative": 1, "decline": 2}


class Action(FrozenModel, Generic[AnswerT]):
    """One choice.

    Attributes:
        label: The concrete consequence ("Approve and run", "Archive 10"), never "OK".
        value: The answer this choice gives.
        role: Recommended comes first, decline last (spec 0.5.3, enforced).
    """

    label: str = Field(min_length=1)
    value: AnswerT
    role: Literal["recommended", "alternative", "decline"] = "alternative"


class Detail(FrozenModel):
    """One expandable part of a card: a heading and plain lines.

    Attributes:
        open: It is shown without a tap at any risk: what an action does is never collapsed.
    """

    heading: str
    lines: tuple[str, ...]
    open: bool = False


class Card(FrozenModel, Generic[AnswerT]):
    """A question to the owner.

    Attributes:
        intent: One line: what this does.
        risk: Decides the gesture and whether details start open.
        rationale: One or two sentences: why.
        actions: Choices, recommended first, decline last.
        safe: What silence, a timeout or a closed connection means: declines, blocks or dismisses.
        timeout_seconds: How long to wait for an answer.
        affected: Count and summary of what is affected, where that applies.
        effect: What happens, where, and whether it can be undone, in one sentence made by code from
            signed fields; empty where `intent` is such a sentence itself.
        details: Everything else, collapsed for low and medium risk.
    """

    own_words: ClassVar[bool] = False
    """Whether the answers are the asker's own, so that only its actions say which one declines."""

    intent: str = Field(min_length=1)
    risk: Risk
    rationale: str = Field(min_length=1)
    actions: tuple[Action[AnswerT], ...] = Field(min_length=1)
    safe: AnswerT
    timeout_seconds: float = Field(default=600.0, gt=0)
    affected: str = ""
    effect: str = ""
    details: tuple[Detail, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether it is asked where nobody looks, too, and waits there for whoever comes."""
        return False

    @property
    def outlives(self) -> bool:
        """Whether the end of Silas is no answer to it: what asks is ended itself, and may ask again
        at the next start.
        """
        return False

    @model_validator(mode="after")
    def _actions_in_order(self) -> "Card[AnswerT]":
        order = [_ROLE_ORDER[action.role] for action in self.actions]
        if order != sorted(order):
            raise ValueError("actions go recommended, alternative, decline")
        return self

    @model_validator(mode="after")
    def _safe_harms_nobody(self) -> "Card[AnswerT]":
        """What nobody said is never a yes: `safe` is no choice but the declining one."""
        offered = [action.value for action in self.actions if action.role != "decline"]
        declining = [action.value for action in self.actions if action.role == "decline"]
        dismisses = self.own_words and self.safe in declining
        if self.safe in offered or not (dismisses or _harmless(self.safe)):
            raise ValueError(f"the safe answer {self.safe!r} does not decline, block or dismiss")
        return self


class PlanAnswer(FrozenModel):
    """The owner's answer to a plan, before anything is signed.

    `waiting` and `left` are no answers of a person's. With `waiting` a channel says that the owner
    is to be asked elsewhere; with `left` that whoever was asked has gone, which is a no unless
    another program asks about the plan still.
    """

    verdict: Literal["approved", "declined", "edit_requested", "conditional", "waiting", "left"]


PLAN_DECLINED = PlanAnswer(verdict="declined")
PLAN_WAITS = PlanAnswer(verdict="waiting")
PLAN_LEFT = PlanAnswer(verdict="left")


class PlanCard(Card[PlanAnswer]):
    """A plan to approve; rendered from the very bytes that are hashed and signed.

    Attributes:
        work_item_id: Whose plan.
        plan_hash: Hex SHA-256 of the canonical plan bytes.
        files_hash: Hex SHA-256 over the plan and the files that it runs, and over its tasks with
            theirs; empty where it has neither.
        task_hashes: The hashes of its tasks' plans, where it is a project.
        files: What of files that hash counts, by path, those of its tasks with them.
    """

    work_item_id: str
    plan_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    files_hash: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    task_hashes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def approves(self) -> str:
        """The one hash that says yes beforehand to what this card shows."""
        return self.files_hash or self.plan_hash


class GateCard(Card[Literal["approve", "block"]]):
    """A gate that asks whether to go on."""

    gate_name: str


class ToolCallCard(Card[Literal["approve", "decline"]]):
    """One tool call that no approved plan covers.

    Attributes:
        tool_name: The tool.
        call_digest: Hex SHA-256 of the canonical tool, action and arguments.
        asked_by: The worker that asks, empty for the main executor.
    """

    tool_name: str
    call_digest: str
    asked_by: str = ""


class HeldCard(Card[Literal["apply", "drop", "keep"]]):
    """Verified changes of work that need the owner's word before any of them is applied.

    Attributes:
        work_item_id: Whose changes.
        digest: Hex SHA-256 of exactly these changes, which a yes binds.
    """

    work_item_id: str
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")


class DecisionAnswer(FrozenModel):
    """A chosen option, with optional free text (spec 3.11 `DecisionResult`).

    Attributes:
        signed: A paired device signed exactly this answer. Only the channel that verified the
            signature says so; whoever answers cannot.
    """

    selected_value: str | None = None
    freetext: str | None = None
    approved: bool = False
    signed: bool = False


class DecisionCard(Card[DecisionAnswer]):
    """A question with options; free text is optional, never required.

    Attributes:
        work_item_id: The work that waits for the answer: the question is kept for whoever comes in
            its time, also where nobody looks now. Empty for any other question.
        of_work: Whether running work asks it.
    """

    allow_freetext: bool = False
    work_item_id: str = ""
    of_work: bool = False

    @property
    def kept(self) -> bool:
        """See `Card.kept`."""
        return bool(self.work_item_id)

    @property
    def outlives(self) -> bool:
        """See `Card.outlives`."""
        return self.of_work


class CheckpointCard(Card[str]):
    """A pause between steps."""

    own_words: ClassVar[bool] = True


class BatchAnswer(FrozenModel):
    """Approve, decline, or a subset of the batch."""

    verdict: Literal["approve", "decline", "edit_selection"]
    selected_item_ids: tuple[str, ...] = ()


class BatchRow(FrozenModel):
    """One item of a batch: what it is, and whether it stands out (spec 0.5.4).

    Attributes:
        group: What it belongs to among the others; rows of one group stand together.
        reason: Why it is in the batch, and what it is known by.
        picture: Whether a page may ask for a small picture of it while the card is open.
    """

    item_id: str
    title: str
    unusual: bool = False
    group: str = ""
    reason: str = ""
    picture: bool = False


class BatchReviewCard(Card[BatchAnswer]):
    """Several alike items to approve together.

    Attributes:
        item_ids: In the order that an approval binds.
        rows: What a list shows of each; what stands out starts unchosen.
        work_item_id: The goal that asks: the card is kept for whoever comes in its time, and the
            end of Silas is no answer. Empty where somebody asked for it and is there.
    """

    batch_id: str
    item_ids: tuple[str, ...]
    rows: tuple[BatchRow, ...] = ()
    work_item_id: str = ""

    @property
    def kept(self) -> bool:
        """See `Card.kept`."""
        return bool(self.work_item_id)

    @property
    def outlives(self) -> bool:
        """See `Card.outlives`."""
        return bool(self.work_item_id)


class DraftAnswer(FrozenModel):
    """What becomes of a draft; the owner's own words with `edit`, and with nothing else."""

    verdict: Literal["approve", "edit", "rephrase", "reject"]
    edited_text: str | None = None


class DraftReviewCard(Card[DraftAnswer]):
    """A draft to send, change or drop."""

    draft: str


class SuggestionCard(Card[DecisionAnswer]):
    """Something Silas proposes to do next."""

    suggestion_id: str


class AutonomyThresholdCard(Card[Literal["approve", "decline", "tighten_now"]]):
    """A change of what Silas may do without asking."""

    proposal_id: str


class SecureInputAnswer(FrozenModel):
    """Whether a secret was stored; never the secret (spec 3.12)."""

    ref_id: str
    success: bool = False


class SecureInputCard(Card[SecureInputAnswer]):
    """Asks for a secret on a path outside the agent."""

    ref_id: str
    label: str
    input_hint: str = ""


class SetupAnswer(FrozenModel):
    """What the owner did at a connection setup step."""

    step_type: str
    action: Literal["done", "cancel", "trouble", "retry"]


class ConnectionSetupCard(Card[SetupAnswer]):
    """A step of setting up a connection, with what that step shows (spec 3.12)."""

    step_type: str
    step: Mapping[str, Any] = Field(default_factory=dict[str, Any])


class PermissionEscalationCard(Card[DecisionAnswer]):
    """A connection asks for more permissions."""

    connection_name: str
    current: tuple[str, ...]
    requested: tuple[str, ...]


class ConnectionFailureCard(Card[DecisionAnswer]):
    """A connection failed; its ways out, always with a skip."""

    service: str
    failure_type: str = "unknown"


def _harmless(answer: object) -> bool:
    """Whether an answer of a known kind lets nothing happen; an unknown kind does not count."""
    match answer:
        case PlanAnswer(verdict="declined") | BatchAnswer(verdict="decline", selected_item_ids=()):
            return True
        case DecisionAnswer(approved=False) | SecureInputAnswer(success=False):
            return True
        case SetupAnswer(action="cancel") | DraftAnswer(verdict="reject", edited_text=None):
            return True
        case "block" | "decline" | "keep":
            return True
        case _:
            return False


ALL_CARDS: tuple[type[Card[object]], ...] = (  # pyright: ignore[reportAssignmentType] - Card is invariant
    PlanCard,
    GateCard,
    ToolCallCard,
    HeldCard,
    CheckpointCard,
    BatchReviewCard,
    DraftReviewCard,
    DecisionCard,
    SuggestionCard,
    AutonomyThresholdCard,
    SecureInputCard,
    ConnectionSetupCard,
    PermissionEscalationCard,
    ConnectionFailureCard,
)
"""Every card class there is; tests and channels walk this list."""
