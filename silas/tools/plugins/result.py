"""What a toolset's tool returned, as the text of a `ToolResult`."""

from typing import Any, Final

from pydantic_ai.messages import ToolReturn
from pydantic_core import to_json

from silas.tools.models import ToolResult
from silas.types import TaintLevel

MAX_TEXT: Final = 100_000  # characters; as much as a program in the sandbox may print


def result_of(returned: Any, taint: TaintLevel) -> ToolResult:
    """A result with everything a model may see as text; binary content is named, not shown."""
    content = returned.content if isinstance(returned, ToolReturn) else None
    value = returned.return_value if isinstance(returned, ToolReturn) else returned
    parts = [_text(value)]
    if content is not None:
        parts += [_text(part) for part in ([content] if isinstance(content, str) else content)]
    text = "\n".join(part for part in parts if part)
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}\n[cut after {MAX_TEXT} characters of {len(text)}]"
    return ToolResult(ok=True, return_value=text, taint=taint)


def refusal(words: str, taint: TaintLevel) -> ToolResult:
    """A tool that ran and says that it failed, in its own words."""
    return ToolResult(ok=False, error=words[:MAX_TEXT], taint=taint)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    kind = getattr(value, "media_type", None)
    if isinstance(value, bytes | bytearray) or isinstance(kind, str):
        return f"[binary content, {kind or 'of unknown type'}]"
    return to_json(value, serialize_unknown=True, inf_nan_mode="strings").decode()
