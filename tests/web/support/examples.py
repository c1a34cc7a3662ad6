"""One card of each kind as somebody might really get it: for pictures, and for the page's tests."""

from typing import Any

from silas.cards.models import (
    Action,
    AutonomyThresholdCard,
    BatchAnswer,
    BatchReviewCard,
    BatchRow,
    Card,
    CheckpointCard,
    ConnectionFailureCard,
    ConnectionSetupCard,
    DecisionAnswer,
    DecisionCard,
    Detail,
    DraftAnswer,
    DraftReviewCard,
    GateCard,
    HeldCard,
    PermissionEscalationCard,
    PlanAnswer,
    PlanCard,
    SecureInputAnswer,
    SecureInputCard,
    SetupAnswer,
    SuggestionCard,
    ToolCallCard,
)
from silas.types import Risk


def _yes(label: str, value: Any) -> Action[Any]:
    return Action[Any](label=label, value=value, role="recommended")


def _or(label: str, value: Any) -> Action[Any]:
    return Action[Any](label=label, value=value, role="alternative")


def _no(label: str, value: Any) -> Action[Any]:
    return Action[Any](label=label, value=value, role="decline")


def _chosen(value: str) -> DecisionAnswer:
    return DecisionAnswer(selected_value=value, approved=True)


_DRAFT = """\
Hello Marta,

thank you for the figures. The second table still has last year's rates; could you send me the
new one by Thursday? The rest looks right to me.

Best wishes
"""
_MAILS = (
    ("m1", "Newsletter: what is new in March", False),
    ("m2", "Newsletter: ten recipes for spring", False),
    ("m3", "Your parcel was delivered", False),
    ("m4", "Contract for the new office, please sign", True),
    ("m5", "Newsletter: the week in science", False),
)

PLAN = PlanCard(
    intent="Apply the linter's safe fixes to the workspace",
    risk=Risk.medium,
    rationale="You asked: fix the failing test. The tests decide whether it worked.",
    actions=(
        _yes("Approve and run", PlanAnswer(verdict="approved")),
        _or("Ask for another plan", PlanAnswer(verdict="edit_requested")),
        _no("Do nothing", PlanAnswer(verdict="declined")),
    ),
    safe=PlanAnswer(verdict="declined"),
    effect="Changes files in `orders` after 1 check passed, without a network; you can undo it.",
    details=(
        Detail(
            heading="What it does",
            lines=("Some failures are mistakes that a linter knows.", "ruff check --fix ."),
        ),
        Detail(
            heading="What it may touch",
            lines=("changes: /home/me/orders", "network: none", "proved by: `tests_pass`"),
            open=True,
        ),
        Detail(heading="What verifies it", lines=("tests_pass: python3 -m pytest -q",)),
        Detail(heading="Budget", lines=("50000 tokens, 0.50 USD, 10 minutes, 1 attempt",)),
    ),
    work_item_id="task-example",
    plan_hash="5f2b8c1e" * 8,
)
GATE = GateCard(
    intent="Go on although the work costs more than usual",
    risk=Risk.medium,
    rationale="The plan has used 82 % of its budget, and a step is left.",
    actions=(_yes("Go on", "approve"), _no("Stop here", "block")),
    safe="block",
    gate_name="budget",
)
TOOL_CALL = ToolCallCard(
    intent="Send one mail to marta@example.org",
    risk=Risk.high,
    rationale="The approved plan does not cover this call.",
    actions=(_yes("Send this mail", "approve"), _no("Do not send", "decline")),
    safe="decline",
    details=(
        Detail(heading="Arguments", lines=("to: marta@example.org", "subject: The new rates")),
        Detail(heading="From a stranger's text", lines=("subject, read in a mail of 2 March",)),
    ),
    tool_name="mail_send",
    call_digest="0b7d" * 16,
)
HELD = HeldCard(
    intent="Apply 2 changes of 'Sort my notes'",
    risk=Risk.high,
    rationale=(
        "The work is done, and nothing of it is applied. It followed text that it had read, which "
        "is neither yours nor the plan's: look at what it wants to change."
    ),
    actions=(
        _yes("Apply exactly these changes", "apply"),
        _or("Drop them for good", "drop"),
        _no("Apply nothing, keep them", "keep"),
    ),
    safe="keep",
    affected="2 changes in /home/marta/notes",
    details=(
        Detail(heading="What needs your word, and why", lines=("todo.md: it is deleted",)),
        Detail(heading="Whose words led there", lines=("  what came of: Read inbox.txt",)),
        Detail(heading="Line by line", lines=("--- a/todo.md", "+++ /dev/null", "-Buy milk.")),
    ),
    work_item_id="task-example",
    digest="7c1e" * 16,
)
CHECKPOINT = CheckpointCard(
    intent="The first half is done: 3 of 6 files are converted",
    risk=Risk.low,
    rationale="You wanted to look before the rest is converted.",
    actions=(_yes("Convert the rest", "go on"), _no("Stop with three", "stop here")),
    safe="stop here",
)
BATCH = BatchReviewCard(
    intent="Archive five mails that need nothing",
    risk=Risk.medium,
    rationale="Four look like those you archived before; one does not.",
    actions=(
        _yes("Archive all", BatchAnswer(verdict="approve", selected_item_ids=())),
        _or("Archive the chosen ones", BatchAnswer(verdict="edit_selection")),
        _no("Archive none", BatchAnswer(verdict="decline")),
    ),
    safe=BatchAnswer(verdict="decline"),
    affected="5 mails",
    batch_id="batch-example",
    item_ids=tuple(name for name, _, _ in _MAILS),
    rows=tuple(BatchRow(item_id=name, title=title, unusual=odd) for name, title, odd in _MAILS),
)
DRAFT = DraftReviewCard(
    intent="Answer Marta's mail about the rates",
    risk=Risk.medium,
    rationale="She asked on Monday, and you told me to keep an eye on it.",
    actions=(
        _yes("Send it", DraftAnswer(verdict="approve")),
        _or("Send it as I changed it", DraftAnswer(verdict="edit")),
        _or("Say it differently", DraftAnswer(verdict="rephrase")),
        _no("Do not answer", DraftAnswer(verdict="reject")),
    ),
    safe=DraftAnswer(verdict="reject"),
    draft=_DRAFT,
)
DECISION = DecisionCard(
    intent="Which of the two calendars should the meeting go to?",
    risk=Risk.low,
    rationale="Both are called Work.",
    actions=(
        _yes("The one of the office", _chosen("office")),
        _or("My own", _chosen("own")),
        _no("Neither", DecisionAnswer()),
    ),
    safe=DecisionAnswer(),
    allow_freetext=True,
)
SUGGESTION = SuggestionCard(
    intent="Look through the mails of the night every morning at eight",
    risk=Risk.low,
    rationale="You asked for it on each of the last five mornings.",
    actions=(_yes("Do it from tomorrow", _chosen("yes")), _no("Not now", DecisionAnswer())),
    safe=DecisionAnswer(),
    suggestion_id="suggestion-example",
)
THRESHOLD = AutonomyThresholdCard(
    intent="Archive newsletters without asking",
    risk=Risk.high,
    rationale="You changed nothing in the last 40 batches.",
    actions=(
        _yes("Archive them unasked", "approve"),
        _or("Ask more often instead", "tighten_now"),
        _no("Keep asking", "decline"),
    ),
    safe="decline",
    proposal_id="proposal-example",
)
SECRET = SecureInputCard(
    intent="Store the key of your search provider",
    risk=Risk.low,
    rationale="Searching the web needs it. It goes into the key store and nowhere else.",
    actions=(
        _yes("Store the key", SecureInputAnswer(ref_id="ref-example", success=True)),
        _no("Not now", SecureInputAnswer(ref_id="ref-example")),
    ),
    safe=SecureInputAnswer(ref_id="ref-example"),
    ref_id="ref-example",
    label="API key",
    input_hint="begins with tvly-",
)
SETUP = ConnectionSetupCard(
    intent="Connect your mail",
    risk=Risk.low,
    rationale="Open the page, type the code, and say that you have done it.",
    actions=(
        _yes("I have done it", SetupAnswer(step_type="device_code", action="done")),
        _or("It does not work", SetupAnswer(step_type="device_code", action="trouble")),
        _no("Leave it", SetupAnswer(step_type="device_code", action="cancel")),
    ),
    safe=SetupAnswer(step_type="device_code", action="cancel"),
    step_type="device_code",
    step={
        "verification_url": "https://example.org/device",
        "user_code": "WDJB-MJHT",
        "expires_in": 900,
        "poll_interval": 5,
    },
)
ESCALATION = PermissionEscalationCard(
    intent="Let the mail connection send",
    risk=Risk.high,
    rationale="You asked for an answer to Marta; so far it may only read.",
    actions=(
        _yes("Let it send", _chosen("approve")),
        _or("Just this once", _chosen("just_this_once")),
        _no("Keep it reading only", DecisionAnswer()),
    ),
    safe=DecisionAnswer(),
    connection_name="mail",
    current=("read mail",),
    requested=("read mail", "send mail"),
)
FAILURE = ConnectionFailureCard(
    intent="Your mail cannot be reached",
    risk=Risk.low,
    rationale="The provider says that the permission has run out.",
    actions=(
        _yes("Sign in again", _chosen("reauth")),
        _or("Try once more", _chosen("retry")),
        _no("Skip it today", DecisionAnswer()),
    ),
    safe=DecisionAnswer(),
    service="mail",
    failure_type="token_expired",
)
FOR_GOOD = GateCard(
    intent="Delete 214 mails for good",
    risk=Risk.irreversible,
    rationale="They are in the trash, and the provider keeps no copy.",
    actions=(_yes("Delete them for good", "approve"), _no("Keep them", "block")),
    safe="block",
    affected="214 mails in the trash",
    details=(Detail(heading="What goes", lines=("all mails in the trash older than a year",)),),
    gate_name="irreversible",
)
"""The gravest rung of the ladder, which no kind above has."""

EXAMPLES: dict[str, Card[Any]] = {
    "plan": PLAN,
    "gate": GATE,
    "tool-call": TOOL_CALL,
    "held-changes": HELD,
    "checkpoint": CHECKPOINT,
    "batch": BATCH,
    "draft": DRAFT,
    "decision": DECISION,
    "suggestion": SUGGESTION,
    "threshold": THRESHOLD,
    "secret": SECRET,
    "setup": SETUP,
    "escalation": ESCALATION,
    "failure": FAILURE,
    "for-good": FOR_GOOD,
}
