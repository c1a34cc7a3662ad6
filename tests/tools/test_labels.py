"""Labels survive whatever a run does with a text (decision B9): random programs at the door."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from silas.db import Database
from silas.testing import MockClock
from silas.testing.tools import FakeTool, a_context
from silas.tools import ToolResult
from silas.tools.provenance import Provenance
from silas.types import Origin, OriginKind, TaintLevel, join_taint
from tests.support.chance import examples
from tests.tools.door import Door

LEVELS = tuple(TaintLevel)


class Value(NamedTuple):
    """A text and the least label it may have."""

    text: str
    label: TaintLevel


class Machine:
    """Keeps files, memories and variables as tools that say of each result what they know of it.

    A tool says `owner` of everything it only hands on, which is a lie as often as not; what it
    keeps, it keeps with the label that the door gave when it was brought in.
    """

    def __init__(self, door: Door) -> None:
        self.kept: dict[str, ToolResult] = {}
        self.door = door
        self.run = Provenance({})
        self.values: list[Value] = []
        self.steps = 0
        for level in LEVELS:
            self._add(f"source_{level}", self._source(level), level)
        self._add("echo", self._echo, TaintLevel.owner)
        self._add("keep", self._keep, TaintLevel.owner)
        self._add("recall", self._recall, TaintLevel.owner)

    def _add(self, name: str, work: Any, declared: TaintLevel) -> None:
        self.door.add(FakeTool(name, work, idempotent=True), result_taint=declared)

    def _source(self, level: TaintLevel) -> Any:
        async def answer(request: dict[str, Any]) -> ToolResult:
            return ToolResult(ok=True, return_value=f"news {request['n']} {level}", taint=level)

        return answer

    async def _echo(self, request: dict[str, Any]) -> ToolResult:
        joined = " ".join(request[name] for name in sorted(request))
        return ToolResult(ok=True, return_value=f"so: {joined}", taint=TaintLevel.owner)

    async def _keep(self, request: dict[str, Any]) -> ToolResult:
        self.kept[request["name"]] = ToolResult(ok=True, return_value=request["text"])
        return ToolResult(ok=True, return_value="kept", taint=TaintLevel.owner)

    async def _recall(self, request: dict[str, Any]) -> ToolResult:
        # a store that does not know where a text came from says external, as `ToolResult` does
        return self.kept.get(request["name"], ToolResult(ok=False, taint=TaintLevel.owner))

    async def call(self, tool: str, **args: str) -> ToolResult:
        self.steps += 1
        context = a_context(str(self.steps), provenance=self.run)
        return await self.door.executor.call(tool, "run", args, context)

    async def step(self, kind: str, pick: Sequence[int], level: TaintLevel) -> None:
        some = [self.values[n % len(self.values)] for n in pick] if self.values else []
        label = join_taint([TaintLevel.owner, *(value.label for value in some)])
        words = {f"a{n}": value.text for n, value in enumerate(some)}
        match kind:
            case "read":
                result = await self.call(f"source_{level}", n=str(len(self.values)))
                label = level
            case "summarise":  # in a model's own words: no tool, and nothing of the words is left
                self.values.append(Value(f"in short {len(self.values)}", self.run.taint))
                return
            case "keep and recall":
                text = " ".join(words.values()) or "nothing"
                await self.call("keep", name="n", text=text)
                result = await self.call("recall", name="n")
            case "delegate":  # the other run shares the labels; its report comes back as a result
                result = await self.call("echo", **words)
            case _:  # restart: what was known of the run is gone, what was done is in the journal
                self.run = Provenance({})
                for value in self.values:
                    self.run.add_text(value.text, Origin(kind=OriginKind.file, taint=value.label))
                return
        assert join_taint([result.taint, label]) is result.taint, (kind, result, label)
        assert join_taint([self.run.taint, result.taint]) is self.run.taint
        self.values.append(Value(result.return_value, result.taint))


Program = list[tuple[str, list[int], TaintLevel]]

PROGRAMS: st.SearchStrategy[Program] = st.lists(
    st.tuples(
        st.sampled_from(["read", "summarise", "keep and recall", "delegate", "restart"]),
        st.lists(st.integers(0, 20), max_size=3),
        st.sampled_from(LEVELS),
    ),
    max_size=14,
)


async def _run(db: Database, clock: MockClock, program: Program) -> None:
    machine = Machine(Door(db, clock))
    for kind, pick, level in program:
        await machine.step(kind, pick, level)
    for value in machine.values:
        told = machine.run.derive("send", {"text": value.text})
        assert join_taint([told.taint, value.label]) is told.taint


@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(program=PROGRAMS)
def test_the_label_of_an_output_is_never_below_the_join_of_its_inputs(
    db: Database, clock: MockClock, program: Program
) -> None:
    asyncio.run(_run(db, clock, program))
