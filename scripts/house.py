"""Measure the house: the figures of `docs/layout.md`, one `| what | figure |` row each.

`python scripts/house.py` measures this tree, `python scripts/house.py DIR` another checkout.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_MOST_FILES = 30
_LARGE = {"stream", "channels/web"}
"""Rooms that are as large as the specification's turn and protocol are."""
_PAGES = ("layout", "decisions", "security")
COMMITS = 200
"""How many of the newest commits are looked at."""
_DRIVER = re.compile(r"\.driver\.execute(?:many)?\(")
_DIALECT = "sqlite_statements.py"
_CONSTANT = re.compile(r"^[A-Z]\w* = ", re.MULTILINE)


class Widest(NamedTuple):
    """The class that is made from the most things, and how many these are."""

    name: str
    parts: int


def _classes(folder: Path) -> Iterator[tuple[Path, ast.ClassDef]]:
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from ((path, node) for node in tree.body if isinstance(node, ast.ClassDef))


def _parts(node: ast.ClassDef) -> int:
    """Parameters of the constructor, or fields where the class declares them."""
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            return len(member.args.args) - 1 + len(member.args.kwonlyargs)
    return sum(isinstance(member, ast.AnnAssign) for member in node.body)


def doubled(package: Path) -> list[str]:
    """Public names of classes that more than one file of the package defines."""
    counts = Counter(node.name for _, node in _classes(package) if not node.name.startswith("_"))
    return sorted(name for name, times in counts.items() if times > 1)


def widest(folder: Path) -> Widest:
    """Of the classes below a folder the one that is made from the most things."""
    return max((Widest(n.name, _parts(n)) for _, n in _classes(folder)), key=lambda one: one.parts)


def rooms_of(paths: list[str]) -> set[str]:
    """The rooms of the package that a commit's paths lie in."""
    return {path.split("/")[1] for path in paths if path.startswith("silas/")}


def across(root: Path) -> float:
    """The share of the newest commits to the package that touch three rooms or more."""
    command = ["git", "log", f"-{COMMITS}", "--no-merges", "--name-only", "--format=%x00"]
    said = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    touched = [rooms_of(one.split()) for one in said.split("\0")]
    inside = [rooms for rooms in touched if rooms]
    return sum(len(rooms) >= 3 for rooms in inside) / max(1, len(inside))


def full_folders(package: Path) -> list[str]:
    """Folders with more files than a folder should have, beside the two that have a reason."""
    folders = {path.parent for path in package.rglob("*.py")} - {package / one for one in _LARGE}
    count = {one: sum(1 for _ in one.glob("*.py")) for one in folders}
    return sorted(one.name for one, files in count.items() if files > _MOST_FILES)


def figures(root: Path) -> dict[str, str]:
    """What is measured without running anything, in the order of the page."""
    package = root / "silas"
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    wiring = [text for path, text in texts.items() if "wiring" in path.parts]
    behaviour = len(list(_classes(package / "wiring")))
    raw = [len(_DRIVER.findall(text)) for path, text in texts.items() if path.name != "db.py"]
    dialect = [len(_CONSTANT.findall(t)) for path, t in texts.items() if path.name == _DIALECT]
    most = widest(package / "stream")
    lines = sum(text.count("\n") for text in texts.values())
    pages = [(root / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in _PAGES]
    return {
        "files and lines of the package": f"{len(texts)} files, {lines:,} lines",
        "longest file": f"{max(text.count(chr(10)) for text in texts.values())} lines",
        "`silas/wiring`": f"{sum(t.count(chr(10)) for t in wiring):,} lines, {behaviour} classes",
        "folders of over 30 files, `stream` and `channels/web` not counted": str(
            len(full_folders(package))
        ),
        "most that a class of `silas/stream` is made from": f"{most.parts} (`{most.name}`)",
        "public class names in more than one file": str(len(doubled(package))),
        "statements past `Tx.run`": f"{sum(raw)} in {sum(map(bool, raw))} files",
        "statements that only SQLite understands": f"{sum(dialect)} in {len(dialect)} files",
        "lines of this page, of decisions and of security": ", ".join(
            str(page.count("\n")) for page in pages
        ),
    }


def main(arguments: list[str]) -> int:
    """Print the rows."""
    root = Path(arguments[0]).resolve() if arguments else ROOT
    history = {
        f"of the newest {COMMITS} commits, those in three rooms or more": f"{across(root):.0%}"
    }
    for what, figure in {**figures(root), **history}.items():
        print(f"| {what} | {figure} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
