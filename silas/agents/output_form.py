"""How a model is made to answer in form, and the one other way when it cannot (decision A21)."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_ai import NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import ModelRequestRejectedError, UserError
from pydantic_ai.models import Model
from pydantic_ai.output import OutputSpec

from silas.agents.calls import EXECUTOR, StructuredCall
from silas.agents.choice import OutputMode, OutputSetting
from silas.agents.providers.model_errors import of_the_form
from silas.agents.providers.output_modes import ModeMemory
from silas.errors import misfits

T = TypeVar("T")


class FormKeys(NamedTuple):
    """Where it is kept which mode works with a model: usually, and since it refused tools."""

    usual: str
    refused: str


_TEXT_NATIVE_FIRST: Final[Sequence[OutputMode]] = ("native", "prompted")
_TEXT_PROMPTED_FIRST: Final[Sequence[OutputMode]] = ("prompted", "native")


class OutputForm:
    """The output mode of one model, and what it learned.

    With `auto` the first request uses what PydanticAI's profile of the model prefers, and a server
    of the owner's own is first asked for `native`, because it makes a grammar of the schema. If the
    answer fails in *form* (no output tool was called, no JSON, or the server refused the
    request), the one retry uses the next best mode; if that one works, later calls begin with
    it, in the next run of Silas too, until the server refuses it. A failure of *content* (JSON of
    the wrong shape) is retried in the same mode. An explicit mode is never left.

    A server that takes no tools is asked without them from then on, in `native` or `prompted`
    form, and this is kept, too; who names `output: tool` is told instead.

    Args:
        model: Whose profile decides where no server of the owner's own does.
        setting: `auto`, or the one mode.
        own_server: Whether its server is the owner's own, and makes a grammar of a schema.
        native_first: Whether `auto` begins with a grammar where tools are offered.
        kept: What was learned before.
        keys: Where this model's mode stands in it.
        takes_tools: Whether tools may be offered at all.
    """

    def __init__(
        self,
        model: Model,
        setting: OutputSetting,
        *,
        own_server: bool,
        native_first: bool,
        kept: ModeMemory,
        keys: "FormKeys",
        takes_tools: bool,
    ) -> None:
        found = ("native", "tool") if native_first else _auto_modes(model)
        self._without_tools = _TEXT_NATIVE_FIRST if own_server else _TEXT_PROMPTED_FIRST
        self.with_tools = takes_tools
        if not takes_tools:
            found = self._without_tools
        self._refused = False
        self._form_refused: OutputMode | None = None
        self._usual = found[0]
        self._auto = setting == "auto"
        self._named = setting
        self._kept, self._keys = kept, keys
        self._modes: Sequence[OutputMode] = found if setting == "auto" else (setting,)
        if self._auto and (known := kept.mode(keys.usual)) is not None:
            self._begin_with(known)
        if kept.mode(keys.refused) is not None:
            self.do_without_tools()

    @property
    def current(self) -> OutputMode:
        """The mode the next call begins with."""
        return self._modes[0]

    @property
    def may_do_without_tools(self) -> bool:
        """Whether it is still asked with tools and could be asked without."""
        return self.with_tools and self._named != "tool"

    def do_without_tools(self) -> None:
        """Offer no tools from now on; begin with another mode than the one refused before."""
        if not self.may_do_without_tools:
            return
        self.with_tools, self._refused = False, True
        if not self._auto:
            return
        self._modes = sorted(self._without_tools, key=lambda one: one == self._form_refused)
        if (known := self._kept.mode(self._keys.refused)) in self._modes:
            self._begin_with(known)

    def after(self, mode: OutputMode, error: BaseException) -> OutputMode:
        """The mode for the retry of an attempt that failed in `mode`."""
        if not is_failure_of_form(error):
            return mode
        for other in self._modes:
            if other != mode:
                return other
        return mode

    def remember_mode(self, mode: OutputMode) -> None:
        """Remember the mode that a model answered in."""
        self._begin_with(mode)
        if self._refused:
            self._kept.keep(self._keys.refused, mode)
        elif not self._auto:
            return
        elif mode == self._usual:
            self._kept.forget(self._keys.usual)
        else:
            self._kept.keep(self._keys.usual, mode)

    def forget_refused(self, mode: OutputMode, error: BaseException) -> None:
        """Forget what was learned where the server refuses requests in that mode."""
        refused = isinstance(error, ModelRequestRejectedError) and of_the_form(error)
        if refused:
            self._form_refused = mode
        if self._auto and refused and not self._refused and mode != self._usual:
            self._kept.forget(self._keys.usual)

    def _begin_with(self, mode: OutputMode) -> None:
        self._modes = (mode, *(other for other in self._modes if other != mode))


def _auto_modes(model: Model) -> tuple[OutputMode, OutputMode]:
    profile = model.profile
    schema = profile.get("supports_json_schema_output", False)
    match profile.get("default_structured_output_mode", "tool"):
        case "native":
            return "native", "tool" if profile.get("supports_tools", True) else "prompted"
        case "prompted":
            return "prompted", "native" if schema else "tool"
        case _:
            return "tool", "native" if schema else "prompted"


def output_type(
    call: StructuredCall[T], mode: OutputMode, profiles: tuple[str, ...], *, own_server: bool
) -> OutputSpec[T]:
    """PydanticAI's output marker for a call in a mode; the same names in every mode.

    Providers refuse a union at the root of a schema; a server of the owner's own, which makes a
    grammar of it, is held by one to an answer that is whole.
    """
    match mode:
        case "tool":
            shown = call.shown(profiles, False)
            return ToolOutput(shown, name=call.form, description=call.describe)
        case "native":
            shown = call.shown(profiles, own_server)
            return NativeOutput(shown, name=call.form, description=call.describe)
        case "prompted":
            shown = call.shown(profiles, True)
            return PromptedOutput(shown, name=call.form, description=call.describe)


def how_to_answer(call: StructuredCall[Any], mode: OutputMode) -> str:
    """What a model that answered out of form is told, in words of the mode it is asked in next."""
    if mode == "tool" and call.name == EXECUTOR.name:
        return (
            "Go on by calling a tool: the next one that the work needs, or "
            f"`{call.form}` once it is done or cannot be done. Words alone do nothing."
        )
    if mode == "tool":
        return f"Answer by calling the tool `{call.form}`, once, and with nothing else."
    answer = "Answer with one JSON object that fits the required schema, and with nothing else."
    if call.name == EXECUTOR.name:
        return f"Is the work not done, go on by calling the next tool. Else: {answer}"
    return answer


def is_failure_of_form(error: BaseException) -> bool:
    """Whether an answer was not even an attempt at the required form."""
    if isinstance(error, ModelRequestRejectedError | UserError):
        return True
    problem = root_problem(error)
    if isinstance(problem, ValidationError):
        return any(one.kind == "json_invalid" for one in misfits(problem))
    text = str(problem)
    return "json_invalid" in text or "Invalid JSON" in text or "validation error" not in text


def root_problem(error: BaseException) -> BaseException:
    """The error at the bottom: PydanticAI wraps what was wrong with an answer."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


_LONGEST_SUMMARY = 2000  # characters; a model needs the first errors, not all of them


def summarise(error: BaseException) -> str:
    """What was wrong with an answer, for the model that gave it: no URLs, no repeated input."""
    problem = root_problem(error)
    if not isinstance(problem, ValidationError):
        return str(problem)[:_LONGEST_SUMMARY]
    lines = [f"{one.place or 'answer'}: {one.words}" for one in misfits(problem)]
    return "\n".join(lines)[:_LONGEST_SUMMARY]
