"""The glossary names few things, and only such as the code knows."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"- \*\*([a-z ]+)\*\*: \S.{18,}\.")


def test_the_glossary_has_at_most_forty_words_each_used_in_the_code() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("- ")]
    found = [LINE.fullmatch(line) for line in lines]
    assert [line for line, match in zip(lines, found, strict=True) if match is None] == []
    words = [match[1] for match in found if match]
    assert 20 <= len(words) <= 40
    assert words == sorted(set(words))
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "silas").rglob("*.py"))
    names = set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r" \1", code).lower()))
    assert [word for word in words if word not in names] == []
