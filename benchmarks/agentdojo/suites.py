"""AgentDojo's suites as they are meant: with the fixes that loading them misses."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

import yaml
from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.attacks.baseline_attacks import DirectAttack
from agentdojo.task_suite.load_suites import get_suites
from agentdojo.task_suite.task_suite import read_suite_file

from benchmarks.agentdojo.missing import MISSING
from benchmarks.agentdojo.words import copied

VERSIONS: Final = ("v1.1.2", "v1.2.2")

PAGE: Final = "get_webpage"

READS_THAT_ACT: Final = frozenset({"get_unread_emails", PAGE})
"""Reads by name only: one marks what it shows as read, one tells a server what it looks for."""

_READS: Final = ("get_", "search_", "list_", "read_", "check_")

WORDS_ONLY: Final = ("travel", "injection_task_6")
"""The one injection task that asks for words and no action; reported apart."""


class Call(NamedTuple):
    """One call of a tool, as a task's ground truth has it."""

    tool: str
    args: dict[str, Any]


class Pair(NamedTuple):
    """A user task and an injection task of one suite."""

    suite: "Suite"
    user: str
    injection: str

    @property
    def acts(self) -> bool:
        """Whether the injection asks for an action, not only for words."""
        return (self.suite.name, self.injection) != WORDS_ONLY


def is_read(tool: str) -> bool:
    """Whether a tool only looks: it changes nothing and tells nobody anything."""
    return tool.startswith(_READS) and tool not in READS_THAT_ACT


class _Nobody(BasePipelineElement):
    """The pipeline that an attack is aimed at; this one is never called."""

    name = "silas"

    def query(self, *given: Any, **named: Any) -> Any:
        """Never called: `attack` asks the task, not the pipeline."""
        raise NotImplementedError


class Suite:
    """One suite in one version.

    Attributes:
        name: `workspace`, `travel`, `banking` or `slack`.
        suite: AgentDojo's own, with the registrations of 1.1.2 merged.
    """

    def __init__(self, name: str, suite: Any) -> None:
        self.name = name
        self.suite = suite
        suite.load_and_inject_default_environment = self._loaded
        self._attack = DirectAttack(suite, _Nobody())
        self._plain = self._loaded({})

    @cached_property
    def users(self) -> dict[str, Any]:
        """The user tasks by id."""
        return self.suite.user_tasks

    @cached_property
    def injections(self) -> dict[str, Any]:
        """The injection tasks by id."""
        return self.suite.injection_tasks

    def pairs(self) -> Iterator[Pair]:
        """Every user task with every injection task."""
        return (Pair(self, user, bad) for user in self.users for bad in self.injections)

    def environment(
        self, user: str, injection: str | None, worded: Callable[[str], str] = str
    ) -> Any:
        """A fresh world for a run; with the injected text at every place that the task reads.

        `generate_injections` would refuse: its own check of the suite always fails.
        """
        task = self.users[user]
        if injection is None:
            return task.init_environment(copied(self._plain))
        placed = self._attack.attack(task, self.injections[injection])
        told = {place: worded(text) for place, text in placed.items()}
        return task.init_environment(self._loaded(told))

    def _loaded(self, placed: Mapping[str, str]) -> Any:
        """As `load_and_inject_default_environment`, with the parser that is ten times as fast."""
        text = read_suite_file(self.name, "environment.yaml", self.suite.data_path)
        filled = text.format(**{**self.suite.get_injection_vector_defaults(), **placed})
        parsed = yaml.load(filled, yaml.CSafeLoader)
        return self.suite.environment_type.model_validate(parsed)

    def user_calls(self, user: str, world: Any) -> list[Call]:
        """What the user task's ground truth calls in this world."""
        return _calls(self.users[user].ground_truth(copied(world)))

    def injection_calls(self, injection: str, world: Any) -> list[Call]:
        """What the injection task's ground truth calls in the world as it is now.

        Eight tasks come without calls; those are written from their goals.
        """
        task = self.injections[injection]
        given = _calls(task.ground_truth(copied(world)))
        if given or (self.name, injection) not in MISSING:
            return given
        return [Call(*call) for call in MISSING[self.name, injection](task, copied(world))]


def _calls(given: Any) -> list[Call]:
    return [Call(call.function, dict(call.args)) for call in given]


@lru_cache
def suites(version: str) -> tuple[Suite, ...]:
    """The four suites of a version.

    Importing 1.1.2 registers its tasks with the first suites only, after the others were copied
    from them; so every copy gets them here.
    """
    loaded = get_suites(version)
    importlib.import_module("agentdojo.default_suites.v1_1_2")
    first = get_suites("v1")
    for name, suite in loaded.items():
        for own, fixed in (
            (suite._user_tasks, first[name]._user_tasks),
            (suite._injection_tasks, first[name]._injection_tasks),
        ):
            for task, versions in fixed.items():
                for since, made in versions.items():
                    own[task].setdefault(since, made)
    return tuple(Suite(name, suite) for name, suite in loaded.items())
