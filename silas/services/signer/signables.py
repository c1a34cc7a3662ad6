"""What a signer apart signs: approvals, messages, checkpoints, bundles of memories, acceptances.

Each is known by a strict reading. The bytes are those of the specification, without anything added.
A reading counts only if writing it again gives the same bytes, and the five have no form in common.
"""

import json
import re
from datetime import timedelta
from typing import Any, cast

from pydantic import ValidationError

from silas.approval import ApprovalScope, ApprovalToken, ApprovalVerdict, Subject, token_bytes
from silas.approval.models import SIGNED_FIELDS
from silas.approval.rules import CLOCK_SKEW, LIMITS, SPAWN_POLICY
from silas.audit.models import ACCEPTANCE_DOMAIN, CHECKPOINT_DOMAIN, AuditHead
from silas.canonical import canonical_bytes, canonical_json, sha256_hex
from silas.cards import (
    Action,
    Card,
    ChannelMessage,
    Detail,
    HeldCard,
    ToolCallCard,
    message_bytes,
)
from silas.channels import card_lines, detail_line
from silas.clock import Clock
from silas.errors import ConfigError, PlanFamilyError
from silas.keys.signed_heads import SignedHead, SignedHeads
from silas.keys.signer_server import SigningRuling
from silas.language import tr, tr_many
from silas.memory.bundle_lines import SignedBundle, read_signed_bundle
from silas.plans import WorkItem, plan_card, show_lines, subject_of
from silas.plans.binding import files_signed, shown_signed, tools_signed
from silas.plans.characters import show
from silas.plans.goals.standing import (
    AS_SHIPPED,
    MOST_STANDING_DAYS,
    StandingAsk,
    StandingLimit,
    exceeds,
    limit_signed,
)
from silas.services.skills.cards import skill_card
from silas.skills.approved import read_installation
from silas.types import Risk
from silas.work.batches.models import MOVE, read_item_id
from silas.work.changes.held_store import changes_id
from silas.workspace.diff import facts_of
from silas.workspace.journal import change_of

_HASH = re.compile(r"[0-9a-f]{64}\Z")
_STANDING = timedelta(days=MOST_STANDING_DAYS)
_LONGEST = timedelta(hours=24)  # the most that `approval.default_ttl_minutes` allows
_AUTHORISES = frozenset({ApprovalVerdict.approved, ApprovalVerdict.conditional})
_PLAN_SCOPES = frozenset({ApprovalScope.full_plan, ApprovalScope.standing})

_UNKNOWN = "these are no bytes of an approval, a message, a checkpoint, a bundle or an acceptance"
_NOT_SHOWN = "what the approval is about did not come with it, or is something else"
_WHY = "A program asks for this signature. What it says about its reasons is not shown here."


def read_approval(data: bytes) -> ApprovalToken | None:
    """The unsigned token whose signed bytes these are, or None."""
    claims = _canonical_object(data)
    if claims is None or claims.keys() != set(SIGNED_FIELDS):
        return None
    try:
        token = ApprovalToken.model_validate({**claims, "token_id": "", "signature": b""})
        same = token_bytes(token) == data
    except (ValidationError, ValueError, TypeError, RecursionError):
        return None
    named = bool(token.nonce and token.work_item_id) and _HASH.match(token.plan_hash) is not None
    return token if same and named else None


def read_message(data: bytes) -> ChannelMessage | None:
    """The message whose signed bytes these are (text and time; the rest is not signed), or None."""
    said = _canonical_object(data)
    if said is None or said.keys() != {"text", "timestamp", "nonce"}:
        return None
    if not said["nonce"] or not all(isinstance(value, str) for value in said.values()):
        return None
    try:
        message = ChannelMessage(channel="", sender_id="", **{n: said[n] for n in _SAID})
        return message if message_bytes(message, said["nonce"]) == data else None
    except (ValidationError, ValueError):
        return None


_SAID = ("text", "timestamp")


def read_checkpoint(data: bytes) -> SignedHead | None:
    """The head whose checkpoint's signed bytes these are, or None."""
    if not data.startswith(CHECKPOINT_DOMAIN):
        return None
    said = _canonical_object(data[len(CHECKPOINT_DOMAIN) :])
    if said is None or said.keys() != {"at", "entry_hash", "seq"}:
        return None
    seq, entry_hash, at = said["seq"], said["entry_hash"], said["at"]
    if not _is_head(seq, entry_hash) or not isinstance(at, str):
        return None
    return SignedHead(seq, entry_hash)


def read_acceptance(data: bytes) -> tuple[AuditHead, AuditHead] | None:
    """The head that is accepted and the one that was kept, if these are such bytes, or None."""
    if not data.startswith(ACCEPTANCE_DOMAIN):
        return None
    said = _canonical_object(data[len(ACCEPTANCE_DOMAIN) :])
    if said is None or said.keys() != {"at", "entry_hash", "seq", "was_entry_hash", "was_seq"}:
        return None
    heads = (said["seq"], said["entry_hash"]), (said["was_seq"], said["was_entry_hash"])
    if not isinstance(said["at"], str) or not all(_is_head(*head) for head in heads):
        return None
    return AuditHead(*heads[0]), AuditHead(*heads[1])


def _is_head(seq: Any, entry_hash: Any) -> bool:
    counts = type(seq) is int and seq >= 0
    return counts and isinstance(entry_hash, str) and _HASH.match(entry_hash) is not None


class Signables:
    """The judge of a signer apart (decision D48)."""

    def __init__(self, clock: Clock, heads: SignedHeads) -> None:
        self._clock = clock
        self._heads = heads

    def judge(self, data: bytes, shown: bytes) -> SigningRuling:
        """What is done with bytes to sign.

        Args:
            data: What is to be signed.
            shown: What it is about; shown only if it has the hash that is signed.
        """
        if (token := read_approval(data)) is not None:
            return self._approval(token, shown)
        if (message := read_message(data)) is not None:
            return SigningRuling(question=_message_question(message))
        if (head := read_checkpoint(data)) is not None:
            return self._checkpoint(head)
        if (bundle := read_signed_bundle(data)) is not None:
            return SigningRuling(question=_bundle_question(bundle))
        if (heads := read_acceptance(data)) is not None:
            accepted, was = heads
            return SigningRuling(
                question=_acceptance_question(accepted, was),
                then=lambda: self._heads.put(SignedHead(*accepted)),
            )
        return SigningRuling(refusal=_UNKNOWN)

    def _checkpoint(self, head: SignedHead) -> SigningRuling:
        try:
            return SigningRuling(refusal=self._heads.advance(head))
        except OSError as error:
            return SigningRuling(refusal=f"the last signed entry cannot be kept ({error.strerror})")
        except ConfigError as error:
            return SigningRuling(refusal=f"the last signed entry cannot be read ({error.code})")

    def _approval(self, token: ApprovalToken, shown: bytes) -> SigningRuling:
        if token.verdict not in _AUTHORISES:
            return SigningRuling()  # a recorded no authorises nobody
        if refusal := self._untimely(token):
            return SigningRuling(refusal=refusal)
        if sha256_hex(shown) != token.plan_hash:
            return SigningRuling(refusal=_NOT_SHOWN)
        if token.scope in _PLAN_SCOPES:
            return _plan_ruling(token, shown)
        if token.scope is ApprovalScope.tool_type:
            return _call_ruling(token, shown)
        if token.scope is ApprovalScope.single_step:
            return _changes_ruling(token, shown)
        if token.scope is ApprovalScope.connection_act:
            return _batch_ruling(token, shown)
        if token.scope is ApprovalScope.skill_install:
            return _skill_ruling(token, shown)
        return SigningRuling(
            refusal=f"this signer cannot show what an approval of {token.scope} is for"
        )

    def _untimely(self, token: ApprovalToken) -> str:
        if abs(token.issued_at - self._clock.now()) > CLOCK_SKEW:
            return "the approval was not made now; compare the clocks of both processes"
        longest = _STANDING if token.scope is ApprovalScope.standing else _LONGEST
        if not timedelta(0) < token.expires_at - token.issued_at <= longest:
            return f"an approval lasts at most {longest.total_seconds() / 3600:.0f} hours"
        if token.max_executions < 1 or (
            token.max_executions > 1 and token.scope is not ApprovalScope.standing
        ):
            return "only a standing approval can be used more than once"
        return ""


def _plan_ruling(token: ApprovalToken, shown: bytes) -> SigningRuling:
    try:
        item = WorkItem.model_validate(json.loads(shown))
        card = plan_card(
            shown,
            rationale=_WHY,
            files=files_signed(token.conditions),
            tools=tools_signed(token.conditions),
            shown=shown_signed(token.conditions),
            standing=_limit(token, item.standing),
        )
        subject = subject_of(item)
    except (PlanFamilyError, ValueError, TypeError, RecursionError):
        return SigningRuling(refusal="what the approval is about is no plan")
    if subject.id != token.work_item_id:
        return SigningRuling(refusal="the approval names another work item than the plan")
    if token.scope is ApprovalScope.standing and not _spawns(token, subject):
        return SigningRuling(refusal="a standing approval is for a goal and exactly what it spawns")
    if exceeds(item.standing, token.max_executions, token.expires_at):
        return SigningRuling(refusal="the approval goes further than the plan says that it does")
    return _ask_with_card(card.model_copy(update={"details": (*card.details, _claims(token))}))


def _limit(token: ApprovalToken, ask: StandingAsk | None) -> StandingLimit:
    """What the card says of a standing approval is what is signed."""
    if token.scope is not ApprovalScope.standing:
        return AS_SHIPPED
    return limit_signed(token.max_executions, token.issued_at, token.expires_at, ask)


def _spawns(token: ApprovalToken, goal: Subject) -> bool:
    """Whether the computed conditions of a standing approval are those of this goal."""
    policy, limits = token.conditions.get(SPAWN_POLICY), token.conditions.get(LIMITS)
    return goal.kind == "goal" and policy == goal.policy != "" and limits == list(goal.limits)


def _call_ruling(token: ApprovalToken, shown: bytes) -> SigningRuling:
    call = _canonical_object(shown)
    if call is None or call.keys() != {"tool", "action", "args"}:
        return SigningRuling(refusal="what the approval is about is no tool call")
    named = tuple(f"{name}: {show(canonical_json(call[name]))}" for name in ("tool", "action"))
    arguments = json.dumps(call["args"], indent=2, sort_keys=True)
    return _ask_with_card(
        ToolCallCard(
            intent=tr("Allow one call of {tool}", tool=show(str(call["tool"]))),
            risk=Risk.high,  # the signer does not know the tool, and unknown is not harmless
            rationale=_WHY,
            details=(
                Detail(heading=tr("Call"), lines=named),
                Detail(heading=tr("Arguments"), lines=tuple(show_lines(arguments))),
                _claims(token),
            ),
            actions=(Action(label=tr("Sign nothing"), value="decline", role="decline"),),
            safe="decline",
            tool_name=str(call["tool"]),
            call_digest=token.plan_hash,
        )
    )


def _changes_ruling(token: ApprovalToken, shown: bytes) -> SigningRuling:
    """Every path with what it is before and after: the contents came as their digests alone."""
    said = _canonical_object(shown)
    if said is None or said.keys() != {"directory", "identity", "changes"}:
        return SigningRuling(refusal="what the approval is about is no set of changes")
    try:
        changes = [change_of(one) for one in said["changes"]]
        lines = [show(line) for change in changes for line in facts_of(change)]
    except (TypeError, ValueError, IndexError, AttributeError):
        return SigningRuling(refusal="what the approval is about is no set of changes")
    if token.work_item_id != changes_id(token.plan_hash):
        return SigningRuling(refusal="the approval names other changes than those shown")
    return _ask_with_card(
        HeldCard(
            intent=tr(
                "Apply {changes} to {folder}",
                changes=tr_many(len(changes), "{count} change", "{count} changes"),
                folder=show(str(said["directory"])),
            ),
            risk=Risk.high,
            rationale=_WHY,
            details=(
                Detail(heading=tr("Everything it changes"), lines=tuple(lines)),
                _claims(token),
            ),
            actions=(Action(label=tr("Sign nothing"), value="keep", role="decline"),),
            safe="keep",
            work_item_id=token.work_item_id,
            digest=token.plan_hash,
        )
    )


def _batch_ruling(token: ApprovalToken, shown: bytes) -> SigningRuling:
    """Each file with both of its paths: a batch's items say which file goes where."""
    said = _canonical_object(shown)
    if said is None or said.keys() != {"goal_id", "action", "item_ids", "count"}:
        return SigningRuling(refusal="what the approval is about is no batch")
    try:
        moves = [read_item_id(one) for one in said["item_ids"]]
    except (TypeError, ValueError):
        return SigningRuling(refusal="what the approval is about is no batch")
    if said["action"] != MOVE or said["count"] != len(moves) or not moves:
        return SigningRuling(refusal="what the approval is about is no batch of files")
    lines = tuple(show(f"{source} -> {goal}") for source, goal in moves)
    return _ask_with_card(
        HeldCard(
            intent=tr_many(len(moves), "Move {count} file", "Move {count} files"),
            risk=Risk.high,
            rationale=_WHY,
            details=(Detail(heading=tr("Everything it moves"), lines=lines), _claims(token)),
            actions=(Action(label=tr("Sign nothing"), value="keep", role="decline"),),
            safe="keep",
            work_item_id=token.work_item_id,
            digest=token.plan_hash,
        )
    )


def _skill_ruling(token: ApprovalToken, shown: bytes) -> SigningRuling:
    """Its name, source and files by their digests: the files themselves did not come with it."""
    skill = read_installation(shown)
    if skill is None:
        return SigningRuling(refusal="what the approval is about is no skill")
    if skill.subject_id != token.work_item_id:
        return SigningRuling(refusal="the approval names another skill than the one shown")
    return _ask_with_card(skill_card(skill, (_claims(token),), why=_WHY))


def _ask_with_card(card: Card[Any]) -> SigningRuling:
    return SigningRuling(question="\n".join([*card_lines(card), "=" * 88]))


def _claims(token: ApprovalToken) -> Detail:
    """Everything that is signed besides the hash of what is shown."""
    uses = tr("once")
    if token.max_executions != 1:
        uses = tr_many(token.max_executions, "{count} time", "{count} times")
    return Detail(
        heading=tr("What your signature allows"),
        lines=(
            f"{token.scope.value} of the work item `{show(token.work_item_id)}`, {uses}",
            f"from {token.issued_at.isoformat()} until {token.expires_at.isoformat()}",
            f"verdict {token.verdict.value}, conditions: {show(canonical_json(token.conditions))}",
            f"sha256:{token.plan_hash}",
        ),
    )


def _message_question(message: ChannelMessage) -> str:
    lines = [piece for line in show_lines(message.text) for piece in detail_line(f"| {line}")]
    when = message.timestamp.isoformat()
    return "\n".join(["=" * 88, f"Say this in your name, at {when}:", *lines, "=" * 88])


def _bundle_question(bundle: SignedBundle) -> str:
    """Which Silas trusts the bundle: every one that has this key, and all that it says of trust."""
    lines = (
        f"Vouch for a bundle of {bundle.memories} memories, exported at {bundle.exported_at}.",
        "A Silas with your key takes them in with the trust that the bundle gives them,",
        "as what you confirmed. Its contents are not shown here.",
        f"sha256:{bundle.digest}",
    )
    pieces = [piece for line in lines for piece in detail_line(line)]
    return "\n".join(["=" * 88, *pieces, "=" * 88])


def _acceptance_question(accepted: AuditHead, was: AuditHead) -> str:
    lines = (
        f"Accept a changed record, with {accepted.seq} entries, as yours from now on.",
        f"Until now entry {was.seq} was the newest that you signed; what is missing or differs",
        "behind it is given up. Say yes only after you restored a backup.",
        f"accepted: {accepted}",
        f"given up: {was}",
    )
    pieces = [piece for line in lines for piece in detail_line(line)]
    return "\n".join(["=" * 88, *pieces, "=" * 88])


def _canonical_object(data: bytes) -> dict[str, Any] | None:
    """The JSON object of which these are the canonical bytes, or None."""
    try:
        found: Any = json.loads(data)
        if not isinstance(found, dict) or canonical_bytes(found) != data:
            return None
    # NaN and Infinity are read, and refused when written again
    except (ValueError, TypeError, RecursionError):
        return None
    return cast(dict[str, Any], found)
