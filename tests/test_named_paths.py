"""Every path of this repository that a document names exists."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    page
    for page in [*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("*.md"))]
    if page.name != "CHANGELOG.md"  # tells of what was
]
TOPS = ("silas", "tests", "scripts", "docs", "benchmarks", "config", "plans", "web", "workers")
NAMED = re.compile(rf"(?<![\w./:~<$-])(?:{'|'.join(TOPS)}|\.github)/[\w./*<-]*[\w/*<]")
ELSEWHERE = {
    "docs/commands.md": {"tests/run.sh"},  # of a project that somebody works on
    "docs/configuration.md": {"silas/config.yaml"},  # in the XDG configuration directory
    "docs/protocol.md": {"silas/decision/v1", "silas/command/v1"},  # domains of signatures
    "docs/security.md": {".github/workflows"},  # of a project that somebody works on
}
"""Names that only look like paths of this repository."""

MADE = re.compile(r"^New, `([^`]+)`", re.MULTILINE)
"""What a reader of the page makes."""


def lost(text: str, near: Path) -> Iterator[str]:
    """The paths that a text names and that neither the repository nor its folder has.

    Of `silas/<room>/models.py` the part before the placeholder is looked for; `*` is anything.
    """
    for name in NAMED.findall(text):
        plain = name.partition("<")[0]
        if "*" in plain:
            found = any(ROOT.glob(plain))
        else:
            found = (ROOT / plain).exists() or (near / plain).exists()
        if not found:
            yield name


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_each_path_that_a_document_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    excused = ELSEWHERE.get(str(page.relative_to(ROOT)), set()) | set(MADE.findall(text))
    gone = set(lost(text, page.parent))
    assert gone - excused == set()
    assert excused - gone == set(), "an excuse that nothing needs any more"


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("`silas/db.py` and `docs/`", []),
        ("see silas/nowhere.py.", ["silas/nowhere.py"]),
        ("`head -qn 1 silas/memory/*.py`", []),
        ("`silas/memory/*.rs`", ["silas/memory/*.rs"]),
        ("`silas/<room>/models.py`", []),
        ("`tests/lost/<name>.py`", ["tests/lost/<name"]),
        ("https://example.com/docs/a.md and ~/plans/b.md", []),
    ],
)
def test_a_path_that_is_gone_is_found(text: str, gone: list[str]) -> None:
    assert list(lost(text, ROOT)) == gone
