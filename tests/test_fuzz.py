"""The fuzzer itself: it finds what is there, makes it small, and makes every input again."""

from pathlib import Path

import pytest

from scripts.fuzz import LONGEST, Target, chosen, made, names, shrunk, target, tried


def fails_on_a_brace_before_a_quote(data: bytes) -> None:
    if b"{" in data and b'"' in data[data.index(b"{") :]:
        raise KeyError("found")


def waits(data: bytes) -> None:
    try:
        while data:
            pass
    except Exception:
        return


BROKEN = Target("broken", fails_on_a_brace_before_a_quote, (b'{"a": 1}', b""), (b"{", b'"'))


def test_every_module_with_a_run_is_a_target_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("\ndef run(data: bytes) -> None: ...\n")
    (tmp_path / "support.py").write_text("X = 1\n")
    (tmp_path / "test_one.py").write_text("\ndef run(data: bytes) -> None: ...\n")
    assert names(tmp_path) == ["one"]
    assert chosen("ne", tmp_path) == ["one"]
    assert {"audit_import", "canonical_bytes"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_target_takes_its_seeds_and_a_few_inputs(name: str) -> None:
    of = target(name)
    numbers = range(len(of.seeds) + 40)
    assert [n for n in numbers if tried(of.run, made(of, 1, n), seconds=5.0)] == []


def test_an_input_follows_from_seed_and_number_alone() -> None:
    inputs = [made(BROKEN, 7, n) for n in range(300)]
    assert [made(BROKEN, 7, n) for n in reversed(range(300))] == inputs[::-1]
    assert [made(BROKEN, 8, n) for n in range(300)] != inputs
    assert len(set(inputs)) > 150
    assert all(len(data) <= LONGEST for data in inputs)


def test_a_fault_is_found_and_the_smallest_input_is_shown() -> None:
    found = {n: f for n in range(200) if (f := tried(BROKEN.run, made(BROKEN, 1, n)))}
    number, (place, words) = next(iter(found.items()))
    assert "KeyError" in place
    assert "found" in words
    assert shrunk(BROKEN.run, b"xx{aa" + made(BROKEN, 1, number) + b'"', place) == b'{"'


def test_an_input_that_takes_too_long_is_found_though_the_target_swallows_errors() -> None:
    assert tried(waits, b"", seconds=0.05) is None
    broken = tried(waits, b"x", seconds=0.05)
    assert broken is not None
    assert broken[0] == "too slow"
