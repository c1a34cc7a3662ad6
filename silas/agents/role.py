"""One role's PydanticAI agents, made once for each output they are asked for."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel
from pydantic_ai import Agent, RunContext
from pydantic_ai.capabilities import AbstractCapability, CombinedCapability
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset

from silas.agents.calls import StructuredCall
from silas.agents.choice import OutputMode, OutputSetting
from silas.agents.jsoncalls import JsonCallsModel
from silas.agents.listener import NOBODY, Listener
from silas.agents.output_form import FormKeys, OutputForm, output_type
from silas.agents.prefetch import LooksFirst, on_this_machine
from silas.agents.prompt import instructions
from silas.agents.providers.factory import is_own_server, mode_memory, takes_tools
from silas.agents.providers.model_probe import address_of
from silas.agents.providers.retry import ProviderRetry
from silas.agents.streaming import StreamingModel, can_stream
from silas.agents.written_calls import WrittenCallsModel
from silas.canonical import digest
from silas.clock import Clock

_offered: Final[ContextVar[AbstractToolset[Any] | None]] = ContextVar("offered", default=None)


@contextmanager
def offer_toolsets(toolsets: Sequence[AbstractToolset[Any]]) -> Generator[None]:
    """What the run that is begun within may call: these tools, and no others.

    Tools that are handed to a run stand beside those of its agent, which has none here, and
    PydanticAI then asks both for everything, each in a task of its own.
    """
    whole = toolsets[0] if len(toolsets) == 1 else CombinedToolset(list(toolsets))
    token = _offered.set(whole if toolsets else None)
    try:
        yield
    finally:
        _offered.reset(token)


@dataclass(kw_only=True)
class _Attended(ProviderRetry):
    """Patience, somebody who resolves paused calls, and the run's own tools: one capability."""

    pausing: CombinedCapability[Any]

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        """The tools that are offered to this run, in place of the agent's, which has none."""
        offered = _offered.get()
        return toolset if offered is None else offered

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Whatever the others make of it."""
        return await self.pausing.before_model_request(ctx, request_context)

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """Whatever the handlers answer, in their order."""
        return await self.pausing.handle_deferred_tool_calls(ctx, requests=requests)


_OF_NO_USE: Final = frozenset({"ToolSearch", "PendingMessageDrainCapability"})
"""A search for tools that are not shown at first, and a queue of messages to a run under way."""


def _stand_in_for_the_given() -> None:
    """Let `_Attended` count as what PydanticAI gives every agent and Silas has no use for.

    PydanticAI copies a run's context for every capability at every one of some two dozen hooks, and
    adds of these what an agent has not got. Whatever else it gives, an agent has beside it.
    """
    for given in Agent().root_capability.capabilities:
        if type(given).__name__ in _OF_NO_USE:
            type(given).register(_Attended)


_stand_in_for_the_given()


_AgentKey = tuple[StructuredCall[Any], OutputMode, tuple[str, ...], bool]
"""What is asked, in which form, with which context profiles, and whether beside tools."""


class Role:
    """A model in a role: its instructions, its output form, and an agent for every call and mode.

    Agents are kept, because making the schema of an output costs more than a whole run, and
    PydanticAI puts capabilities together anew for every run that is given its own.

    Args:
        model: Any PydanticAI model.
        clock: Waits between attempts.
        output: How it is made to answer in form.
        name: `proxy`, `planner`, `executor`; its prompt follows the constitution, and neither
            changes, so that providers can keep them.
        pausing: What resolves calls that pause for approval, and counts requests.
        own: Instructions of one worker, below those of its role.
    """

    def __init__(
        self,
        model: Model,
        clock: Clock,
        output: OutputSetting,
        name: str,
        pausing: Sequence[AbstractCapability[Any]],
        own: str = "",
    ) -> None:
        # a server that is held to a report by a grammar may never call a tool, which is an
        # executor's work; the others are asked for words
        self.on_own_server = is_own_server(model)
        native_first = self.on_own_server and name != "executor"
        place = address_of(model)
        self.form = OutputForm(
            model,
            output,
            own_server=self.on_own_server,
            native_first=native_first,
            kept=mode_memory(model),
            keys=_form_keys(f"{place} {model.model_name}", name, takes_tools(model)),
            takes_tools=takes_tools(model),
        )
        self.who = f"{name}: {model.model_name}" + (f" at {place}" if place else "")
        self._model = model
        self._name = name
        self._instructions = instructions(name, own)
        self._clock = clock
        self._pausing = tuple(pausing)
        self._streams = can_stream(model)
        self._versions: dict[tuple[StructuredCall[Any], tuple[str, ...]], str] = {}
        self._agents: dict[_AgentKey, Agent[Any, Any]] = {}

    def agent(
        self, call: StructuredCall[Any], mode: OutputMode, profiles: tuple[str, ...]
    ) -> Agent[Any, Any]:
        """The agent that answers a call in a mode.

        Args:
            call: What is asked.
            mode: The output mode.
            profiles: Context profiles an answer may name, the default first.
        """
        key = (call, mode, profiles, self.form.with_tools)
        if key not in self._agents:
            self._agents[key] = Agent(
                self._prepare_model(self._model, mode),
                name=self._name,
                instructions=self._instructions,
                output_type=output_type(call, mode, profiles, own_server=self.on_own_server),
                capabilities=[
                    _Attended(clock=self._clock, pausing=CombinedCapability(list(self._pausing)))
                ],
                # the one retry is run_structured_agent's; a tool may be corrected a few times
                model_settings=self._settings(),
                retries={"output": 0, "tools": _TOOL_CORRECTIONS},
            )
        return self._agents[key]

    def prompt_version(self, call: StructuredCall[Any], profiles: tuple[str, ...]) -> str:
        """Sixteen hex digits of what the role is told and shown: another prompt, another version.

        The form in which the schema is sent does not count: the same words are asked in all.
        """
        key = (call, profiles)
        if key not in self._versions:
            schema = _schema_of(call.shown(profiles, False))
            self._versions[key] = digest({"told": self._instructions, "schema": schema})[:16]
        return self._versions[key]

    def streaming_model(
        self, call: StructuredCall[Any], mode: OutputMode, listener: Listener
    ) -> Model | None:
        """The model as somebody hears it in one run; None where nobody does, or it cannot be."""
        if listener is NOBODY or call.spoken is None or not self._streams:
            return None
        tool = call.form if mode == "tool" else ""
        heard = StreamingModel(self._model, call.spoken, tool, listener, self._answers_whole)
        return self._prepare_model(heard, mode)

    def _prepare_model(self, model: Model, mode: OutputMode) -> Model:
        """The model as it is asked: with tools to call, or for calls in its words.

        One that a grammar keeps from calling tools is asked after the first looks were made.
        """
        if not self.form.with_tools:
            model = JsonCallsModel(model, root_union=self.on_own_server)
        else:
            model = WrittenCallsModel(model)
        held = self.on_own_server and mode != "tool" and self._name in _LOOKING
        if held and on_this_machine(self._model):
            return LooksFirst(model, always=self._name == "planner")
        return model

    def _settings(self) -> ModelSettings:
        chosen = self._model.settings or {}
        return ModelSettings() if "max_tokens" in chosen else _LONGEST_ANSWER[self._name]

    def _answers_whole(self) -> None:
        self._streams = False


@lru_cache(maxsize=64)  # ten milliseconds; the same for every agent that is made
def _schema_of(shown: type[BaseModel]) -> dict[str, Any]:
    return shown.model_json_schema()


def _form_keys(model: str, role: str, takes_tools: bool) -> FormKeys:
    # with tools to call beside it, another form may be the one that works
    kind = "tools" if role == "executor" else "words"
    return FormKeys(
        usual=f"{model} {kind if takes_tools else 'no tools'}", refused=f"{model} refuses tools"
    )


_LONGEST_ANSWER: Final = {
    "proxy": ModelSettings(max_tokens=4096),
    "planner": ModelSettings(max_tokens=8192),
    "executor": ModelSettings(max_tokens=8192),
    "scorer": ModelSettings(max_tokens=1024),
}
"""Tokens of one answer where the owner sets no `max_tokens`; every hosted model takes these."""

_LOOKING: Final = frozenset({"proxy", "planner"})
"""Roles to which the tools that look are offered."""

_TOOL_CORRECTIONS = 3  # times a model may correct the arguments of one tool before the run ends
