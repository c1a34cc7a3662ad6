"""A disk that fills while a whole Silas is at work: no effect without its entry, one error."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.agents.models import ExecutorAgentOutput
from silas.audit.log import AuditLog
from silas.cards import Card
from silas.cards.models import PlanAnswer
from silas.errors import DatabaseError, SilasError
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.tools import exit_result
from tests.support.disk import Full, full_disk

LS = CallTool("shell_exec", {"argv": ["ls"]})
REPORT = ExecutorAgentOutput(summary="did what I could")
PLAN = plan_text(
    budget={"max_attempts": 1},
    verify=[{"name": "checked", "run": "true", "expect": {"exit_code": 0}}],
)


class Filling(ScriptedModel):
    """The disk is full by the time this model asks for its tool."""

    def __init__(self, disk: Full, home: Path) -> None:
        super().__init__([LS, REPORT])
        self._disk, self._home = disk, home

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._disk.now(self._home / "data" / "silas.db-wal")
        return await super().request(messages, model_settings, model_request_parameters)


async def events(h: Harness) -> list[str]:
    log = h.silas.audit
    assert isinstance(log, AuditLog)
    return [json.loads(entry.body)["event"] for entry in await log.entries(limit=1000)]


@pytest.mark.proves("B5-NO-ENTRY-NO-EFFECT", "B5-DISK-FULL")
@pytest.mark.parametrize("moment", ["before the approval", "before the tool call"])
async def test_a_full_disk_lets_nothing_run_and_says_so_once(tmp_path: Path, moment: str) -> None:
    sandbox = FakeSandbox(lambda run: exit_result())
    with full_disk() as disk:

        def answer(card: Card[Any]) -> Any:
            if moment == "before the approval":
                disk.now(tmp_path / "data" / "silas.db-wal")
            return PlanAnswer(verdict="approved")

        model = Filling(disk, tmp_path) if moment != "before the approval" else ScriptedModel([])
        async with Harness(
            ScriptedChannel(answer), models={"executor": model}, sandbox=sandbox, home=tmp_path
        ) as h:
            with pytest.raises(SilasError) as raised:
                await h.silas.run(PLAN)
            assert isinstance(raised.value, DatabaseError)
            assert raised.value.code == "E_DB_OPERATION"
            assert sandbox.runs == []
            disk.over()
            found = await events(h)
            assert "plan_proposed" in found
            assert "tool_call.attempted" not in found
            assert (await h.silas.audit.verify_chain()).valid
    async with Harness(home=tmp_path) as h:
        assert (await h.silas.audit.verify_chain()).valid
        assert [e for e in await events(h) if e in found] != []
