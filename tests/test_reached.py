"""Which tests an edit can make a difference to: by the lines that they run, and what they read."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from scripts.edited import noticing
from scripts.reached import OPTIONS, RECORD, Reached, recorded
from tests.support.waits import SECONDS

ROOT = Path(__file__).parent.parent
PROGRAM = textwrap.dedent('''
    """A program."""

    import sys

    LIMIT = 3


    def first(x):
        """Words."""
        if x > LIMIT:
            return "many"
        elif x:
            return "some {}".format(
                x,
            )
        return "none"


    def second(xs):
        try:
            return [x + 1 for x in xs]
        except TypeError:
            return LIMIT


    def third(x):
        return sys.maxsize + x


    def main():
        print(first(1))


    if __name__ == "__main__":
        main()
''').lstrip()
USER = "from silas.program import LIMIT\n\n\ndef far(x):\n    return x > LIMIT\n"
TESTS = textwrap.dedent('''
    import signal, subprocess, sys
    from pathlib import Path
    import pytest
    from silas.program import first, second, third
    from silas.user import far

    SHOW = [sys.executable, "-m", "silas.program"]
    STOP = "import silas.program, os, signal; os.kill(os.getpid(), signal.SIGKILL)"

    def test_many():
        first(9)

    @pytest.mark.parametrize("x", [1, 2])
    def test_some(x):
        first(x)

    def test_second():
        second([1])

    def test_caught():
        second(1)

    def test_third():
        third(1)

    def test_far():
        far(1)

    def test_child():
        assert subprocess.run(SHOW, env={}, capture_output=True).stdout

    def test_killed():
        assert subprocess.run([sys.executable, "-c", STOP], env={}).returncode < 0

    def test_page():
        Path("web/page.js").read_text()

    def test_red():
        assert second([]) == 1
''')  # fmt: skip


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small tree whose tests were watched, in an environment of its own."""
    root = tmp_path_factory.mktemp("tree")
    for folder in ("silas", "web", "tests", RECORD):
        (root / folder).mkdir()
    (root / RECORD / "test").touch()
    (root / "silas" / "__init__.py").touch()
    (root / "silas" / "program.py").write_text(PROGRAM)
    (root / "silas" / "user.py").write_text(USER)
    (root / "web" / "page.js").write_text("a")
    (root / "tests" / "test_it.py").write_text(TESTS)
    venv = [sys.executable, "-m", "venv", "--without-pip", "--symlinks", str(root / ".venv")]
    subprocess.run(venv, check=True, timeout=SECONDS)
    (packages,) = (root / ".venv").glob("lib/*/site-packages")
    (ours,) = Path(sys.prefix).glob("lib/*/site-packages")
    lines = [str(ours), str(ROOT / "scripts"), str(root)]
    (packages / "reached.pth").write_text(
        "\n".join([*lines, f"import reached; reached.start({str(root)!r})\n"])
    )
    python = str(root / ".venv" / "bin" / "python")
    words = [
        "-W",
        "error::pytest.PytestAssertRewriteWarning",
        *OPTIONS,
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
    ]
    done = subprocess.run(
        [python, "-m", "pytest", *words, "tests/test_it.py"],
        cwd=root, capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return root


@pytest.fixture(scope="module")
def reached(watched: Path) -> Reached:
    return recorded([watched])


SURE = {"killed", "red"}
"""Tests of which nothing is known but that they may come by anything."""
EDITS: dict[str, tuple[str, str, str]] = {
    "a value": ('"many"', '"few"', "many"),
    "a condition": ("if x > LIMIT", "if x >= LIMIT", "many some child"),
    "an elif": ("elif x:", "elif x > 1:", "some child"),
    "a line of several": ("    x,\n", "    x + 1,\n", "some child"),
    "a line more": ('    return "many"', '    x = 2\n        return "many"', "many some child"),
    "a line more at the beginning": ("    return sys", "    x = 2\n    return sys", "third"),
    "what is caught": ("except TypeError:", "except KeyError:", "caught"),
    "a constant": ("LIMIT = 3", "LIMIT = 2", "many some child second caught third far"),
    "words": ('"""Words."""', '"""Other words."""', ""),
    "what a child alone runs": ("print(first(1))", "print(first(2))", "child"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_tried_on_the_tests_that_come_by_it(
    name: str, watched: Path, reached: Reached
) -> None:
    before, after, expected = EDITS[name]
    assert PROGRAM.count(before) == 1
    edited = PROGRAM.replace(before, after)
    found = noticing(watched, "silas/program.py", PROGRAM, edited, reached)
    names = {test.removeprefix("tests/test_it.py::test_") for test in found}
    assert names - SURE == set(expected.split())
    assert names >= SURE


def test_what_is_read_and_not_run_counts_for_its_readers(watched: Path, reached: Reached) -> None:
    found = noticing(watched, "web/page.js", "a", "b", reached)
    assert found == {f"tests/test_it.py::test_{name}" for name in {*SURE, "page"}}


def test_what_fails_while_it_is_watched_is_told(reached: Reached) -> None:
    assert reached.red == {"tests/test_it.py::test_red"}
