"""`make words`: collects every sentence of the cockpit, cards and results into the catalogues.

Sentences are `tr("...")` in the package, `t("...")` in the page's scripts, and the text of the
page's own markup; Babel finds them. `silas/language/de.json` is what a translator writes in: from
English to German, an empty text where the German is missing. `web/de.json` has what the page needs,
`silas/language/refusals.json` the sentences of refusals that have values in them.
"""

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path

from babel.messages.extract import extract

from scripts.refusals import refusal_sentences
from silas.audit.narrate import BEHIND, SENTENCES
from silas.audit.outcomes import OUTCOMES
from silas.audit.singular import ONE_FILE
from silas.sandbox.conformance.suite import CHECKS

ROOT = Path(__file__).resolve().parents[1]
CATALOGUE = ROOT / "silas" / "language" / "de.json"
PAGE = ROOT / "web" / "de.json"
REFUSALS = ROOT / "silas" / "language" / "refusals.json"
_FUNCTIONS = ("tr", "tr_later", "tr_many")
_WHERE = {"tr_many": (2, 3)}  # which arguments are sentences, where it is not the first
_MARKUP = ("index.html", "offline.html", "pair.html")


def main() -> int:
    """Write both catalogues anew; ends with 1 where a sentence has no German yet."""
    known: Mapping[str, str] = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    page = page_sentences()
    whole = {one: known.get(one, "") for one in sorted({*page, *package_sentences()})}
    _write(CATALOGUE, whole)
    _write(PAGE, {one: whole[one] for one in sorted(page)})
    _write(REFUSALS, refusals_with_values())
    missing = [one for one, german in whole.items() if not german]
    for one in missing:
        print(f"no German yet: {one}", file=sys.stderr)
    return 1 if missing else 0


def package_sentences() -> set[str]:
    """Every sentence that the package says in the owner's language."""
    files = sorted((ROOT / "silas").rglob("*.py"))
    marked = {one for file in files for one in _extracted("python", file, *_FUNCTIONS)}
    inside = {one for file in files for one in _in_f_strings(file)}
    raised = refusal_sentences()
    attacks = {check.promise for check in CHECKS}
    return {
        *marked,
        *inside,
        *raised,
        *attacks,
        *SENTENCES.values(),
        *BEHIND.values(),
        *OUTCOMES.values(),
        *ONE_FILE.values(),
    }


def _in_f_strings(file: Path) -> Iterator[str]:
    """What is said inside an f-string, which Babel reads from Python 3.12 on alone."""
    text = file.read_text(encoding="utf-8")
    if not re.search(r"\{tr\w*\(", text):
        return
    for string in ast.walk(ast.parse(text)):
        for call in ast.walk(string) if isinstance(string, ast.JoinedStr) else ():
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in _FUNCTIONS:
                said = (one.value for one in call.args if isinstance(one, ast.Constant))
                yield from (one for one in said if isinstance(one, str))


def refusals_with_values() -> list[str]:
    """What a refusal is searched among when it is told; one without values is looked up whole."""
    return [one for one in refusal_sentences() if "{" in one]


def page_sentences() -> set[str]:
    """Every sentence of the page: of its scripts and of its markup."""
    scripts = {
        one
        for file in sorted((ROOT / "web").glob("*.js"))
        for one in _extracted("javascript", file, "t")
    }
    return scripts | {one for name in _MARKUP for one in _texts(ROOT / "web" / name)}


def _extracted(kind: str, file: Path, *functions: str) -> Iterator[str]:
    called = rf"\b(?:{'|'.join(functions)})\s*\("
    if not re.search(called, file.read_text(encoding="utf-8")):
        return  # most files say nothing, and to find out by tokens takes long
    with file.open("rb") as stream:
        found = extract(
            kind,
            stream,
            keywords={one: _WHERE.get(one) for one in functions},
            options={"encoding": "utf-8", "parse_template_string": "true"},
        )
        for _line, said, _comments, _context in found:
            if isinstance(said, str):
                yield said
            else:
                yield from said


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "title", "pre"}:
            self._silent = tag
        self.found += [value for name, value in attrs if name == "aria-label" and value]

    def handle_endtag(self, tag: str) -> None:
        if tag == self._silent:
            self._silent = ""

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._silent:
            self.found.append(data.strip())


def _texts(page: Path) -> Iterable[str]:
    parser = _Texts()
    parser.feed(page.read_text(encoding="utf-8"))
    return (one for one in parser.found if any(map(str.isalpha, one)))


def _write(file: Path, sentences: Mapping[str, str] | list[str]) -> None:
    text = json.dumps(sentences, ensure_ascii=False, indent=0)
    file.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
