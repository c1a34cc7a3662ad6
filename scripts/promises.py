"""The promises of `docs/security.md`, and the edits that break each of them."""

import fnmatch
import re
import tomllib
from pathlib import Path

from pydantic import BaseModel

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", re.MULTILINE)


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
        test: The promise's named test, as `docs/security.md` has it.
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


def promises(root: Path = ROOT) -> dict[str, str]:
    """The named test of every promise, and the file that keeps it."""
    page = (root / "docs" / "security.md").read_text(encoding="utf-8")
    return {test: code for code, test in _ROW.findall(page)}


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
