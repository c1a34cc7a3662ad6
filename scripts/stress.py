"""Runs the test suite again and again beside busy processes: a test that depends on speed goes red.

`make stress` runs it three times beside four busy processes. `make stress RUNS=1 BUSY=8
ONLY=tests/work` takes other numbers and a part of the suite. It prints what failed, names every
test that failed in any run and how often, and ends with 1 if there was one.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
_FAILURES = "= FAILURES ="  # where pytest's report of them begins
_NO_TESTS = 5  # pytest's exit code


def main(arguments: Sequence[str]) -> int:
    asked = _parser().parse_args(arguments)
    failed: Counter[str] = Counter()
    with busy(asked.busy):
        for number in range(1, asked.runs + 1):
            code, names = run(asked.only)
            print(f"run {number} of {asked.runs}: {len(names)} failed (exit {code})", flush=True)
            failed.update(names or ([f"the run itself, exit {code}"] if code else []))
    for name, times in failed.most_common():
        print(f"{times} of {asked.runs}: {name}")
    if not failed:
        print(f"No test failed in {asked.runs} runs beside {asked.busy} busy processes.")
    return 1 if failed else 0


def run(only: Sequence[str]) -> tuple[int, set[str]]:
    """One run: pytest's exit code, and the tests that failed."""
    command = [sys.executable, "-m", "pytest", "-n", "2", "-rfE", *only]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    _, failures, told = done.stdout.partition(_FAILURES)
    print(failures, told, sep="", end="", flush=True)
    if done.returncode == _NO_TESTS:
        print("No test was found; name a file or folder of tests/ in ONLY.")
    return done.returncode, set(_FAILED.findall(done.stdout))


@contextmanager
def busy(many: int) -> Generator[None]:
    """So many processes that do nothing but use a core, until the end."""
    loop = [sys.executable, "-I", "-c", "while True: pass"]
    beside = [subprocess.Popen(loop) for _ in range(many)]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make stress", description=__doc__)
    parser.add_argument("--runs", type=_positive, default=3)
    parser.add_argument("--busy", type=int, default=4)
    parser.add_argument("only", nargs="*", help="files or folders of tests/; all by default")
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of runs; give 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
