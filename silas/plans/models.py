"""Work items: one structure from a one-shot task to an indefinite goal (spec 3.3)."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from silas.approval import ApprovalToken
from silas.gates import AccessLevel, EscalationAction, Expectation, Gate
from silas.plans.goals.standing import StandingAsk
from silas.plans.writes import read_writes
from silas.types import FrozenModel, InteractionMode


class WorkItemType(StrEnum):
    """How a work item executes."""

    task = "task"
    """Bounded, single-agent execution with a retry loop."""
    project = "project"
    """Tasks in dependency order."""
    goal = "goal"
    """Scheduled verification that spawns fix tasks on failure."""


class WorkItemStatus(StrEnum):
    """Where a work item stands."""

    pending = "pending"
    running = "running"
    healthy = "healthy"
    done = "done"
    failed = "failed"
    stuck = "stuck"
    blocked = "blocked"
    paused = "paused"


class Budget(FrozenModel):
    """Resource limits, enforced by the runtime before every action."""

    max_tokens: int = Field(default=200_000, ge=1)
    max_cost_usd: float = Field(default=2.00, ge=0)
    max_wall_time_seconds: int = Field(default=1800, ge=1)
    max_attempts: int = Field(default=5, ge=1)
    max_planner_calls: int = Field(default=3, ge=0)


class BudgetUsed(FrozenModel):
    """Resources consumed so far; never less than none, and always a number."""

    tokens: int = Field(default=0, ge=0)
    cost_usd: float = Field(default=0.0, ge=0)
    wall_time_seconds: float = Field(default=0.0, ge=0)
    attempts: int = Field(default=0, ge=0)
    planner_calls: int = Field(default=0, ge=0)
    executor_runs: int = Field(default=0, ge=0)

    def exceeds(self, budget: Budget) -> bool:
        """Whether any limit is reached: at the limit is exhausted (`>=`, spec 3.3).

        A limit of zero on cost or planner calls means that none may be used, not that nothing
        may run: work that costs nothing goes on under it.
        """
        return (
            self.tokens >= budget.max_tokens
            or self.cost_usd >= budget.max_cost_usd > 0
            or self.cost_usd > budget.max_cost_usd
            or self.wall_time_seconds >= budget.max_wall_time_seconds
            or self.attempts >= budget.max_attempts
            or self.planner_calls >= budget.max_planner_calls > 0
        )

    def merge(self, child: "BudgetUsed") -> "BudgetUsed":
        """The sum, field by field: a parent carries all its children used."""
        return BudgetUsed(
            **{name: getattr(self, name) + getattr(child, name) for name in type(self).model_fields}
        )


def _true_or_hosts(value: object) -> object:
    """One sentence instead of one for each kind it could have been."""
    if isinstance(value, list):
        hosts = cast(list[object], value)
        if all(isinstance(host, str) for host in hosts):
            return hosts
    elif isinstance(value, bool):
        return value
    raise ValueError("must be true, false or a list of host names")


class VerificationCheck(FrozenModel):
    """An external check that the agent cannot modify.

    `network` is a list of the hosts it may reach; `true` stands for those of the plan and of the
    addresses in its own command (decision D41).
    """

    name: str = Field(min_length=1)
    run: str = Field(min_length=1)
    expect: Expectation
    timeout: int = Field(default=60, ge=1)
    network: Annotated[bool | list[str], BeforeValidator(_true_or_hosts)] = False


class WorkItem(BaseModel):
    """The universal work structure. Field meanings: spec 3.3, and B1, B22, D70, D504, D520.

    The plan part is what is hashed and approved; the state part is the runtime's.
    """

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    type: WorkItemType
    title: str = Field(min_length=1)
    parent: str | None = None
    spawned_by: str | None = None
    follow_up_of: str | None = None
    domain: str | None = None
    agent: Literal["ephemeral", "stream"] = "ephemeral"
    budget: Budget = Field(default_factory=Budget)
    needs_approval: bool = True
    approval_token: ApprovalToken | None = None
    body: str = ""
    interaction_mode: InteractionMode = InteractionMode.confirm_only_when_required
    input_artifacts_from: list[str] = Field(default_factory=list[str])
    verify: list[VerificationCheck] = Field(default_factory=list[VerificationCheck])
    gates: list[Gate] = Field(default_factory=list[Gate])
    skills: list[str] = Field(default_factory=list[str])
    access_levels: dict[str, AccessLevel] = Field(default_factory=dict[str, AccessLevel])
    escalation: dict[str, EscalationAction] = Field(default_factory=dict[str, EscalationAction])
    schedule: str | None = None
    on_failure: str = "report"
    on_stuck: str = "consult_planner"
    failure_context: str | None = None
    tasks: list[str] = Field(default_factory=list[str])
    depends_on: list[str] = Field(default_factory=list[str])
    # what a goal does when it is due: its own work instead of its checks, or asking about the files
    # of a folder; hashed when set
    cycle: Literal["work", "when", "tidy"] | None = None
    # how far one yes to a goal goes (decision D520); hashed when set
    standing: StandingAsk | None = None
    # what it may touch (decision B1); hashed when set
    workspace: str | None = Field(default=None, min_length=1)
    writes: Annotated[list[str] | None, BeforeValidator(read_writes)] = None
    read: list[str] = Field(default_factory=list[str])
    network: list[str] = Field(default_factory=list[str])
    tools: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    worker: str | None = Field(default=None, min_length=1)
    credential_refs: dict[str, str] = Field(default_factory=dict[str, str])
    # state, managed by the runtime, never by the agent
    status: WorkItemStatus = WorkItemStatus.pending
    attempts: int = 0
    budget_used: BudgetUsed = Field(default_factory=BudgetUsed)
    verification_results: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    created_at: AwareDatetime = Field(default_factory=lambda: datetime.fromtimestamp(0, UTC))
    # a project's tasks, whose ids are in `tasks`; kept as items of their own (decision D530)
    children: list["WorkItem"] = Field(default_factory=list["WorkItem"])

    @model_validator(mode="before")
    @classmethod
    def _always_on_lives_in_the_stream(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        given = cast(dict[str, Any], data)
        always_on = given.get("type") == "goal" and given.get("schedule") == "always_on"
        return {"agent": "stream", **given} if always_on else given

    @model_validator(mode="after")
    def _tasks_and_projects_are_ephemeral(self) -> "WorkItem":
        if self.agent == "stream" and self.type is not WorkItemType.goal:
            raise ValueError(f"a {self.type} must use agent: ephemeral; only a goal may use stream")
        return self


class WorkItemResult(FrozenModel):
    """What executing a work item returns (spec 3.3).

    Attributes:
        diff: What changed in its workspace.
        output: What its last attempt printed, at most 20,000 characters: each call in plain words,
            and below it, indented, what the call put out. External text, without known secrets.
        report: What its executor says of the last attempt: the model's own words, external text,
            cleaned and without known secrets, at most 8,000 characters.
        grounds: What the record holds of that attempt: how many calls ran, and which failed.
        held: The hex SHA-256 of changes that wait for the owner's yes.
        checks_changed: What of the changes its own checks run.
        read_before: Where its changes followed text from outside: what was read before the last
            call that followed it, in words, in order, at most 40.
        unanswered: Whether it ended without success after a question that got no answer.
    """

    work_item_id: str
    status: WorkItemStatus
    summary: str
    last_error: str | None = None
    verification_results: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    budget_used: BudgetUsed = Field(default_factory=BudgetUsed)
    artifacts: dict[str, str] = Field(default_factory=dict[str, str])
    next_steps: list[str] = Field(default_factory=list[str])
    diff: str = ""
    held: str = ""
    output: str = ""
    report: str = ""
    grounds: str = ""
    checks_changed: list[str] = Field(default_factory=list[str])
    read_before: list[str] = Field(default_factory=list[str])
    unanswered: bool = False


MAX_CHECK_OUTPUT = 1000
"""Characters of a check's output that are kept (spec 4.10)."""


class VerificationResult(FrozenModel):
    """What one check found. `exit_code` is None where the command did not end by itself."""

    name: str
    passed: bool
    reason: str
    output: Annotated[str, AfterValidator(lambda text: text[:MAX_CHECK_OUTPUT])] = ""
    exit_code: int | None = None


class VerificationReport(FrozenModel):
    """What all checks found (spec 4.10). `all_passed` cannot contradict the results."""

    all_passed: bool
    results: list[VerificationResult]
    timestamp: AwareDatetime

    @property
    def failed(self) -> list[VerificationResult]:
        """Only the failures, in order."""
        return [result for result in self.results if not result.passed]

    @model_validator(mode="after")
    def _says_what_the_results_say(self) -> "VerificationReport":
        if self.all_passed == bool(self.failed):
            raise ValueError("all_passed must be true exactly when no result failed")
        return self
