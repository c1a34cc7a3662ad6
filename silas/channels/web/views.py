"""What the cockpit's HTTP endpoints answer with: small frozen shapes, and no secret in any."""

from typing import Literal

from pydantic import AwareDatetime

from silas.audit.kinds import Kind
from silas.channels.web.views_ahead import ProjectRow
from silas.types import FrozenModel


class Problem(FrozenModel):
    """What every refusal looks like: a stable code, and one sentence that says what to do.

    Attributes:
        field: Which field of what was sent it is about; left out where it is about none.
    """

    code: str
    message: str
    field: str = ""


class ActivityView(FrozenModel):
    """One thing that happened, in a sentence.

    Attributes:
        seq: Its number in the audit log.
        quiet: Whether it is a step in between, which is left out unless everything is asked for.
        work_item_id: Whose; empty where it belongs to none.
    """

    seq: int
    at: AwareDatetime
    kind: Kind
    words: str
    work_item_id: str = ""
    event: str = ""
    quiet: bool = False


class Activity(FrozenModel):
    """A page of entries, the newest first.

    Attributes:
        more: Whether there may be older ones.
        before: What to ask for next, as `before`.
    """

    entries: tuple[ActivityView, ...]
    more: bool
    before: int


class SignedApprovalView(FrozenModel):
    """What is known of a signed approval. Times in UTC.

    Attributes:
        hash: Hex SHA-256 of what was signed for.
        expires_at: Null where the token itself is not kept.
        uses: How often it may be used, and how often it was.
        device: On which device the owner answered; empty where that was not a browser.
    """

    token_id: str
    hash: str
    scope: str
    verdict: str
    issued_at: AwareDatetime
    expires_at: AwareDatetime | None
    max_executions: int
    uses: int
    device: str = ""


class RunStepView(FrozenModel):
    """One thing that ran: a tool call, the checks, a change of files."""

    at: AwareDatetime
    words: str
    state: Literal["running", "done", "failed", "unknown"]


class EntryDetail(ActivityView):
    """An entry with what is known behind it; null where the entry is not about such a thing."""

    shown: tuple[str, ...] | None = None
    signed: SignedApprovalView | None = None
    ran: tuple[RunStepView, ...] | None = None
    diff: str = ""


class Metric(FrozenModel):
    """One measure of how the cockpit does (spec 0.5.6).

    Attributes:
        value: Null where there is not enough to say.
        unit: `s`, `taps`, `%` or `a week`.
        state: `good`, `watch`, or `none` where there is not enough.
        words: What it means, in one sentence.
    """

    name: str
    title: str
    value: float | None
    unit: str
    target: str
    state: Literal["good", "watch", "none"]
    words: str


class WorkRow(FrozenModel):
    """One work item in the list.

    Attributes:
        status: As in `WorkItemStatus`, or `waiting` where its plan waits for an answer; `undone`
            where it was done and all that it changed was taken back; of a goal that
            does not go well `failing`, `repaired`, `paused` or `ended`.
        undoable: Whether what it changed stands and can be taken back now.
        taken_back: That what it changed was taken back, in one sentence; empty where it was not.
        part_of: The id of its project; empty where it is a task of none.
        asks: Whether `summary` says that a question of it waits in Review.
    """

    id: str
    title: str
    status: str
    created_at: AwareDatetime | None
    summary: str
    undoable: bool
    taken_back: str = ""
    part_of: str = ""
    asks: bool = False


class SectionView(FrozenModel):
    """A heading and plain lines."""

    heading: str
    lines: tuple[str, ...]


class CheckView(FrozenModel):
    """What one check found, in which attempt."""

    name: str
    passed: bool
    words: str
    output: str = ""
    attempt: int = 0


class BudgetRow(FrozenModel):
    """One budget in words, and which share of 1 is used."""

    words: str
    share: float


class WorkDetail(WorkRow):
    """A work item with everything behind it.

    Attributes:
        intent, risk, plan: The plan's card, made from the stored bytes.
        hash: Hex SHA-256 of those bytes.
        checks_changed: The files of its own checks that it changed, hidden characters made visible.
        diff: What changed, as a patch.
        output: What its last attempt printed; external text.
        report: What its executor says of it: a model's own words.
        grounds: What the record holds of that attempt.
        approval: The token that the plan runs under; null where none was given.
        running: Whether `POST /work/{id}/cancel` would do anything.
        project: Its tasks as a graph; null where it is no project.
        again: Whether `POST /work/{id}/ask` asks about its plan anew.
        rest: Whether `POST /work/{id}/rest` would ask about something.
        rest_as: The id of the project that its rest was approved as; empty where none was.
    """

    intent: str
    risk: str
    affected: str
    plan: tuple[SectionView, ...]
    hash: str
    checks: tuple[CheckView, ...]
    checks_changed: tuple[str, ...]
    diff: str
    output: str
    report: str
    grounds: str
    approval: SignedApprovalView | None
    attempts: int
    budget: tuple[BudgetRow, ...]
    next_steps: tuple[str, ...]
    running: bool
    project: ProjectRow | None = None
    again: bool = False
    rest: bool = False
    rest_as: str = ""


class Done(FrozenModel):
    """It was done, or it was so already; in one sentence."""

    words: str


class ToolRow(FrozenModel):
    """A tool and how it fares; its title is what people read."""

    name: str
    title: str
    risk: str
    scopes: tuple[str, ...]
    health: str
    last_error: str | None


class WorkerRow(FrozenModel):
    """A worker of the owner's, or the fault of its file."""

    name: str
    fault: str
    description: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    delegates: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()


class MemoryRow(FrozenModel):
    """One memory and how far it is trusted.

    Attributes:
        trust: As in `TrustLevel`.
        trust_words: What stands behind it, and what follows from that, in one sentence.
        sources: Where it came from.
        at: When it was last changed.
        uses: How often it was brought into view.
        fixed: Whether nothing can change it here.
    """

    id: str
    text: str
    taint: str
    trust: str
    trust_words: str
    sources: tuple[str, ...]
    at: AwareDatetime
    uses: int
    fixed: bool


class Memories(FrozenModel):
    """What was found; `words` says why nothing could be where that is so."""

    memories: tuple[MemoryRow, ...]
    words: str = ""


class Fact(FrozenModel):
    """One line of the settings in force."""

    name: str
    value: str
    words: str = ""


class Facts(FrozenModel):
    """A part of the settings in force."""

    heading: str
    facts: tuple[Fact, ...]


class Settings(FrozenModel):
    """What the configuration in force comes to, without any secret; `words`: how to change it."""

    parts: tuple[Facts, ...]
    words: str


class FindingView(FrozenModel):
    """One part that Silas needs: `ok`, `advice` (it works, and could be better) or `failed`."""

    part: str
    ok: bool
    state: Literal["ok", "advice", "failed"]
    words: str


class Doctor(FrozenModel):
    """Every part, whether nothing failed, and in `words` what is true of all of them."""

    ok: bool
    words: str
    findings: tuple[FindingView, ...]


class SignedEntry(FrozenModel):
    """The newest entry of the record, signed: the line to keep elsewhere.

    Attributes:
        words: What was done.
        line: The entry's number and hash with the owner's signature, as witnesses keep it.
        faults: Which witness does not have it, and why.
    """

    words: str
    line: str
    faults: tuple[str, ...] = ()


class DeviceView(FrozenModel):
    """A paired browser. `this` is the one that asks."""

    id: str
    name: str
    level: str
    paired_at: AwareDatetime | None = None
    seen_at: AwareDatetime | None = None
    revoked: bool = False
    this: bool = False


class PairingLinkView(FrozenModel):
    """A fresh pairing link, good once and for ten minutes."""

    link: str


class Choice(FrozenModel):
    """One choice of onboarding."""

    value: str
    label: str
    words: str


class Onboarding(FrozenModel):
    """Where the first run stands (spec 1.5).

    Attributes:
        needed: Whether its cards should be shown.
        provider: What was chosen; empty before that.
        in_force: The model that answers now.
        key: `needed`, `stored` or `none`: whether the provider's key is wanted and there.
        restart: Whether what was chosen counts from the next start on.
    """

    needed: bool
    provider: str
    providers: tuple[Choice, ...]
    in_force: str
    key: Literal["needed", "stored", "none"]
    restart: bool
    name: str = ""
    email: str = ""
    phone: str = ""
    words: str = ""


class SecretAsked(FrozenModel):
    """A secure input waits; its card comes over the WebSocket."""

    ref_id: str
    label: str


class StoredSecretView(FrozenModel):
    """The answer to a secret that was kept, and all of it (spec 8.1)."""

    stored: Literal[True] = True
