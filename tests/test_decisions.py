"""docs/decisions.md has what is cited; `tests/test_docs.py` holds its form."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
KNOWN = set(re.findall(r"^(?:\*\*(?=D)|\| (?=[ABC]))([A-D]\d*)(?:\. | \|)", PAGE, re.MULTILINE))
CITED = re.compile(r"(?<![\w+.\"])([ABD][1-9]\d{0,2})(?![\w\"-])")
PLACES = ("silas", "tests", "docs", "scripts", "benchmarks", "config", "plans", "workers", "web")
KINDS = {".py", ".md", ".sql", ".toml", ".yaml", ".js", ".sh"}


def _citing() -> Iterator[Path]:
    """Everything that people write and that may cite a decision, besides what happened before."""
    for place in PLACES:
        yield from (path for path in (ROOT / place).rglob("*") if path.suffix in KINDS)
    yield from (path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md")


def citations(text: str) -> list[str]:
    """The decisions that a text cites, such as `(spec 5.1.3, B18)` and `decision D41`."""
    lines = (line for line in text.splitlines() if "noqa: B" not in line)
    return CITED.findall("\n".join(lines))


def test_every_citation_leads_to_a_decision() -> None:
    cited = {
        (name, str(path.relative_to(ROOT)))
        for path in _citing()
        for name in citations(path.read_text(encoding="utf-8"))
    }
    assert len({name for name, _ in cited}) >= 50
    lost = sorted(f"{path}: {name}" for name, path in cited if name not in KNOWN | {"A0"})
    assert lost == [], "cite a decision that docs/decisions.md has, or say the reason there"


@pytest.mark.parametrize("text", ["see {}.", "(spec 5.1, {})", "decisions B2, {})", "{}:"])
def test_a_citation_is_found_in_each_form(text: str) -> None:
    assert citations(text.format("D999"))[-1] == "D999"


@pytest.mark.parametrize("text", ["U+D800", 'call("D999")', "A20-LANDLOCK", "x = 1  # noqa: B008"])
def test_what_cites_nothing_is_no_citation(text: str) -> None:
    assert citations(text) == []
