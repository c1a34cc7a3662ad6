"""A loader of toolsets with everything around it in reach of a test."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from silas.tools.plugins.run import ToolsetContext
from silas.tools.plugins.tool import PluginTool
from silas.tools.plugins.toolsets import LoadedToolsets, ToolsetLoader

SECRET = "s3cr3t-value"


class Kept:
    """Remembers what it was told, and takes it out."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def learn(self, values: Mapping[str, str]) -> None:
        self.values.update(values)

    def redact(self, text: str) -> str:
        for name, value in self.values.items():
            text = text.replace(value, f"[{name}]")
        return text


def a_loader(*allow: str, **profiles: Any) -> ToolsetLoader:
    return ToolsetLoader(
        allow=allow or ("acme_toolsets.",),
        profiles=profiles,
        built_in={},
        environ={"KEY": SECRET},
        discretion=Kept(),
        scrub=lambda text: text.replace("\x1b", ""),
    )


@asynccontextmanager
async def loaded(
    spec: Mapping[str, Any], loader: ToolsetLoader | None = None
) -> AsyncGenerator[LoadedToolsets]:
    """What comes of a mapping, left at the end."""
    context = ToolsetContext(name="", worker="", data_dir=Path("/nowhere"))
    async with AsyncExitStack() as stack:
        yield await (loader or a_loader()).load(spec, context, stack)


def tools_of(found: LoadedToolsets) -> dict[str, PluginTool]:
    """The adapters by name; nothing else is expected."""
    assert found.faults == ()
    tools = {one.tool.tool_name: one.tool for one in found.tools}
    return {name: tool for name, tool in tools.items() if isinstance(tool, PluginTool)}
