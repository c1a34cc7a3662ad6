"""What an approval is made of: subjects by digest, decisions, signed tokens (spec 3.6)."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from pydantic import AwareDatetime, Field

from silas.canonical import canonical_json, canonical_text, sha256_hex
from silas.types import Base64Bytes, FrozenModel


class ApprovalScope(StrEnum):
    """What an approval is for."""

    full_plan = "full_plan"
    single_step = "single_step"
    step_range = "step_range"
    tool_type = "tool_type"
    skill_install = "skill_install"
    credential_use = "credential_use"
    budget = "budget"
    self_update = "self_update"
    connection_act = "connection_act"
    connection_manage = "connection_manage"
    autonomy_threshold = "autonomy_threshold"
    standing = "standing"


class ApprovalVerdict(StrEnum):
    """What the owner said; `approved` authorises, `conditional` when its conditions are met."""

    approved = "approved"
    declined = "declined"
    edit_requested = "edit_requested"
    conditional = "conditional"


class ApprovalDecision(FrozenModel):
    """The owner's decision as a channel collected it; channels never sign."""

    verdict: ApprovalVerdict
    approval_strength: Literal["tap"] = "tap"
    conditions: dict[str, Any] = Field(default_factory=dict)


class Subject(FrozenModel):
    """What a token binds to: a work item, a batch, a threshold change or one tool call, by digest.

    Attributes:
        id: The subject's own identifier (`work_item_id` in the token).
        kind: `task`, `project`, `goal`, `tool_call`, `batch`, `threshold`.
        digest: Hex SHA-256 over the subject's canonical bytes.
        parent: The id of the parent subject, empty without one.
        policy: For a goal, its spawn policy hash; for a task spawned by a goal, the hash of the
            policy of which it provably is the product; empty otherwise.
        limits: The budget's numbers in declared order, so that a spawned task cannot exceed its
            goal's; empty where a budget means nothing.
        canonical: The canonical bytes that `digest` is of, for a signer that shows what it signs;
            without them such a signer refuses.
    """

    id: str
    kind: str
    digest: str
    parent: str = ""
    policy: str = ""
    limits: tuple[float, ...] = ()
    canonical: bytes = Field(default=b"", repr=False)


class ApprovalToken(FrozenModel):
    """The owner's signed approval.

    `executions_used` and `execution_nonces` are a view for people; the nonce store counts uses.
    """

    token_id: str
    plan_hash: str
    work_item_id: str
    scope: ApprovalScope
    verdict: ApprovalVerdict
    signature: Base64Bytes
    issued_at: AwareDatetime
    expires_at: AwareDatetime
    nonce: str
    approval_strength: Literal["tap"] = "tap"
    conditions: dict[str, Any] = Field(default_factory=dict)
    executions_used: int = 0
    max_executions: int = 1
    execution_nonces: tuple[str, ...] = ()


class TokenUse(NamedTuple):
    """One use of a token, about to be spent.

    `digest` is what runs: the plan's, or the spawned task's. `expires_at` is the token's.
    """

    token_id: str
    digest: str
    nonce: str
    max_executions: int
    expires_at: datetime

    @property
    def binding(self) -> str:
        """The content-bound key of spec 3.6."""
        return f"{self.token_id}:{self.digest}:{self.nonce}"


class Claims(NamedTuple):
    """What is signed: exactly the fields of spec 3.6; frozen vectors depend on this list."""

    plan_hash: str
    work_item_id: str
    scope: ApprovalScope
    verdict: ApprovalVerdict
    nonce: str
    approval_strength: Literal["tap"]
    issued_at: datetime
    expires_at: datetime
    max_executions: int
    conditions: dict[str, Any]


SIGNED_FIELDS = Claims._fields


def token_bytes(token: ApprovalToken | Claims) -> bytes:
    """The signed canonical bytes of a token, or of one that is about to be signed (spec 3.6).

    Written out field by field and in their order, because it runs at every check; tests hold it
    against the model's own JSON and the frozen vectors.

    Raises:
        TypeError, ValueError: A condition is not JSON; such a token was never signed.
    """
    text, uses = canonical_text, token.max_executions
    conditions = "{}" if token.conditions == {} else canonical_json(token.conditions)
    return (
        f'{{"approval_strength":{text(token.approval_strength)},"conditions":{conditions}'
        f',"expires_at":{text(_iso(token.expires_at))},"issued_at":{text(_iso(token.issued_at))}'
        f',"max_executions":{uses if type(uses) is int else canonical_json(uses)}'
        f',"nonce":{text(token.nonce)},"plan_hash":{text(token.plan_hash)}'
        f',"scope":{text(token.scope)},"verdict":{text(token.verdict)}'
        f',"work_item_id":{text(token.work_item_id)}}}'
    ).encode("ascii")


def _iso(moment: datetime) -> str:
    """A moment as Pydantic writes it: `Z` for UTC."""
    return moment.isoformat().replace("+00:00", "Z")


def token_id_of(signed: bytes) -> str:
    """The id that follows from the signed bytes, so that editing it is detected."""
    return f"token-{sha256_hex(signed)}"


class Verdict(NamedTuple):
    """Valid or not, and why. Falsy when invalid.

    `use` names what of an approval a valid answer uses up, such as one call of a plan's grant.
    """

    valid: bool
    reason: str
    code: str = ""
    use: str = ""

    def __bool__(self) -> bool:
        return self.valid


class ApprovalConfig(FrozenModel):
    """The `approval:` section of the configuration (spec 11).

    Attributes:
        default_ttl_minutes: How long a token authorises after it was issued.
        max_executions: Uses of an ordinary token, which is always one; more than one is for
            standing approvals, and is asked for when the token is issued.
        auto_approve_risk_levels: Must be empty: nothing is approved by itself.
        scope_min_strength: Minimum strength per scope; `tap` is the only one.
    """

    default_ttl_minutes: int = Field(default=30, ge=1, le=24 * 60)
    max_executions: int = Field(default=1, ge=1, le=100)
    auto_approve_risk_levels: tuple[str, ...] = Field(default=(), max_length=0)
    scope_min_strength: Mapping[ApprovalScope, Literal["tap"]] = Field(
        default_factory=dict[ApprovalScope, Literal["tap"]]
    )


class NonceConfig(FrozenModel):
    """The `nonce_store:` section (spec 11): retention and how often to prune, in minutes."""

    ttl_minutes: int = Field(default=40, ge=1)
    prune_interval_minutes: int = Field(default=10, ge=1)
