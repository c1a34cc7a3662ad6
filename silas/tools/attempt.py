"""Steps 8 to 10 of the tool door: run a call once, and know afterwards what is known about it."""

import asyncio
import contextlib
from collections.abc import Callable, Generator
from typing import Any

from silas.audit import Audit
from silas.canonical import canonical_json
from silas.clock import Clock
from silas.context import ContentKind, clean_text, cleaned_json, scrub
from silas.db import Database
from silas.errors import DatabaseError, SilasError
from silas.sandbox import SandboxUnavailable
from silas.tools.assessed_call import AssessedCall, about_call, identify, ids_of
from silas.tools.models import (
    ToolCallContext,
    ToolResult,
)
from silas.tools.outcomes import OutcomeStatus, OutcomeStore
from silas.tools.port import RegisteredTool
from silas.tools.refusals import (
    DuplicateKey,
    OutcomeUnknown,
    RateLimited,
    ToolUnavailable,
)
from silas.tools.registry import HealthOutcome, ToolRegistry, next_health
from silas.types import Origin, OriginKind, TaintLevel, join_taint


class Attempts:
    """Makes authorised calls; only the tool door holds one."""

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        audit: Audit,
        outcomes: OutcomeStore,
        clock: Clock,
        db: Database,
        scrub: Callable[[str], str],
    ) -> None:
        self._registry = registry
        self._audit = audit
        self._outcomes = outcomes
        self._clock = clock
        self._db = db
        self._scrub = scrub
        self._running: dict[str, asyncio.Event] = {}

    # 8 -------------------------------------------------------------------------------------------
    async def find_outcome(
        self, key: str, assessed: AssessedCall, context: ToolCallContext
    ) -> ToolResult | None:
        """The outcome of a call that was already made, or None if it may be attempted.

        The same call may be running in another task; its outcome is then waited for and shared.
        """
        about = about_call(assessed.call, context)
        while (running := self._running.get(key)) is not None:
            await running.wait()
        try:
            idempotent = assessed.tool.tool.idempotent
            found = self._outcomes.find(key, assessed.call, idempotent=idempotent)
        except DuplicateKey as error:
            await self._audit.log("tool_call.failed", **about, code=error.code)
            identify(error, context)
            raise
        except OutcomeUnknown as error:
            await self._audit.log("tool_call.unknown", **about, code=error.code)
            identify(error, context)
            raise
        if found is None:
            return None
        await self._audit.log("tool_call.deduped", **about)
        return _label_result(found.model_copy(update={"deduped": True}), assessed, context)

    async def make_call(
        self, key: str, assessed: AssessedCall, context: ToolCallContext
    ) -> ToolResult:
        """Steps 9 and 10. Between step 8 and here nothing is awaited, so no duplicate slips in."""
        with self._mark_running(key):
            self._record_start(key, assessed, context)  # 9
            try:
                result = await assessed.tool.tool.execute(
                    assessed.call.action, assessed.request(), context
                )
            except (SandboxUnavailable, RateLimited, ToolUnavailable) as error:
                self._record_not_run(key, assessed, context, error)
                identify(error, context)
                raise
            except SilasError as error:
                self._record_unknown(key, assessed, context, type(error).__name__)
                identify(error, context)
                raise
            except Exception as error:  # a tool may be anybody's code; the outcome is unknown
                self._record_unknown(key, assessed, context, type(error).__name__)
                raise self._unknown_error(assessed, context) from error
            except BaseException as error:  # cancellation: it may or may not have happened
                # The journal's open attempt says `unknown` too, so a failed write loses nothing
                # and must not swallow the cancellation.
                with contextlib.suppress(DatabaseError):
                    self._record_unknown(key, assessed, context, type(error).__name__)
                raise
            return self._record_result(key, assessed, context, result)  # 10

    @contextlib.contextmanager
    def _mark_running(self, key: str) -> Generator[None]:
        done = self._running[key] = asyncio.Event()
        try:
            yield
        finally:
            del self._running[key]
            done.set()

    # 9 -------------------------------------------------------------------------------------------
    def _record_start(self, key: str, assessed: AssessedCall, context: ToolCallContext) -> None:
        """Record the attempt and its audit entry as one; what cannot be recorded does not run.

        Durable against power loss where the effect could not be repeated.
        """
        idempotent = assessed.tool.tool.idempotent
        with self._db.write(durable=not idempotent):
            earlier = self._outcomes.begin(
                key, assessed.call, context, assessed.facts, idempotent=idempotent
            )
            if earlier is not None:
                # Another process ended the same call in this instant; step 8 will find it.
                raise DuplicateKey(
                    f"The call of {assessed.call.tool_name!r} was just made elsewhere; ask again "
                    "for its outcome.",
                    code="E_TOOL_DUPLICATE_KEY",
                    **ids_of(context),
                )
            self._audit.log_now("tool_call.attempted", **about_call(assessed.call, context))

    # 10 ------------------------------------------------------------------------------------------
    def _record_result(
        self, key: str, assessed: AssessedCall, context: ToolCallContext, result: ToolResult
    ) -> ToolResult:
        clean = result.model_copy(
            update={
                **self._scrub_result(result, assessed.tool),
                "ran": assessed.call,
                "deduped": False,
                "taint": _taint_of(result, assessed, context),
            }
        )
        event, status = (
            ("tool_call.succeeded", OutcomeStatus.succeeded)
            if clean.ok
            else ("tool_call.failed", OutcomeStatus.failed)
        )
        with self._db.write():
            self._outcomes.finish(key, status, clean)
            self._audit.log_now(
                event,
                **about_call(assessed.call, context),
                **({} if clean.ok else {"why": _cause(clean)}),
                taint=clean.taint.value,
            )
        # A program that ran and failed says nothing against the tool that ran it.
        self._record_health(assessed, HealthOutcome())
        return _label_result(clean, assessed, context)

    def _scrub_result(self, result: ToolResult, tool: RegisteredTool) -> dict[str, Any]:
        """Everything a model may see, neutralised; metadata and artifacts never reach one."""
        # Markup stays only where the owner says so and the tool names no farther origin.
        near = result.origin in (OriginKind.tool, OriginKind.file)
        kind = tool.content if near else ContentKind.prose

        def clean(text: str) -> str:
            # before, since cleaning could cut through a secret; after, since it could join one
            return self._scrub(clean_text(self._scrub(text), kind))

        return {
            "return_value": clean(result.return_value),
            "content": tuple(cleaned_json(block, clean) for block in result.content),
            "error": None if result.error is None else clean(result.error),
        }

    def _record_not_run(
        self,
        key: str,
        assessed: AssessedCall,
        context: ToolCallContext,
        error: SandboxUnavailable | RateLimited | ToolUnavailable,
    ) -> None:
        """The tool says that nothing ran."""
        result = ToolResult(ok=False, error=self._scrub(scrub(error.message)), ran=assessed.call)
        about = about_call(assessed.call, context)
        with self._db.write():
            self._outcomes.finish(key, OutcomeStatus.failed, result)
            self._audit.log_now("tool_call.failed", **about, code=error.code)
        resets = error.resets_at if isinstance(error, RateLimited) else None
        self._record_health(assessed, HealthOutcome(error.code, resets))

    def _record_unknown(
        self, key: str, assessed: AssessedCall, context: ToolCallContext, why: str
    ) -> None:
        with self._db.write(durable=not assessed.tool.tool.idempotent):
            self._outcomes.finish(key, OutcomeStatus.unknown, None)
            self._audit.log_now("tool_call.unknown", **about_call(assessed.call, context), why=why)
        if why != asyncio.CancelledError.__name__:
            self._record_health(assessed, HealthOutcome(why))

    def _unknown_error(self, assessed: AssessedCall, context: ToolCallContext) -> OutcomeUnknown:
        return OutcomeUnknown(
            f"The tool {assessed.call.tool_name!r} broke off; whether the call took effect is "
            "unknown. Check before repeating it.",
            repeatable=assessed.tool.tool.idempotent,
            **ids_of(context),
        )

    def _record_health(self, assessed: AssessedCall, outcome: HealthOutcome) -> None:
        name = assessed.call.tool_name
        known = self._registry.get(name)
        before = assessed.tool.health if known is None else known.health
        self._registry.update_health(name, next_health(before, outcome, self._clock.now()))


def _taint_of(result: ToolResult, assessed: AssessedCall, context: ToolCallContext) -> TaintLevel:
    """The least of what the tool says, what its owner declared, and what went into the call."""
    taint = join_taint((result.taint, assessed.tool.result_taint))
    if taint is TaintLevel.external or result.origin is OriginKind.owner:
        return taint  # what the owner said in answer rests on nothing that went into the call
    call = assessed.call
    return join_taint((taint, context.provenance.derive(call.tool_name, call.args).taint))


def _label_result(
    result: ToolResult, assessed: AssessedCall, context: ToolCallContext
) -> ToolResult:
    """Label what the run is about to be shown; a refused call's text counts, too."""
    origin = Origin(
        kind=result.origin,
        name=result.source,
        tool=assessed.call.tool_name,
        call=context.step_id,
        taint=result.taint,
    )
    shown = (result.return_value, result.error or "", *map(canonical_json, result.content))
    context.provenance.add_text("\n".join(filter(None, shown)), origin)
    return result


def _cause(result: ToolResult) -> str:
    """Why a call failed, in numbers and Silas's own words: never what a program or server wrote."""
    known = result.metadata
    if "exit_code" in known:
        ended = known.get("ended_by", "exit")
        by = "" if ended == "exit" else f", ended by {ended}"
        return f"exit code {known['exit_code']}{by}"
    return f"answered with {known['status']}" if "status" in known else "the tool reported it"
