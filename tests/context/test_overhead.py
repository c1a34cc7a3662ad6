"""What every prompt holds before anything was said is counted once, and kept free (5.7)."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from silas.agents import AgentResponse
from silas.agents.models import RouteDecision
from silas.config import SilasConfig
from silas.context import ContextConfig, ContextZone, TokenCounter
from silas.services.doctor.diagnose import diagnose
from silas.services.tools.prompt_overhead import overhead_of
from silas.services.tools.uncalled_tools import add_uncalled
from silas.stream.session import Session
from silas.testing import Harness, MockClock
from silas.tools import ToolRegistry
from silas.types import OWNER
from silas.wiring.parts import Parts
from tests.stream.kit import answer, soon, to_planner

COUNT = TokenCounter().count
MOST = 2900  # tokens of the proxy's fixed part, 900 of them for the tools that look


class Weighing:
    """A model that counts what it is sent, and gives one answer."""

    def __init__(self, output: RouteDecision | AgentResponse) -> None:
        self.model = FunctionModel(self._answer)
        self.sent: list[int] = []
        self._output = output.model_dump(mode="json")

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        [request] = (m for m in messages if isinstance(m, ModelRequest))
        tools = [
            f"{tool.name}\n{tool.description}\n"
            + json.dumps(tool.parameters_json_schema, separators=(",", ":"))
            for tool in (*info.function_tools, *info.output_tools)
        ]
        words = [
            request.instructions or "",
            *(str(getattr(part, "content", "")) for part in request.parts),
        ]
        self.sent.append(sum(map(COUNT, (*words, *tools))))
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, self._output)])


class Weighed:
    """One turn through both models: what each was sent besides the context, and what is kept."""

    def __init__(self, **settings: Any) -> None:
        self.proxy, self.planner = Weighing(to_planner()), Weighing(answer("Done."))
        models = {"proxy": self.proxy.model, "planner": self.planner.model}
        self.harness = Harness(models=models, settings=settings, beside=self._beside)

    @asynccontextmanager
    async def _beside(self, parts: Parts, session: Session) -> AsyncGenerator[None]:
        self.context = parts.context_services.context
        yield

    async def turn(self) -> tuple[int, int, int]:
        """Tokens of proxy and planner, and those that no context may use."""
        async with self.harness:
            await soon(self.harness.silas.ask("hello", workspace=Path("/work")))
            manner = self.context.get_zone(OWNER, ContextZone.system)
            shown = sum(COUNT(one.content) for one in manner)
            kept = self.context.token_usage("nobody")["system"]
        return self.proxy.sent[0] - shown, self.planner.sent[0] - shown, kept


async def test_what_the_proxy_is_told_besides_the_context_is_bounded() -> None:
    proxy, _, _ = await Weighed().turn()
    assert 1000 < proxy <= MOST


async def test_as_much_is_kept_free_of_context_as_prompts_really_hold_besides() -> None:
    proxy, planner, kept = await Weighed().turn()
    assert proxy < planner
    # the frame of the manner, the message and the directory are the context's or nobody's
    assert abs(kept - planner) < 0.05 * planner


async def test_what_further_tools_take_is_kept_free_too(tmp_path: Path) -> None:
    config, registry = SilasConfig(data_dir=tmp_path), ToolRegistry(MockClock())
    bare = overhead_of(config, registry, {})
    add_uncalled(registry, config)
    more = overhead_of(config, registry, {"writing": "How to write. " * 20})
    assert more.proxy - bare.proxy > 80 + 200
    assert more.reserved == max(more)


@pytest.mark.parametrize(("total", "ready"), [(180_000, True), (8_000, True), (4_000, False)])
async def test_doctor_says_what_prompts_hold_and_whether_that_leaves_room(
    total: int, ready: bool, tmp_path: Path
) -> None:
    context = ContextConfig(total_tokens=total)
    found = await diagnose(SilasConfig(data_dir=tmp_path, context=context))
    [row] = [one for one in found if one.part == "context"]
    assert row.ok is ready
    assert f"of {total:,} tokens" in row.words
    assert ("raise context.total_tokens" in row.words) is not ready
