"""One tool of somebody else's toolset, as the tool door sees it.

What it may do is what the owner said; what its toolset says about it is never trusted further than
to ask or to block.
"""

import asyncio
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from jsonschema.protocols import Validator
from pydantic import ValidationError
from pydantic_ai import ApprovalRequired, ModelRetry, ToolFailed
from pydantic_ai.toolsets import ToolsetTool

from silas.canonical import canonical_json
from silas.errors import misfits
from silas.tools.models import (
    CallFacts,
    PreviewResult,
    Stance,
    ToolCallContext,
    ToolResult,
)
from silas.tools.plugins.result import refusal, result_of
from silas.tools.plugins.run import Foreign, ToolsetContext, approval_wrappers, run_context
from silas.tools.plugins.schema import first_misfit
from silas.tools.plugins.spec import OwnerPolicy
from silas.tools.plugins.toolset_stance import (
    BLOCKED,
    NeedsApprovalMethod,
    ToolsetStance,
    parse_stance,
)
from silas.types import TaintLevel

_MANY = 1000  # calls that asked and were not made; more are forgotten, and are then refused


@dataclass(frozen=True)
class MountedToolset:
    """A loaded toolset: entered, and with the owner's word on it."""

    toolset: Foreign
    context: ToolsetContext
    said: OwnerPolicy
    needs_approval: NeedsApprovalMethod | None
    clean: Callable[[str], str]

    @property
    def scope(self) -> str:
        """What work must be granted to call any of its tools."""
        return f"toolset.{self.context.name}"

    @property
    def wrapped(self) -> bool:
        """Whether it asks by itself: it has an approval wrapper."""
        return next(approval_wrappers(self.toolset), None) is not None


class PluginToolDefinition(NamedTuple):
    """A tool's definition as it was when it was loaded; it does not change while it is mounted.

    Attributes:
        name: As its toolset calls it.
        description: For the model, neutralised.
        schema: Of the arguments, as JSON text.
        validator: Of the same schema.
    """

    name: str
    description: str
    schema: str
    validator: Validator


class PluginTool:
    """An adapter over one tool of a mounted toolset."""

    def __init__(
        self, mount: MountedToolset, tool: ToolsetTool[Any], definition: PluginToolDefinition
    ) -> None:
        self._mount = mount
        self._tool = tool
        self._definition = definition
        self._own = definition.name
        self._asked: dict[str, None] = {}

    @property
    def said(self) -> OwnerPolicy:
        """The owner's word on its toolset."""
        return self._mount.said

    @property
    def own_name(self) -> str:
        """As its toolset calls it."""
        return self._own

    @property
    def tool_name(self) -> str:
        """The name a model calls: the toolset's own, behind the owner's prefix."""
        prefix = self._mount.said.prefix
        return f"{prefix}_{self._own}" if prefix else self._own

    @property
    def description(self) -> str:
        """The toolset's words, neutralised."""
        return self._definition.description

    @property
    def is_read(self) -> bool:
        """Whether the owner declared that it changes nothing."""
        return self._own in self._mount.said.reads

    @property
    def capabilities(self) -> list[str]:
        """The executor alone, unless the owner offers a read to others."""
        return list(self._mount.said.offer.get(self._own, ("executor",)))

    @property
    def scopes_required(self) -> list[str]:
        """The scope of its toolset."""
        return [self._mount.scope]

    @property
    def actions(self) -> list[str]:
        """It is called."""
        return ["call"]

    @property
    def requires_authority(self) -> bool:
        """Whatever is not declared a read acts only with an approval."""
        return not self.is_read

    @property
    def idempotent(self) -> bool:
        """Only where the owner says so."""
        return self.is_read or self._own in self._mount.said.idempotent

    @property
    def taint(self) -> TaintLevel:
        """How far the owner trusts its results."""
        return self._mount.said.results.get(self._own, TaintLevel.external)

    @property
    def schema(self) -> dict[str, Any]:
        """As the toolset defined it, with further arguments refused; the caller's own copy."""
        return json.loads(self._definition.schema)

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments as given, where both the schema and the toolset's own validator take them.

        Raises:
            ValueError: They do not fit; the sentence names the place and no value.
        """
        wrong = first_misfit(self._definition.validator, args)
        if wrong:
            raise ValueError(wrong)
        self._parse_arguments(canonical_json(args))
        return args

    def _parse_arguments(self, canonical: str) -> dict[str, Any]:
        """The arguments as the toolset's code takes them."""
        try:
            found = self._tool.args_validator.validate_json(canonical)
        except ValidationError as error:
            first = misfits(error)[0]
            raise ValueError(f"{first.place or 'it'}: {first.plain}") from None
        if not isinstance(found, dict):
            raise ValueError("the toolset does not take them")
        return cast(dict[str, Any], found)

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """What the owner declared; a toolset's own word is not asked for."""
        said = self._mount.said
        target = request.get(said.targets.get(self._own, ""), "")
        return CallFacts(
            target=target if isinstance(target, str) else canonical_json(target),
            state_changing=not self.is_read,
            egress=not self.is_read or self._own in said.egress,
        )

    def needs_approval(self, action: str, request: dict[str, Any]) -> Stance:
        """What the toolset says about this call, as far as it makes things stricter."""
        canonical = canonical_json(request)
        stance = self.opinion(request).stance
        self._asked.pop(canonical, None)
        if stance is Stance.ask:
            if len(self._asked) >= _MANY:
                self._asked.clear()
            self._asked[canonical] = None
        return stance

    @property
    def approval(self) -> Stance:
        """What `_approval_config` says about it; `silent` where it says nothing."""
        entry = self._mount.said.approval_config.get(self._own)
        return Stance.silent if entry is None else entry.stance

    def opinion(self, request: dict[str, Any]) -> ToolsetStance:
        """The toolset's stance and words; whatever fails or is not understood blocks.

        Its own question is made stricter by `_approval_config`, never more lenient: what that
        answers beforehand is for the tool door to lift.
        """
        try:
            said = self._opinion(request)
            words = self._mount.clean(said.description)
        except (Exception, SystemExit):  # anybody's code; silence means no
            return BLOCKED
        if Stance.blocked in (self.approval, said.stance):
            return ToolsetStance(Stance.blocked, words)
        return ToolsetStance(Stance.ask if self.approval is Stance.ask else said.stance, words)

    def _opinion(self, request: dict[str, Any]) -> ToolsetStance:
        canonical = canonical_json(request)
        shown = json.loads(canonical)
        if self._mount.needs_approval is not None:
            answer = self._mount.needs_approval(self._own, shown)
            if inspect.iscoroutine(answer):
                answer.close()
            own = parse_stance(answer)
            return own if own.stance is not Stance.pre_approved else self._wrappers_say(canonical)
        if self._mount.wrapped or self._tool.tool_def.kind == "unapproved":
            return self._wrappers_say(canonical)
        # It says nothing about itself: what the owner did not declare a read asks.
        return ToolsetStance(Stance.silent if self.is_read else Stance.ask)

    def _wrappers_say(self, canonical: str) -> ToolsetStance:
        """The question of PydanticAI's own wrappers, and of a tool that was made to ask."""
        if self._tool.tool_def.kind == "unapproved":
            return ToolsetStance(Stance.ask)
        context = run_context(self._mount.context, tool=self._own)
        for wrapper in approval_wrappers(self._mount.toolset):
            asks = wrapper.approval_required_func(
                context, self._tool.tool_def, self._parse_arguments(canonical)
            )
            if asks is not False:
                return ToolsetStance(Stance.ask) if asks is True else BLOCKED
        return ToolsetStance(Stance.pre_approved)

    @property
    def supports_preview(self) -> bool:
        """Whether its toolset has words for a call."""
        return self._mount.needs_approval is not None

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """What its toolset says that the call would do; unchecked, so said to be its words."""
        words = self.opinion(request).description
        return PreviewResult(summary=f"Its toolset says: {words}") if words else None

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Call it, within the time limit of the run.

        Raises:
            Exception: Whatever its code raised; the tool door records the outcome as unknown.
        """
        canonical = canonical_json(request)
        asked = canonical in self._asked
        self._asked.pop(canonical, None)
        run = run_context(
            self._mount.context,
            tool=self._own,
            call_id=context.step_id,
            run_id=context.trace_id,
            # true to what happened: the door lets neither of the two through without an approval
            approved=asked or self.requires_authority,
        )
        try:
            async with asyncio.timeout(context.limits.wall_seconds):
                args = self._parse_arguments(canonical)
                await self._check_arguments(args, run)
                returned = await self._mount.toolset.call_tool(self._own, args, run, self._tool)
        except (ModelRetry, ToolFailed) as error:
            return refusal(str(error), self.taint)
        except ApprovalRequired:
            return refusal("It asks for an approval that it did not ask for before.", self.taint)
        except SystemExit as error:
            raise RuntimeError("it tried to end the process") from error
        return result_of(returned, self.taint)

    async def _check_arguments(self, args: dict[str, Any], run: Any) -> None:
        """The tool's own check of its arguments, where it has one."""
        if self._tool.args_validator_func is not None:
            waiting = self._tool.args_validator_func(run, **args)
            if inspect.isawaitable(waiting):
                await waiting
