"""Every benchmark runs and finds its own results correct; how fast is never asserted here."""

from importlib import import_module

import pytest

from benchmarks.__main__ import NAMES

SMALL = {
    "audit_chain": {"rounds": 1, "entries": 1_000},
    "workspace": {"rounds": 2, "files": 100},
    "scrub": {"rounds": 1, "characters": 100_000},
    "emergency_stop": {"rounds": 1, "idle_seconds": 0.1},
    "startup": {"rounds": 1, "opened": 1},
    "cockpit": {"connections": 5, "messages": 8},
    "flood": {"sockets": 5, "seconds": 0.1},
    "memory_scale": {"items": 200, "questions": 20},
    "context": {"turns": 100, "scopes": 2},
    "turn": {"rounds": 2, "turns": 20, "scopes": 1, "items": 10, "compared": 4},
    "idle": {"rounds": 0.1},
    "long_history": {"messages": 250, "back": 1, "speed": 80_000},
}


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_measures_and_its_results_hold(name: str) -> None:
    figures = import_module(f"benchmarks.{name}").measure(**SMALL.get(name, {"rounds": 2}))
    assert figures
    assert all(value > 0 for name, value in figures.items() if name != "executions")
    assert not figures.get("executions")  # what ran after a change: none may
