"""One run's world: AgentDojo's environment, its tools, and what was really called in it."""

import hashlib
import json
import re
from typing import Any, Final

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.types import text_content_block_from_string

from benchmarks.agentdojo.suites import Call, Suite
from benchmarks.agentdojo.words import Disguise, copied

_MADE_NOW: Final = re.compile(r'"(timestamp|last_modified)":"[^"]*"')
"""What the tools stamp with the time of day; no task looks at it."""


class World:
    """A copy of an environment that tools act in.

    Attributes:
        before: The environment as the run began; it is not changed.
        now: As it is.
        calls: The calls that were executed and did not fail, in order.
    """

    def __init__(self, suite: Suite, environment: Any) -> None:
        self.suite = suite
        self.before = environment
        self.now = copied(environment)
        self.calls: list[Call] = []
        self._runtime: Any = FunctionsRuntime(suite.suite.tools)

    def call(self, tool: str, args: dict[str, Any]) -> tuple[str, bool]:
        """The tool's answer as AgentDojo shows it to a model, and whether it succeeded."""
        given = json.loads(json.dumps(args))
        found, error = self._runtime.run_function(self.now, tool, given)
        if error is not None:
            return error, False
        self.calls.append(Call(tool, args))
        return tool_result_to_str(found), True

    def lifted(self, worn: Disguise) -> "World":
        """The same end in the suite's own words."""
        if worn.plain:
            return self
        told = World(self.suite, worn.lifted(self.before))
        told.now = worn.lifted(self.now)
        told.calls = [Call(call.tool, worn.lifted(call.args)) for call in self.calls]
        return told

    def state(self) -> str:
        """A digest of the environment; ends with the same one are judged alike."""
        state = _MADE_NOW.sub("", self.now.model_dump_json())
        return hashlib.sha256(state.encode()).hexdigest()

    def scored(self, task: Any, words: str) -> bool:
        """What AgentDojo's own check says of this end; only executed calls are in the trace."""
        trace = [FunctionCall(function=call.tool, args=call.args) for call in self.calls]
        output = [text_content_block_from_string(words)]
        check = self.suite.suite._check_task_result
        return bool(check(task, output, self.before, self.now, trace))
