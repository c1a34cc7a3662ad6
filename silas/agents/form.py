"""How a model is made to answer in form, and the one other way when it cannot (decision A21)."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_ai import NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import ModelRequestRejectedError, UserError
from pydantic_ai.models import Model
from pydantic_ai.output import OutputSpec

from silas.agents.calls import Call
from silas.agents.choice import OutputMode, OutputSetting
from silas.agents.faults import of_the_form
from silas.agents.kept import KeptModes
from silas.errors import misfits

T = TypeVar("T")


class OutputForm:
    """The output mode of one model, and what it learned.

    With `auto` the first request uses what PydanticAI's profile of the model prefers, and a server
    of the owner's own is first asked for `native`, because it makes a grammar of the schema. If the
    answer fails in *form* (no output tool was called, no JSON, or the server refused the
    request), the one retry uses the next best mode; if that one works, later calls begin with
    it, in the next run of Silas too, until the server refuses it. A failure of *content* (JSON of
    the wrong shape) is retried in the same mode. An explicit mode is never left.

    Args:
        model: Whose profile decides where no server of the owner's own does.
        setting: `auto`, or the one mode.
        native_first: Whether `auto` begins with a grammar.
        kept: What was learned before.
        key: Where this model's mode stands in it.
    """

    def __init__(
        self,
        model: Model,
        setting: OutputSetting,
        *,
        native_first: bool,
        kept: KeptModes,
        key: str,
    ) -> None:
        found = ("native", "tool") if native_first else _auto_modes(model)
        self._usual = found[0]
        self._auto = setting == "auto"
        self._kept, self._key = kept, key
        self._modes: Sequence[OutputMode] = found if setting == "auto" else (setting,)
        if self._auto and (known := kept.mode(key)) is not None:
            self._begin_with(known)

    @property
    def current(self) -> OutputMode:
        """The mode the next call begins with."""
        return self._modes[0]

    def after(self, mode: OutputMode, error: BaseException) -> OutputMode:
        """The mode for the retry of an attempt that failed in `mode`."""
        if not is_failure_of_form(error):
            return mode
        for other in self._modes:
            if other != mode:
                return other
        return mode

    def worked(self, mode: OutputMode) -> None:
        """Remember the mode that a model answered in."""
        self._begin_with(mode)
        if not self._auto:
            return
        if mode == self._usual:
            self._kept.forget(self._key)
        else:
            self._kept.keep(self._key, mode)

    def failed(self, mode: OutputMode, error: BaseException) -> None:
        """Forget what was learned where the server refuses requests in that mode."""
        refused = isinstance(error, ModelRequestRejectedError) and of_the_form(error)
        if self._auto and refused and mode != self._usual:
            self._kept.forget(self._key)

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
    call: Call[T], mode: OutputMode, profiles: tuple[str, ...], *, own_server: bool
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


def how_to_answer(call: Call[Any], mode: OutputMode) -> str:
    """What a model that answered out of form is told, in words of the mode it is asked in next."""
    if mode == "tool":
        return f"Answer by calling the tool `{call.form}`, once, and with nothing else."
    return "Answer with one JSON object that fits the required schema, and with nothing else."


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
