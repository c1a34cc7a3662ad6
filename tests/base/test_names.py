"""A name that is searched for leads to one thing."""

import ast
from collections import Counter, defaultdict
from pathlib import Path

SILAS = Path(__file__).parents[2] / "silas"


def test_no_public_class_name_stands_twice_in_the_package() -> None:
    places = defaultdict[str, list[str]](list)
    for path in sorted(SILAS.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(SILAS).as_posix())
    assert len(places) > 1000
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_no_folder_of_the_package_has_more_than_thirty_files() -> None:
    files = Counter(path.parent.relative_to(SILAS).as_posix() for path in SILAS.rglob("*.py"))
    exempt = {"stream", "channels/web"}
    assert exempt <= set(files)
    assert {name: n for name, n in files.items() if n > 30 and name not in exempt} == {}
