"""What is served of the page: its scripts and styles without comments, and the same programs."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page
from starlette.requests import Request

from scripts.page_types import node_command, run_words, typescript
from silas.channels.web.page_files import face_dir
from silas.channels.web.static import StaticDirectory
from tests.web.support.chromium import in_a_browser

FACE = face_dir()
PROGRAMS = sorted(path.name for path in FACE.iterdir() if path.suffix in {".js", ".css"})
SCRIPTS = [name for name in PROGRAMS if name.endswith(".js")]
STYLES = [name for name in PROGRAMS if name.endswith(".css")]

_PARSED = """
const ts = require(process.argv[1]);
const of = (text) => {
  const file = ts.createSourceFile("one.js", text, ts.ScriptTarget.Latest, true);
  const read = (node) => {
    const inner = [];
    node.forEachChild((child) => { inner.push(read(child)); });
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file, false));
    const flags = ts.isVariableDeclarationList(node) ? node.flags & ts.NodeFlags.BlockScoped : 0;
    return [ts.SyntaxKind[node.kind], line, flags, inner.length ? inner : node.getText(file)];
  };
  return [file.parseDiagnostics.length, read(file)];
};
const pairs = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(Object.fromEntries(Object.entries(pairs)
  .map(([name, [one, other]]) => [name, [of(one), of(other)]]))));
"""
"""Each program as TypeScript parses it: its nodes, their lines, and the text of each leaf."""

_RULES = """([one, other]) => [one, other].map((text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return [...sheet.cssRules].map((rule) => rule.cssText);
})"""


@cache
def _directory() -> StaticDirectory:
    return StaticDirectory(FACE)


def _served(name: str) -> str:
    request = Request({"type": "http", "method": "GET", "headers": []})
    return bytes(_directory().answer(name, request).body).decode()


def _kept(name: str) -> str:
    return (FACE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_line_that_is_only_a_comment_or_indented_is_served(name: str) -> None:
    served = _served(name)
    assert re.findall(r"^(?:\s*//.*|\s*/\*.*|[ \t]+\S.*)$", served, re.M) == []
    assert served.count("\n") == _kept(name).count("\n")
    assert len(served) < len(_kept(name))


def test_every_script_is_the_same_program_line_by_line_as_its_file() -> None:
    compiler = (
        typescript(Path(sys.prefix) / "typescript", run_words).parents[1] / "lib/typescript.js"
    )
    pairs = {name: (_kept(name), _served(name)) for name in SCRIPTS}
    pairs["a wrong one"] = ("const a = `\n  // told\n`;", "const a = `\n\n`;")
    done = subprocess.run(
        [*node_command("node"), "-e", _PARSED, "--", str(compiler)],
        input=json.dumps(pairs), capture_output=True, text=True, check=True,
    )  # fmt: skip
    parsed = json.loads(done.stdout)
    assert parsed.keys() == pairs.keys()
    kept, served = parsed.pop("a wrong one")
    assert kept != served, "the comparison sees a comment that was in a template"
    for name, (kept, served) in parsed.items():
        assert kept[0] == 0, f"{name} is parsed"
        assert kept == served, name


@pytest.mark.parametrize("name", ["vendor/marked.js", "index.html", "de.json", "icon.svg"])
def test_everything_else_is_served_as_it_is(name: str) -> None:
    assert _served(name) == _kept(name)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def empty(browser: Browser) -> Page:
    return await browser.new_page()


@pytest.mark.parametrize("name", STYLES)
class TestStyles:
    pytestmark = in_a_browser

    async def test_every_rule_is_that_of_its_file(self, empty: Page, name: str) -> None:
        kept, served = await empty.evaluate(_RULES, [_kept(name), _served(name)])
        assert len(kept) > 10
        assert kept == served
