"""What code says beside a model's answer is told in the owner's language."""

import pytest

from silas.agents.models import MemoryOp, MemoryOpType
from silas.errors import LLMError
from silas.testing import Harness, ScriptedModel
from tests.stream.kit import direct, soon

GERMAN = {"language": "de"}


@pytest.mark.parametrize(
    ("op", "told"),
    [
        (MemoryOp(op=MemoryOpType.delete, memory_id="mem-nowhere"), "Nicht vergessen: "),
        (
            MemoryOp(op=MemoryOpType.update, memory_id="mem-nowhere", content="x"),
            "Im Gedächtnis nicht geändert: ",
        ),
    ],
    ids=["forget", "change"],
)
async def test_what_memory_refuses_is_told_in_german(op: MemoryOp, told: str) -> None:
    proxy = ScriptedModel([direct("Gut.", memory_ops=[op])])
    async with Harness(models={"proxy": proxy}, settings=GERMAN) as h:
        text = (await soon(h.silas.ask("vergiss das"))).text
    assert told in text
    assert "There is no memory" not in text


async def test_where_no_model_can_be_asked_it_is_told_in_german() -> None:
    away = LLMError("The model did not answer in time; try again.", code="E_LLM_TIMEOUT")
    async with Harness(models={"proxy": ScriptedModel([away])}, settings=GERMAN) as h:
        text = (await soon(h.silas.ask("wie geht es dir?"))).text
    assert text.startswith("Das Modell hat nicht rechtzeitig geantwortet; ")
    assert text.endswith(" Nichts wurde ausgeführt.")
