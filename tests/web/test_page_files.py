"""What the page is made of: its own files, all of them there, and nothing that runs besides."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.requests import Request

from silas.channels.web.page_files import face_dir
from silas.channels.web.static import StaticDirectory

ROOT = Path(__file__).resolve().parents[2]
FACE = face_dir()
FILES = {path.name: path for path in sorted(FACE.iterdir()) if path.is_file()}
SCRIPTS = sorted(name for name in FILES if name.endswith(".js"))
PAGES = sorted(name for name in FILES if name.endswith(".html"))
STYLES = sorted(name for name in FILES if name.endswith(".css"))

MOST_LINES = 400
PAGE_SCRIPTS = ("app.js", "pair.js", "offline.js")

MOST_SENT = 60_000  # bytes of a first visit as they are sent: it is read on telephones
MOST_READ = 160_000  # bytes of it that a browser reads


def _text(name: str) -> str:
    return FILES[name].read_text(encoding="utf-8")


def _imports(name: str, *, later: bool) -> set[str]:
    """The modules a module needs at once, or with `later` also those it fetches on demand."""
    found = set(
        re.findall(r'^(?:import|export)[^;]*?from "\./([\w.]+)";', _text(name), re.M | re.S)
    )
    fetched = r'(?:import\("\./|new Worker\("/static/)([\w.]+)"'
    return found | set(re.findall(fetched, _text(name))) if later else found


def _reached(start: str, *, later: bool) -> set[str]:
    seen, todo = set[str](), [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += _imports(name, later=later)
    return seen


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    markup = _Markup()
    markup.feed(_text(page))
    return markup.tags


def _addresses() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for _, attributes in _tags(page):
            for name in ("href", "src"):
                address = attributes.get(name) or ""
                if address and not address.startswith("#"):
                    yield page, address
    for script in SCRIPTS:
        for needed in _imports(script, later=True):
            yield script, f"/static/{needed}"
    for entry in json.loads(_text("manifest.json"))["icons"]:
        yield "manifest.json", entry["src"]
    for kept in _shell():
        yield "sw.js", kept


def _shell() -> list[str]:
    (listed,) = re.findall(r"const SHELL = \[(.*?)\];", _text("sw.js"), re.S)
    return re.findall(r'"([^"]+)"', listed)


def test_everything_the_page_names_is_one_of_its_files() -> None:
    routes = {"/", "/manifest.json", "/sw.js"}
    named = list(_addresses())
    assert len(named) > 60
    lost = [
        (where, address)
        for where, address in named
        if address not in routes and not (FACE / address.removeprefix("/static/")).is_file()
    ]
    assert lost == []


def test_every_module_is_part_of_the_page() -> None:
    reached = {name for start in PAGE_SCRIPTS for name in _reached(start, later=True)}
    assert set(SCRIPTS) - reached == {"sw.js", "theme.js"}


def test_what_works_offline_is_the_whole_shell_and_nothing_besides() -> None:
    modules = _reached("app.js", later=True)
    others = {"offline.html", "offline.js", "de.json", *STYLES, "theme.js", "icon.svg"}
    others.add("vendor/marked.js")
    shell = {"/"} | {f"/static/{name}" for name in modules | others}
    assert set(_shell()) == shell
    assert len(_shell()) == len(shell)


def test_the_page_is_fetched_in_one_step() -> None:
    """Every module that is needed at once is named beforehand, so that none waits for another."""
    named = {a.get("href") for _, a in _tags("index.html") if a.get("rel") == "modulepreload"}
    at_once = _reached("app.js", later=False) - {"app.js"}
    assert named == {f"/static/{name}" for name in at_once}


@pytest.mark.parametrize("surface", ["activity", "more"])
def test_what_a_surface_needs_besides_is_asked_for_at_once(surface: str) -> None:
    (named,) = re.findall(rf"^  {surface}: \[(.*?)\],$", _text("theme.js"), re.M)
    besides = _reached(f"{surface}.js", later=False) - _reached("app.js", later=False)
    assert {f"{name}.js" for name in re.findall(r'"(\w+)"', named)} == besides


@pytest.mark.parametrize("page", PAGES)
def test_no_markup_carries_code_or_style_of_its_own(page: str) -> None:
    for tag, attributes in _tags(page):
        assert tag != "style"
        assert tag != "script" or attributes.get("src"), "a script without a file"
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


_MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc"
    r"|\beval\(|new Function|setAttribute\(\"style\"|javascript:|DOMParser|setHTMLUnsafe"
)


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_text_is_ever_read_as_markup_or_code(script: str) -> None:
    assert _MARKUP.findall(_text(script)) == []


_SVG = "http://www.w3.org/2000/svg"  # the name of a language, which nobody fetches


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith(".png")])
def test_the_page_names_no_other_host(name: str) -> None:
    hosts = re.findall(r"(?:https?|wss?):/?/?[\w.-]+[^\s\"'`]*|//[\w-]+\.[\w.-]+", _text(name))
    assert [host for host in hosts if not host.startswith(_SVG)] == []


@pytest.mark.parametrize("name", [*SCRIPTS, *PAGES, *STYLES])
def test_no_file_is_longer_than_one_can_read(name: str) -> None:
    assert len(_text(name).splitlines()) <= MOST_LINES


def test_a_first_visit_loads_little() -> None:
    modules = _reached("app.js", later=False)
    styles = {
        a.get("href", "") or "" for _, a in _tags("index.html") if a.get("rel") == "stylesheet"
    }
    needed = {"index.html", "theme.js", "icon.svg", *modules}
    needed |= {style.removeprefix("/static/") for style in styles}
    served, asked = StaticDirectory(FACE), Request({"type": "http", "headers": []})
    contents = [bytes(served.answer(name, asked).body) for name in needed]
    assert sum(map(len, contents)) <= MOST_READ
    assert sum(len(gzip.compress(content)) for content in contents) <= MOST_SENT


def test_what_somebody_else_wrote_is_as_its_package_has_it_with_its_licence() -> None:
    vendored = FACE / "vendor"
    told = re.findall(r"^\| `([\w.]+)` .* `(LICENSE-\w+)` \| `(\w+)` \|$",
                      (vendored / "README.md").read_text(encoding="utf-8"), re.M)  # fmt: skip
    assert {name for name, _, _ in told} == {path.name for path in vendored.glob("*.js")}
    for name, licence, digest in told:
        assert hashlib.sha256((vendored / name).read_bytes()).hexdigest() == digest
        assert "Permission is hereby granted" in (vendored / licence).read_text(encoding="utf-8")


def test_of_the_parser_only_the_tokens_are_used() -> None:
    users = [name for name in SCRIPTS if "/vendor/" in _text(name) and name != "sw.js"]
    assert users == ["markdown_worker.js"]
    assert re.findall(r'import \{ (.*?) \} from "./vendor/marked.js"', _text(users[0])) == ["Lexer"]


def test_nothing_but_the_page_lies_among_its_files() -> None:
    assert {path.suffix for path in FILES.values()} <= {
        ".html", ".css", ".js", ".json", ".svg", ".png",
    }  # fmt: skip


@pytest.mark.proves("S1.6-PWA")
def test_the_page_can_be_installed() -> None:
    manifest = json.loads(_text("manifest.json"))
    sizes = {entry["sizes"] for entry in manifest["icons"]}
    assert {"192x192", "512x512"} <= sizes
    assert manifest["display"] == "standalone"
    assert manifest["start_url"] == manifest["scope"] == "/"
    for entry in manifest["icons"]:
        if entry["type"] == "image/png":
            header = FILES[entry["src"].removeprefix("/static/")].read_bytes()[:24]
            width = int.from_bytes(header[16:20], "big")
            assert entry["sizes"] == f"{width}x{width}"
