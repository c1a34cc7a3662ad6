"""Asking a model for a structured answer, reliably (spec 5.1.0, 18.1).

An answer out of form is asked for once more in the same conversation, so tools are not called
twice for a form. Then a fixed answer that does nothing is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final, Generic, TypeVar

from pydantic_ai import capture_run_messages
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolReturnPart
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage, UsageLimits

from silas.agents.calls import StructuredCall
from silas.agents.history import as_messages
from silas.agents.listener import NOBODY, Listener
from silas.agents.models import AgentOutput
from silas.agents.outcome import ModelRunFailed, ModelUsage, StructuredRun
from silas.agents.output_form import OutputForm, OutputMode, how_to_answer, summarise
from silas.agents.providers.fallback_model import stood_in
from silas.agents.providers.model_errors import (
    cut_or_refused,
    of_the_form,
    refuses_tools,
    translate_error,
)
from silas.agents.providers.retry import CeiledLimits
from silas.agents.role import Role, offer_toolsets
from silas.context import ConversationSide
from silas.errors import from_foreign

D = TypeVar("D")
T = TypeVar("T")

SCHEMA_ERROR = "[SCHEMA VALIDATION ERROR]"
"""The heading under which a model is told what was wrong with its answer."""


@dataclass(frozen=True)
class CallContext(Generic[D]):
    """Everything about a call that its retry must share with its first attempt.

    Attributes:
        deps: Handed to the tools.
        toolsets: What the model may call.
        limits: Tokens, cost and tool calls of the call as a whole; requests per attempt.
        profiles: Context profiles that an answer may name, the default first.
        default_profile: The context profile of a proxy fallback.
        usage: What was used so far; shared where several runs share the limits.
        listener: Who hears the text for the user while it comes.
        earlier: The conversation before, the user's side first and Silas's last.
    """

    deps: D
    toolsets: Sequence[AbstractToolset[D]] = ()
    limits: UsageLimits | None = None
    profiles: tuple[str, ...] = ("conversation",)
    default_profile: str = "conversation"
    usage: RunUsage = field(default_factory=RunUsage)
    listener: Listener = NOBODY
    earlier: tuple[ConversationSide, ...] = ()


@dataclass(frozen=True)
class _Failed:
    """An attempt without a valid answer, and the messages exchanged in it."""

    error: Exception
    messages: tuple[ModelMessage, ...]


async def run_structured_agent(
    role: Role, prompt: str, call: StructuredCall[T], asking: CallContext[D]
) -> StructuredRun[T]:
    """An answer in form, or that call's fallback; who answered for another is told with it.

    Raises:
        ModelRunFailed: The provider could not be reached, refused, or the limits were reached;
            an `E_LLM_*` code and one sentence. Not a failure of form.
        ConfigError: The model cannot be used as configured.
    """
    away = list[str]()
    token = stood_in.set(away)
    try:
        run = await _run(role, prompt, call, asking)
    finally:
        stood_in.reset(token)
    return replace(run, stood_in=tuple(away)) if away else run


async def _run(
    role: Role, prompt: str, call: StructuredCall[T], asking: CallContext[D]
) -> StructuredRun[T]:
    """Ask once; on an answer out of form ask once more with the error; then fall back.

    The retry runs under the same limits, with what the first attempt used counted against them.
    If the first attempt had already called tools, the retry continues its conversation, so that
    no effect is repeated for the sake of an answer's form.
    """
    mode = role.form.current
    usage = asking.usage
    prompt_used = role.prompt_version(call, asking.profiles)
    attempt = _Attempt(role, call, asking, usage)
    first, mode = await attempt.ask(prompt, mode, ())
    if not isinstance(first, _Failed):
        return StructuredRun(
            first, _model_usage(usage), prompt=prompt_used, dropped=_dropped_parts(first)
        )
    role.form.forget_refused(mode, first.error)
    # exactly one retry, with what was wrong appended
    mode = role.form.after(mode, first.error)
    words = f"{SCHEMA_ERROR}\n{summarise(first.error)}\n{how_to_answer(call, mode)}"
    history = _conversation_with_tools(first.messages)
    again = words if history else f"{prompt}\n\n{words}"
    spent_requests, usage.requests = usage.requests, 0
    second, mode = await attempt.ask(again, mode, history)
    usage.requests += spent_requests
    if not isinstance(second, _Failed):
        role.form.remember_mode(mode)
        return StructuredRun(
            second, _model_usage(usage), prompt=prompt_used, dropped=_dropped_parts(second)
        )
    if not isinstance(second.error, UnexpectedModelBehavior):
        raise attempt.translate(second.error) from second.error  # it says why it refuses
    return StructuredRun(
        call.fallback(asking.default_profile, role.who),
        _model_usage(usage),
        fell_back=True,
        error=f"{call.name}_structured_output_invalid",
        detail=summarise(second.error),
        prompt=prompt_used,
    )


@dataclass(frozen=True)
class _Attempt(Generic[D, T]):
    """What both attempts share; `usage` counts them together."""

    role: Role
    call: StructuredCall[T]
    asking: CallContext[D]
    usage: RunUsage

    async def ask(
        self, prompt: str, mode: OutputMode, history: Sequence[ModelMessage]
    ) -> tuple[T | _Failed, OutputMode]:
        """A valid answer, or what was wrong with it; and the mode it came in.

        Where the server says that it takes no tools, nothing was asked yet: without them it is
        asked at once, and is no retry.
        """
        answer, form = await self._ask(prompt, mode, history), self.role.form
        if not isinstance(answer, _Failed) or not refuses_tools(answer.error):
            return answer, mode
        if not form.may_do_without_tools:
            raise self.translate(answer.error) from answer.error
        form.do_without_tools()
        mode = form.current
        answer = await self._ask(prompt, mode, history)
        if not isinstance(answer, _Failed):
            form.remember_mode(mode)
        return answer, mode

    async def _ask(
        self, prompt: str, mode: OutputMode, history: Sequence[ModelMessage]
    ) -> T | _Failed:
        asking = self.asking
        agent = self.role.agent(self.call, mode, asking.profiles)
        with capture_run_messages() as messages, offer_toolsets(asking.toolsets):
            try:
                result = await agent.run(
                    prompt,
                    model=self.role.streaming_model(self.call, mode, asking.listener),
                    deps=asking.deps,
                    message_history=list(history) or as_messages(asking.earlier) or None,
                    usage_limits=CeiledLimits.of(asking.limits or UsageLimits()),
                    usage=self.usage,
                )
            except (AgentRunError, UserError) as error:
                if refuses_tools(error):
                    return _Failed(error, tuple(messages))
                if not isinstance(error, _MAYBE_OF_FORM):
                    raise self.translate(error) from error
                if unfinished := cut_or_refused(error, messages, self.role.who):
                    raise ModelRunFailed.of(unfinished, _model_usage(self.usage)) from error
                if not _about_form(error, self.role.form, mode):
                    raise self.translate(error) from error
                return _Failed(error, tuple(messages))
        return result.output

    def translate(self, error: Exception) -> Exception:
        """The failure as it is told."""
        ours = translate_error(error, self.role.who)
        if ours is None:
            return from_foreign(error) or error
        return ModelRunFailed.of(ours, _model_usage(self.usage))


_MAYBE_OF_FORM: Final = (UnexpectedModelBehavior, ModelRequestRejectedError, UserError)


def _dropped_parts(output: object) -> tuple[str, ...]:
    return output.dropped if isinstance(output, AgentOutput) else ()


def _about_form(error: Exception, form: OutputForm, mode: OutputMode) -> bool:
    # A refused request or an unsupported mode concerns the form only where another form is left,
    # and never when the provider says it was the key, the name, the length or the content.
    if isinstance(error, UnexpectedModelBehavior):
        return True
    if isinstance(error, UserError) and "output is not supported" not in error.message:
        return False
    return of_the_form(error) and form.after(mode, error) != mode


def _conversation_with_tools(messages: Sequence[ModelMessage]) -> tuple[ModelMessage, ...]:
    """The exchange up to the answer that failed, if tools were called in it; else nothing."""
    last = max((i for i, m in enumerate(messages) if isinstance(m, ModelResponse)), default=0)
    kept = tuple(messages[:last])
    called = any(
        isinstance(part, ToolReturnPart)
        for message in kept
        if isinstance(message, ModelRequest)
        for part in message.parts
    )
    return kept if called else ()


def _model_usage(usage: RunUsage) -> ModelUsage:
    return ModelUsage(
        tokens=usage.total_tokens,
        cost_usd=float(usage.cost or Decimal(0)),
        cost_known=usage.cost is not None and usage.unmeasured_requests == 0,
        requests=usage.requests,
    )
