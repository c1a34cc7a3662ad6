"""The owner's tools that an approval binds: what a plan's commands are looked for in (spec 5.3)."""

from collections.abc import Callable

from silas.canonical import canonical_bytes, sha256_hex
from silas.language import tr
from silas.sandbox.toolchains.mounts import ToolFacts, tool_directories, tool_words


def tool_line(tools: ToolFacts, show: Callable[[str], str]) -> tuple[str, ...]:
    """What a card says of the tools; nothing where only the system's take part."""
    return (tr("tools: {tool_words}", tool_words=show(tool_words(tools))),) if tools else ()


def tool_digest(tools: ToolFacts, show: Callable[[str], str]) -> tuple[str, ...]:
    """What a card says of what is compared, all tools together: each directory that its one line
    only counts, and one digest.
    """
    if not tools:
        return ()
    digest = sha256_hex(canonical_bytes(dict(tools)))
    directories = tool_directories(tools)
    return (
        tr("the programs of the tools above, by name, size and time:"),
        *(f"  {show(one)}" for one in directories if len(directories) > 1),
        f"  sha256:{digest}",
    )
