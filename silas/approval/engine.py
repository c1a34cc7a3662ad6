"""Signed approvals: mint, spend, re-check (spec 5.11).

Imported by its full name, by `wiring` and by whoever enforces: everything else knows the port.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from silas.approval.models import (
    ApprovalConfig,
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    Claims,
    Subject,
    TokenUse,
    Verdict,
    token_bytes,
    token_id_of,
)
from silas.approval.port import NonceStore, Stops
from silas.approval.rules import (
    LIMITS,
    RESERVED,
    SPAWN_POLICY,
    STOPS,
    ApprovalRefusal,
    authentic,
    authentic_for_check,
    bound_for_check,
    conditions_met,
    current,
    for_goal,
    refuse_other_subject,
    refuse_unless_yes,
    timely,
    uses_allowed,
)
from silas.approval.verdict_words import verdict_words
from silas.audit.models import Audit
from silas.canonical import canonical_json
from silas.clock import Clock
from silas.errors import ApprovalError, Stopped
from silas.keys.port import FormerKeys, Signer
from silas.language import tr_later
from silas.types import new_nonce

_VALID = Verdict(True, "Valid")

_SHOWN = 80  # characters of a token's own claims that a refusal repeats in the audit log


class ApprovalEngine:
    """The only thing that turns the owner's decision into authority, and authority into one use."""

    def __init__(
        self,
        signer: Signer,
        nonces: NonceStore,
        audit: Audit,
        clock: Clock,
        config: ApprovalConfig,
        stops: Stops,
        former: FormerKeys,
        zone: ZoneInfo,
    ) -> None:
        """Wire the engine.

        Args:
            signer: The owner's key.
            nonces: Counts uses. Keep it in the database that `audit` writes to, so that a use and
                its entry are one transaction.
            audit: Where every grant, use and refusal is recorded before it takes effect.
            clock: Decides expiry.
            config: How long a token authorises.
            stops: Whether Silas is stopped, and which tokens a stop made void.
            former: The owner's keys before this one; what they signed gets no new use.
            zone: The owner's, in which a refusal tells a moment.
        """
        self._signer = signer
        self._nonces = nonces
        self._audit = audit
        self._clock = clock
        self._config = config
        self._stops = stops
        self._former = former
        self._zone = zone

    async def issue_token(
        self,
        subject: Subject,
        decision: ApprovalDecision,
        scope: ApprovalScope = ApprovalScope.full_plan,
        max_executions: int = 1,
        conditions: dict[str, Any] | None = None,
        *,
        ttl_minutes: int = 0,
        until: datetime | None = None,
    ) -> ApprovalToken:
        """Sign the owner's decision about exactly this subject.

        A decision that is not a yes gives a token, too: it records the no, and never verifies.

        Args:
            subject: What was decided about, by digest.
            decision: What a channel collected. Its conditions are signed.
            scope: What the approval is for.
            max_executions: Uses; more than one only for `standing`.
            conditions: Further facts to bind, such as digests of what the plan uses.
            ttl_minutes: How long it authorises; 0 takes the configured default.
            until: When it ends, in place of `ttl_minutes`.

        Raises:
            ApprovalError: The combination cannot be signed; the code says why.
            Stopped: Silas is stopped, or its record was changed; no decision is signed.
            DatabaseError: It could not be recorded; no token exists.
        """
        bindings: dict[str, Any] = {}
        stops = self._stops.stops()  # before the look at the stop: one in between voids the token
        if halted := self._refuse_when_halted():
            self._record_refusal(halted, "issue", "", subject)
            stopped = halted.code == "E_APPROVAL_STOPPED"
            code = "E_STOPPED_EMERGENCY" if stopped else "E_STOPPED_RECORD"
            raise Stopped(halted.reason, code=code, work_item_id=subject.id)
        now = self._clock.now()
        ends = until or now + timedelta(minutes=ttl_minutes or self._config.default_ttl_minutes)
        refusal = _why_unissuable(subject, scope, max_executions, ends - now)
        if refusal is None:
            bindings, refusal = _bindings(subject, decision, scope, conditions or {}, stops)
        if refusal is not None:
            self._record_refusal(refusal, "issue", "", subject)
            raise ApprovalError(refusal.reason, code=refusal.code, work_item_id=subject.id)
        claims = Claims(
            plan_hash=subject.digest,
            work_item_id=subject.id,
            scope=scope,
            verdict=decision.verdict,
            nonce=new_nonce(),
            # The policy minimum of every scope is `tap`, the only strength there is.
            approval_strength=decision.approval_strength,
            issued_at=now,
            expires_at=ends,
            max_executions=max_executions,
            conditions=bindings,
        )
        signed = token_bytes(claims)
        signature = await self._signer.sign_shown(signed, subject.canonical)
        token = ApprovalToken(**claims._asdict(), token_id=token_id_of(signed), signature=signature)
        self._audit.log_now(
            "approval.issued",
            token_id=token.token_id,
            work_item_id=subject.id,
            digest=subject.digest,
            scope=scope.value,
            verdict=decision.verdict.value,
            max_executions=max_executions,
        )
        return token

    async def verify(
        self, token: ApprovalToken, subject: Subject, spawned: Subject | None = None
    ) -> Verdict:
        """Authorise one execution of `subject` and spend one use.

        Checks run in the order of spec 5.11, after the emergency stop, and end at the first that
        fails; nothing is spent unless all of them hold. A second call with the same token spends a
        second use.

        Args:
            token: The signed token. Its counters are never trusted; the nonce store is.
            subject: What is about to run, by digest; for a standing token, the goal.
            spawned: For a standing token, the task that is about to run.

        Returns:
            Valid, or invalid with an `E_APPROVAL_*` code and words.

        Raises:
            DatabaseError: The use or its audit entry could not be written; nothing was authorised
                and nothing spent.
        """
        now = self._clock.now()
        # 0 not stopped, record whole   1 signature and id, no stop since   2 verdict   3 binding
        # 4 expiry   5 conditions
        refusal = (
            self._refuse_when_halted()
            or authentic(token, self._signer, self._former, self._zone)
            or current(token, self._stops.stops())
            or refuse_unless_yes(token)
            or refuse_other_subject(token, subject, spawned)
            or timely(token, now)
            or conditions_met(token, now)
        )
        running = spawned or subject
        if refusal is not None:
            return self._refuse(refusal, "verify", token, running)
        # 6 uses left, and not taken back   7 a fresh nonce, bound to what runs
        # 8 spent and recorded, both or neither
        use = TokenUse(
            token.token_id, running.digest, new_nonce(), uses_allowed(token), token.expires_at
        )

        def witness(number: int) -> None:
            self._audit.log_now(
                "approval.used",
                token_id=token.token_id,
                work_item_id=running.id,
                digest=running.digest,
                use=number,
                max_executions=use.max_executions,
            )

        if await self._nonces.spend(use, witness):
            return _VALID
        refusal = await self._refuse_revoked(token) or ApprovalRefusal(
            "E_APPROVAL_SPENT", tr_later("Every use of this approval is spent; ask again.")
        )
        return self._refuse(refusal, "verify", token, running)

    async def check(self, token: ApprovalToken, subject: Subject) -> Verdict:
        """Whether a use that `verify` spent still authorises this subject; spends nothing.

        For a standing token the subject is the spawned task, and one of the uses must have been
        spent for exactly this task.

        Returns:
            Valid, or invalid with an `E_APPROVAL_*` code and words.
        """
        now = self._clock.now()
        refusal = (
            self._refuse_when_halted()
            or authentic_for_check(token, self._signer, self._former, self._zone)
            or current(token, self._stops.stops())
            or refuse_unless_yes(token)
            or bound_for_check(token, subject)
            or timely(token, now)
            or conditions_met(token, now)
        )
        if refusal is None:
            refusal = await self._refuse_revoked(token) or await self._unspent(token, subject)
        return _VALID if refusal is None else self._refuse(refusal, "check", token, subject)

    async def stands(self, token: ApprovalToken, goal: Subject) -> Verdict:
        """Whether a standing approval has a use left for what this goal spawns; spends nothing.

        Returns:
            Valid, or invalid with an `E_APPROVAL_*` code and words. What is about the approval as
            such comes before `E_APPROVAL_EXPIRED`, `E_APPROVAL_SPENT` and `E_APPROVAL_VOID`.
        """
        now = self._clock.now()
        refusal = (
            self._refuse_when_halted()
            or authentic(token, self._signer, self._former, self._zone)
            or refuse_unless_yes(token)
            or for_goal(token, goal)
            or conditions_met(token, now)
            or await self._refuse_revoked(token)
            or current(token, self._stops.stops())
            or timely(token, now)
        )
        if refusal is None and await self._nonces.uses(token.token_id) >= uses_allowed(token):
            refusal = ApprovalRefusal(
                "E_APPROVAL_SPENT", tr_later("Every use of this approval is spent; ask again.")
            )
        return _VALID if refusal is None else self._refuse(refusal, "stands", token, goal)

    async def require(
        self, token: ApprovalToken, subject: Subject, spawned: Subject | None = None
    ) -> None:
        """`verify` where a no must not be overlooked.

        Raises:
            ApprovalError: The token does not authorise this; the code says why.
        """
        verdict = await self.verify(token, subject, spawned)
        if not verdict:
            running = spawned or subject
            raise ApprovalError(verdict_words(verdict), code=verdict.code, work_item_id=running.id)

    async def view(self, token: ApprovalToken) -> ApprovalToken:
        """The token with its counters as the store has them, for people to see."""
        nonces = await self._nonces.execution_nonces(token.token_id)
        return token.model_copy(update={"executions_used": len(nonces), "execution_nonces": nonces})

    def _refuse_when_halted(self) -> ApprovalRefusal | None:
        words = self._stops.words()
        if words:
            return ApprovalRefusal("E_APPROVAL_STOPPED", words)
        try:
            self._audit.require_whole()
        except Stopped as changed:
            return ApprovalRefusal("E_APPROVAL_RECORD", changed.message)
        return None

    async def _refuse_revoked(self, token: ApprovalToken) -> ApprovalRefusal | None:
        if not await self._nonces.is_used("revoked", token.token_id):
            return None
        return ApprovalRefusal(
            "E_APPROVAL_REVOKED", tr_later("The owner took this approval back; ask again.")
        )

    async def _unspent(self, token: ApprovalToken, subject: Subject) -> ApprovalRefusal | None:
        total = await self._nonces.uses(token.token_id)
        if total > uses_allowed(token):
            return ApprovalRefusal(
                "E_APPROVAL_SPENT", "More uses were spent than approved; ask again."
            )
        if await self._nonces.uses(token.token_id, subject.digest) < 1:
            return ApprovalRefusal(
                "E_APPROVAL_UNSPENT", "No use of this approval was spent on this."
            )
        return None

    def _refuse(
        self, refusal: ApprovalRefusal, step: str, token: ApprovalToken, subject: Subject
    ) -> Verdict:
        self._record_refusal(refusal, step, token.token_id, subject)
        return Verdict(False, refusal.reason, refusal.code)

    def _record_refusal(
        self, refusal: ApprovalRefusal, step: str, token_id: str, subject: Subject
    ) -> None:
        self._audit.log_now(
            "approval.refused",
            step=step,
            code=refusal.code,
            token_id=token_id[:_SHOWN],
            work_item_id=subject.id[:_SHOWN],
            digest=subject.digest[:_SHOWN],
        )


def _why_unissuable(
    subject: Subject, scope: ApprovalScope, max_executions: int, lasts: timedelta
) -> ApprovalRefusal | None:
    standing = scope is ApprovalScope.standing
    if max_executions < 1 or (max_executions > 1 and not standing):
        return ApprovalRefusal(
            "E_APPROVAL_USES", "Only a standing approval can be used more than once; ask for one."
        )
    if lasts <= timedelta(0):
        return ApprovalRefusal("E_APPROVAL_EXPIRED", "An approval cannot end before it begins.")
    if standing and (subject.kind != "goal" or not subject.policy):
        return ApprovalRefusal(
            "E_APPROVAL_SPAWN_POLICY",
            "A standing approval is for a goal that says what it may spawn; this is none.",
        )
    return None


def _bindings(
    subject: Subject,
    decision: ApprovalDecision,
    scope: ApprovalScope,
    further: Mapping[str, Any],
    stops: int,
) -> tuple[dict[str, Any], ApprovalRefusal | None]:
    """The conditions to sign, as plain JSON."""
    given = {**decision.conditions, **further}
    if any(decision.conditions[k] != further[k] for k in decision.conditions.keys() & further):
        return {}, ApprovalRefusal(
            "E_APPROVAL_CONDITIONS", "Two conditions of one name contradict."
        )
    if given.keys() & RESERVED:
        return {}, ApprovalRefusal(
            "E_APPROVAL_CONDITIONS",
            f"The conditions {', '.join(sorted(RESERVED))} are computed and cannot be given.",
        )
    if scope is ApprovalScope.standing:
        given = {**given, SPAWN_POLICY: subject.policy, LIMITS: list(subject.limits)}
    if stops:
        given = {**given, STOPS: stops}
    try:
        return (json.loads(canonical_json(given)) if given else {}), None
    except (TypeError, ValueError):
        return {}, ApprovalRefusal(
            "E_APPROVAL_CONDITIONS", "A condition is not JSON and cannot be signed."
        )
