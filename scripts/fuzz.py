"""Feed each fuzz target of `tests/fuzz` at least N inputs and show the smallest one that breaks it.

A target is a module with `run(data: bytes) -> None`: what may be refused is refused inside with a
documented error, and any exception that comes out is a finding. So is an input that takes longer
than a second, three times of three. A target may offer `SEEDS`, inputs that mean something to it,
and `TOKENS`, words that its input is made of.

Input number I of a target follows from the seed, the target's name and I alone, so that any of them
can be made again: `make fuzz`, `make fuzz ONLY=audit_import N=5000 SEED=7`, and, as each finding
says, `python scripts/fuzz.py TARGET --seed S --only-input I`.
"""

import argparse
import importlib
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ROOT / "tests" / "fuzz"
PROCESSES = 2
SECONDS = 1.0
"""How long one input may take."""
LONGEST = 20_000
"""Bytes of an input, at most."""
_CHUNK = 500
_SHRINKING = 3000
"""Tries to make an input smaller."""
_COMMON = (
    *(bytes([n]) for n in (0, 9, 10, 13, 27, 34, 39, 44, 45, 47, 58, 91, 92, 93, 123, 125, 255)),
    b"../", b"\r\n", b"---\n", b"```sh\n", b"```\n", b"$(x)", b"%s", b"null", b"true", b"NaN",
    b"-1", b"1e999", b"9" * 40, b"9" * 5000, b"[" * 2000, b'{"":' * 500, b"\xef\xbb\xbf",
    b"\xed\xa0\x80", b"\xff\xfe", b"\\ud800", b"\xe2\x80\xae", b"\xe2\x80\x8b", b"\x1b[2J",
    b"&a [*a]", b"!!python/object:x", b"A" * 1000, b"ab" * 32,
)  # fmt: skip
"""What every parser has to expect."""

Run = Callable[[bytes], None]


class Target(NamedTuple):
    """One module of `tests/fuzz`."""

    name: str
    run: Run
    seeds: tuple[bytes, ...]
    tokens: tuple[bytes, ...]


class Finding(NamedTuple):
    """An input that broke a target, and where: inputs with one `place` are one finding."""

    number: int
    place: str
    words: str


class _TooSlow(BaseException):
    """Not an `Exception`, so that no target takes it for a refusal."""


def names(root: Path = TARGETS) -> list[str]:
    """Every target there is."""
    found = [p.stem for p in sorted(root.glob("*.py")) if not p.stem.startswith(("test_", "_"))]
    return [name for name in found if "\ndef run(" in (root / f"{name}.py").read_text("utf-8")]


def target(name: str) -> Target:
    """A target with its seeds; whatever a package of tests imports is found from the root."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    module = importlib.import_module(f"tests.fuzz.{name}")
    seeds = tuple(getattr(module, "SEEDS", ()))
    return Target(name, module.run, (*seeds, b""), (*_COMMON, *getattr(module, "TOKENS", ())))


def made(of: Target, seed: int, number: int) -> bytes:
    """Input `number`: a seed with one to eight changes; now and then tokens or noise alone."""
    rng = random.Random(f"{seed}:{of.name}:{number}")
    if number < len(of.seeds):
        return of.seeds[number]  # each as it is, once
    kind = rng.random()
    if kind < 0.05:
        return rng.randbytes(rng.randrange(200))
    if kind < 0.15:
        return b"".join(rng.choices(of.tokens, k=rng.randrange(1, 30)))[:LONGEST]
    data = bytearray(rng.choice(of.seeds))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4, 8))):
        rng.choice(_CHANGES)(rng, data, of)
    return bytes(data[:LONGEST])


def _flip(rng: random.Random, data: bytearray, of: Target) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _byte(rng: random.Random, data: bytearray, of: Target) -> None:
    if data:
        data[rng.randrange(len(data))] = rng.randrange(256)


def _insert(rng: random.Random, data: bytearray, of: Target) -> None:
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.randbytes(rng.randrange(1, 9))


def _delete(rng: random.Random, data: bytearray, of: Target) -> None:
    place = rng.randrange(len(data) + 1)
    del data[place : place + rng.choice((1, 1, 2, 8, 64, 512))]


def _token(rng: random.Random, data: bytearray, of: Target) -> None:
    place = rng.randrange(len(data) + 1)
    data[place : place + rng.choice((0, 0, 1, 4))] = rng.choice(of.tokens)


def _splice(rng: random.Random, data: bytearray, of: Target) -> None:
    other = rng.choice(of.seeds)
    start = rng.randrange(len(other) + 1)
    piece = other[start : start + rng.randrange(1, 200)]
    place = rng.randrange(len(data) + 1)
    data[place : place + rng.choice((0, len(piece)))] = piece


def _repeat(rng: random.Random, data: bytearray, of: Target) -> None:
    start = rng.randrange(len(data) + 1)
    piece = data[start : start + rng.randrange(1, 100)]
    data[start:start] = piece * rng.choice((1, 1, 2, 50))


_CHANGES = (_flip, _byte, _insert, _delete, _token, _token, _splice, _repeat)


@contextmanager
def _bounded(seconds: float) -> Generator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def tried(run: Run, data: bytes, seconds: float = SECONDS) -> tuple[str, str] | None:
    """Where and how `run` breaks on `data`; None when it does not.

    An input is too slow when it is so three times, since a busy machine makes anything slow once.
    """
    for _ in range(3):
        begun = time.monotonic()
        try:
            with _bounded(seconds):
                run(data)
        except _TooSlow:
            continue
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}"
            return place, f"{place}: {str(error)[:300]!r}"
        if time.monotonic() - begun <= seconds:
            return None
    return "too slow", f"too slow: more than {seconds} s, three times"


def shrunk(run: Run, data: bytes, place: str, seconds: float = SECONDS) -> bytes:
    """The smallest input this finds that breaks `run` in the same place: pieces left out, halving
    their size, then every byte that can be made a zero."""
    tries = 0

    def same(candidate: bytes) -> bool:
        nonlocal tries
        tries += 1
        found = tried(run, candidate, seconds)
        return found is not None and found[0] == place

    size = max(1, len(data) // 2)
    while tries < _SHRINKING:
        before, at = data, 0
        while at < len(data) and tries < _SHRINKING:
            candidate = data[:at] + data[at + size :]
            if same(candidate):
                data = candidate
            else:
                at += size
        if size == 1 and data == before:
            break
        size = max(1, size // 2)
    for at in range(len(data)):
        if tries >= _SHRINKING:
            break
        candidate = data[:at] + b"0" + data[at + 1 :]
        if data[at : at + 1] != b"0" and same(candidate):
            data = candidate
    return data


def _chunk(name: str, seed: int, numbers: range) -> list[Finding]:
    """What some inputs find; runs in a process of its own."""
    of, found = target(name), dict[str, Finding]()
    for number in numbers:
        broken = tried(of.run, made(of, seed, number))
        if broken is not None and broken[0] not in found:
            found[broken[0]] = Finding(number, *broken)
    return list(found.values())


def findings(name: str, seed: int, count: int) -> Iterator[Finding]:
    """What `count` inputs find, one a place; progress on the error stream."""
    chunks = [range(at, min(at + _CHUNK, count)) for at in range(0, count, _CHUNK)]
    begun, done, seen = time.monotonic(), 0, set[str]()
    with ProcessPoolExecutor(PROCESSES) as pool:
        running = pool.map(_chunk, [name] * len(chunks), [seed] * len(chunks), chunks)
        for chunk, found in zip(chunks, _until_it_dies(running), strict=False):
            done += len(chunk)
            for finding in found:
                if finding.place not in seen:
                    seen.add(finding.place)
                    yield finding
            if done % 20_000 == 0:
                speed = done / (time.monotonic() - begun)
                print(f"  {name}: {done} inputs, {speed:.0f} a second", file=sys.stderr, flush=True)
    speed = done / (time.monotonic() - begun)
    print(f"{name}: {done} inputs, {speed:.0f} a second, seed {seed}", flush=True)
    if done < count:
        yield Finding(done, "died", f"the process died in the {_CHUNK} inputs from {done}")


def _until_it_dies(running: Iterator[list[Finding]]) -> Iterator[list[Finding]]:
    try:
        yield from running
    except BrokenProcessPool:
        return


def told(of: Target, seed: int, finding: Finding) -> str:
    """A finding in words: the smallest input, and how to make it again."""
    again = f"python scripts/fuzz.py {of.name} --seed {seed} --only-input {finding.number}"
    if finding.place == "died":
        return f"FOUND  {of.name}: {finding.words}"
    small = shrunk(of.run, made(of, seed, finding.number), finding.place)
    return f"FOUND  {of.name}: {finding.words}\n  input: {small!r}\n  again: {again}"


def once(of: Target, seed: int, number: int) -> int:
    """One input by itself, with its traceback."""
    data = made(of, seed, number)
    print(repr(data))
    of.run(data)
    print("Nothing was found in this input.")
    return 0


def chosen(only: str, root: Path = TARGETS) -> Sequence[str]:
    """The targets whose name has `only` in it."""
    return [name for name in names(root) if only in name]


def main() -> int:
    """Run every target; 1 when anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="part of the name of a target")
    parser.add_argument("--count", type=int, default=1_000_000, help="inputs for each target")
    parser.add_argument("--seed", type=int, default=1, help="what the inputs follow from")
    parser.add_argument("--only-input", type=int, help="run this one input with its traceback")
    args = parser.parse_args()
    selected = chosen(args.only)
    if not selected:
        print(f"There is no such target; there are {', '.join(names())}.")
        return 1
    if args.only_input is not None:
        return once(target(selected[0]), args.seed, args.only_input)
    found = 0
    for name in selected:
        for finding in findings(name, args.seed, args.count):
            found += 1
            print(told(target(name), args.seed, finding), flush=True)
    print(f"{len(selected)} targets, {args.count} inputs each: {found} findings.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
