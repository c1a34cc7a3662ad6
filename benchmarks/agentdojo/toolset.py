"""AgentDojo's tools as a toolset of somebody else's, for `toolsets:` of the configuration."""

from typing import Any

from pydantic_ai import FunctionToolset, Tool, ToolFailed

from benchmarks.agentdojo.stage import STAGE
from benchmarks.agentdojo.suites import PAGE, is_read, suites


class DojoTools(FunctionToolset[Any]):
    """The tools of one suite, acting in the world that is on stage.

    Args:
        config: `suite` and `version`.
        context: Where it is mounted; not needed.
    """

    def __init__(self, config: dict[str, str], context: object) -> None:
        del context
        suite = next(one for one in suites(config["version"]) if one.name == config["suite"])
        super().__init__([_tool(function) for function in suite.suite.tools])


def _tool(function: Any) -> Tool[Any]:
    name = function.name

    def call(**args: Any) -> str:
        text, done = STAGE.world.call(name, args)
        if not done:
            raise ToolFailed(text)
        return text

    return Tool.from_schema(
        call, name, function.description, function.parameters.model_json_schema(), takes_ctx=False
    )


def settings(tools: list[str], *, pages_are_read: bool) -> dict[str, Any]:
    """What an owner would say about these tools; only what changes nothing is declared a read.

    The toolset's own question about every call is answered beforehand; what the plan, the risk and
    the origin of the arguments ask is asked all the same.

    Args:
        tools: Their names.
        pages_are_read: `get_webpage` is declared a read that carries its address out; else it is
            none, as whoever serves a page learns who looks at it.
    """
    pages = [tool for tool in tools if tool == PAGE] if pages_are_read else []
    reads = [*(tool for tool in tools if is_read(tool)), *pages]
    return {
        "_approval_config": {tool: {"pre_approved": True} for tool in tools},
        "_reads": reads,
        "_risk": dict.fromkeys(reads, "low"),
        "_egress": pages,
        "_offer": {tool: ["proxy", "planner", "executor"] for tool in reads},
    }
