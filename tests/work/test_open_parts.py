"""A plan that leaves a part of an argument to be found by the work (decisions B1, B9)."""

from typing import Any

from silas.testing import CallTool, FakeTool
from silas.tools import CallFacts
from tests.work.kit import DONE, at_work
from tests.work.test_survivors import LOOK, RATED, Office, Owner


class Courier(FakeTool):
    """A tool whose arguments have an inside."""

    @property
    def schema(self) -> dict[str, Any]:
        """Anything."""
        return {"type": "object"}

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """Anything."""
        return args


async def test_a_file_to_attach_that_the_work_finds_is_shown_and_nothing_around_it_can_change() -> (
    None
):
    found = {"type": "file", "file_id": {"slot": "identifier", "from": "tool look"}}
    tools = [{"tool": "send", "args": {"to": "Alice", "attachments": [found]}, "times": 3}]
    owner = Owner("| 7")
    calls = [
        CallTool("send", {"to": "Alice", "attachments": [{"type": kind, "file_id": number}]})
        for kind, number in (("file", "13"), ("everything", "7"), ("file", "7"))
    ]
    async with at_work(LOOK, *calls, DONE, channel=owner) as work:
        Office(work.silas.registry)
        courier = Courier("send", facts=CallFacts(), requires_authority=True)
        work.silas.registry.register(courier, RATED)
        await work.run(
            tools=tools,
            body="Send Alice the older of the two files.",
            verify=[],
            budget={"max_attempts": 1},
        )
    assert [call["attachments"] for call in courier.calls] == [[{"type": "file", "file_id": "7"}]]
    assert len(owner.shown) == 2
    assert "attachments[].file_id: a result of look" in owner.shown[0]
    assert "| 13" in owner.shown[0]
    assert not any("everything" in words for words in owner.shown)
