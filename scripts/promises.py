"""The promises that `docs/security.md` sums up, and the edits that break each of them.

`python scripts/promises.py WORD...` prints the promises that have all these words in them, with
the file that keeps each and the test that fails without it.
"""

import fnmatch
import sys
import tomllib
from pathlib import Path

from pydantic import BaseModel

ROOT = Path(__file__).resolve().parent.parent


class Promise(BaseModel, frozen=True, extra="forbid"):
    """One sentence that Silas keeps.

    Attributes:
        says: The sentence; it can be understood by itself.
        code: The file that keeps it.
        test: The test that fails without it, `path::name`.
        area: The name of its file in `tests/promises`, without its ending.
    """

    says: str
    code: str
    test: str
    area: str


class Edit(BaseModel, frozen=True, extra="forbid"):
    """One change of a program.

    Attributes:
        file: The file that is edited.
        find: Text that occurs in it exactly once.
        replace: What takes its place.
    """

    file: str
    find: str
    replace: str

    def applied(self, text: str) -> str:
        """The edited text. Raises `ValueError` unless `find` occurs exactly once."""
        if text.count(self.find) != 1:
            raise ValueError(f"{self.file}: the text to break occurs {text.count(self.find)} times")
        return text.replace(self.find, self.replace)


class Mutant(BaseModel, frozen=True, extra="forbid"):
    """What breaks one promise: one edit, or one for each place that keeps it by itself.

    Attributes:
        test: The promise's named test, as `tests/promises` has it.
        edits: What is edited, each in the text that the ones before it left.
        also: Named tests of other promises that rest on the same lines; `*` stands for anything.
        unsafe: It opens the sandbox, so the tests that attack it from inside are not run: an attack
            that works would work on this machine.
        area: The name of the table, without its ending.
    """

    test: str
    edits: tuple[Edit, ...]
    also: tuple[str, ...] = ()
    unsafe: bool = False
    area: str = ""

    def expects(self, test: str) -> bool:
        """Whether a test may be red besides its own."""
        return any(fnmatch.fnmatchcase(test, pattern) for pattern in (self.test, *self.also))


def listed(root: Path = ROOT) -> tuple[Promise, ...]:
    """All promises, area by area."""
    return tuple(
        Promise.model_validate({**entry, "area": path.stem})
        for path in sorted((root / "tests" / "promises").glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["promise"]
    )


def promises(root: Path = ROOT) -> dict[str, str]:
    """The named test of every promise, and the file that keeps it."""
    return {one.test: one.code for one in listed(root)}


def mutants(root: Path = ROOT) -> tuple[Mutant, ...]:
    """All of them, table by table. In a table, what stands in `more` is broken besides."""
    return tuple(
        _mutant({**entry, "area": path.stem})
        for path in sorted((root / "tests" / "mutants").glob("*.toml"))
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    )


def _mutant(entry: dict[str, object]) -> Mutant:
    first = {name: entry.pop(name) for name in ("file", "find", "replace")}
    more = entry.pop("more", [])
    assert isinstance(more, list)
    return Mutant.model_validate({**entry, "edits": (first, *more)})


def main(words: list[str]) -> int:
    """Print the promises that have every word in them; 1 where there is none."""
    wanted = [word.casefold() for word in words]
    found = [
        one
        for one in listed()
        if all(w in f"{one.area} {one.says} {one.code} {one.test}".casefold() for w in wanted)
    ]
    for one in found:
        print(f"{one.area}: {one.says}\n    {one.code}\n    {one.test}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
