"""The quick tier: the tests that start no process and take a moment (`make quick`).

What is too slow for it stands in `tests/slow.txt`, a test function or a whole file a line; it is
learnt by measuring (`make slow-tests`), never guessed. What is not listed and took long is told at
the end of a run; it fails nothing, because how long a test takes depends on what else runs.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

SLOW: Final = Path("tests/slow.txt")
MOST_SECONDS: Final = 0.25  # of a test function with all its parameters
TOLD_SECONDS: Final = 5.0
_STARTS: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"})


class Cost(NamedTuple):
    """What a test function took, and whether it started a process.

    Seconds by the clock: what runs in a browser, or in a process that another one forked, is none
    of this one's processor time. So it is learnt on an idle machine.
    """

    seconds: float
    processes: bool


class Processes:
    """Counts the processes that this one starts."""

    def __init__(self) -> None:
        self.started = 0
        sys.addaudithook(self._seen)

    def _seen(self, event: str, _: tuple[Any, ...]) -> None:
        if event in _STARTS:
            self.started += 1


class Quick:
    """The plugin of `--quick`: leaves out what is slow, and tells what else took long."""

    def __init__(self, slow: frozenset[str], root: Path) -> None:
        self._slow, self._root = slow, root
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if _name(collection_path, self._root) in self._slow else None

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        left_out = [item for item in items if function_of(item.nodeid) in self._slow]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if function_of(item.nodeid) not in self._slow]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[function_of(report.nodeid)] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        long = sorted(name for name, took in self._seconds.items() if took > TOLD_SECONDS)
        for name in long:
            terminalreporter.write_line(
                f"{name} took {self._seconds[name]:.1f} s; `make slow-tests ONLY={name}` lists it."
            )


class Learner:
    """The plugin of `--learn-slow`: measures each test that runs and writes what is slow."""

    def __init__(self, path: Path) -> None:
        self._path, self._processes = path, Processes()
        self._costs: dict[str, list[Cost]] = defaultdict(list)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        started, began = self._processes.started, time.perf_counter()
        result = yield
        cost = Cost(time.perf_counter() - began, self._processes.started > started)
        self._costs[function_of(item.nodeid)].append(cost)
        return result

    def pytest_sessionfinish(self) -> None:
        before = slow_in(self._path) if self._path.exists() else frozenset[str]()
        lines = learnt(before, {name: summed(costs) for name, costs in self._costs.items()})
        self._path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def function_of(nodeid: str) -> str:
    """A test without its parameters, as the list names it."""
    return nodeid.partition("[")[0]


def summed(costs: Iterable[Cost]) -> Cost:
    """What all the parameters of a test took."""
    each = list(costs)
    return Cost(sum(one.seconds for one in each), any(one.processes for one in each))


def learnt(before: frozenset[str], costs: Mapping[str, Cost]) -> list[str]:
    """The list after a run: measured files anew, the others as before; a file all slow is one line.

    Args:
        before: What the list held.
        costs: Of each test function that ran, by its name in the list.
    """
    files = defaultdict[str, dict[str, bool]](dict)
    for name, cost in costs.items():
        slow = cost.processes or cost.seconds > MOST_SECONDS
        files[name.partition("::")[0]][name] = slow
    kept = {line for line in before if line.partition("::")[0] not in files}
    for file, tests in files.items():
        kept |= {file} if all(tests.values()) else {name for name, slow in tests.items() if slow}
    return sorted(kept)


def slow_in(path: Path) -> frozenset[str]:
    """The lines of the list."""
    return frozenset(path.read_text(encoding="utf-8").split())


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
