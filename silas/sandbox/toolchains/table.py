"""Which directories of tools a machine may have, as a table: where they lie, what they need shown.

Version directories, programs and caches of modules only. What is not in the table is not found, and
of the home directory nothing else is shown.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final, NamedTuple

_NO_ENV: Mapping[str, str] = MappingProxyType({})


class Pin(NamedTuple):
    """A file that says which version is meant: its first word that is a version, or a name.

    Attributes:
        where: `workspace` or `root`.
        name: Of the file, relative.
        key: Of a line `key = "value"`; empty where the file is the value.
    """

    where: str
    name: str
    key: str = ""


class ToolchainRule(NamedTuple):
    """One kind of directory with tools.

    Attributes:
        name: What a card calls it.
        root: Where it lies: absolute, or relative to the home directory.
        program: What must lie in `path`, or this is something else.
        variable: Of the environment, which says that it lies elsewhere.
        versions: A pattern of the directories of versions below `root`; empty where it is one.
        pins: Which of them is meant; the first that says so counts.
        newest: Whether the newest is meant where nothing says so. Else none is.
        path: The directory of programs, relative to a version.
        shown: What is mounted of a version.
        cache: What is mounted of `root` besides.
        env: Variables that these tools need; `{root}` and `{version}` stand for the places.
    """

    name: str
    root: str
    program: str
    variable: str = ""
    versions: str = ""
    pins: tuple[Pin, ...] = ()
    newest: bool = True
    path: str = "bin"
    shown: tuple[str, ...] = ("bin", "lib", "include")
    cache: tuple[str, ...] = ()
    env: Mapping[str, str] = _NO_ENV


_PYTHON_PIN = Pin("workspace", ".python-version")
_NODE_PINS = (Pin("workspace", ".nvmrc"), Pin("workspace", ".node-version"))
_GO = ("bin", "pkg", "src", "lib", "misc", "api", "VERSION", "go.env")
_JAVA = ("bin", "lib", "conf", "jmods", "include", "release")

RULES: Final = (
    ToolchainRule(
        *("pyenv", ".pyenv", "python", "PYENV_ROOT", "versions/*"),
        pins=(_PYTHON_PIN, Pin("root", "version")),
        newest=False,  # the system's own is meant then
    ),
    ToolchainRule(
        *("uv python", ".local/share/uv/python", "python3", "UV_PYTHON_INSTALL_DIR", "cpython-*"),
        pins=(_PYTHON_PIN,),
    ),
    ToolchainRule(
        *("node", ".nvm", "node", "NVM_DIR", "versions/node/*"),
        pins=(*_NODE_PINS, Pin("root", "alias/default")),
    ),
    ToolchainRule(
        *("node", ".local/share/fnm", "node", "FNM_DIR", "node-versions/*/installation"),
        pins=_NODE_PINS,
    ),
    ToolchainRule("node", ".volta", "node", "VOLTA_HOME", "tools/image/node/*", pins=_NODE_PINS),
    ToolchainRule(
        *("rust", ".rustup", "cargo", "RUSTUP_HOME", "toolchains/*"),
        pins=(
            Pin("workspace", "rust-toolchain"),
            Pin("workspace", "rust-toolchain.toml", "channel"),
            Pin("root", "settings.toml", "default_toolchain"),
        ),
        shown=("bin", "lib", "libexec"),
    ),
    ToolchainRule(
        *("cargo", ".cargo", "cargo", "CARGO_HOME"),
        shown=("bin",),
        cache=("registry/cache", "registry/index", "registry/src"),
        env={"CARGO_HOME": "{root}", "CARGO_NET_OFFLINE": "true"},
    ),
    ToolchainRule("go", "/usr/local/go", "go", "GOROOT", shown=_GO, env={"GOTOOLCHAIN": "local"}),
    ToolchainRule("go", "sdk", "go", "", "go*", shown=_GO, env={"GOTOOLCHAIN": "local"}),
    ToolchainRule(
        *("go modules", "go", "", "GOPATH"),
        shown=("bin",),
        cache=("pkg/mod/cache/download",),
        # What is downloaded is copied from there, so that nothing has to be written to it.
        env={"GOPROXY": "file://{root}/pkg/mod/cache/download", "GOSUMDB": "off"},
    ),
    ToolchainRule(
        *("ruby", ".rbenv", "ruby", "RBENV_ROOT", "versions/*"),
        pins=(Pin("workspace", ".ruby-version"), Pin("root", "version")),
        newest=False,
    ),
    ToolchainRule(
        *("java", ".sdkman/candidates/java", "java", "", "[0-9]*"),
        shown=_JAVA,
        env={"JAVA_HOME": "{version}"},
    ),
    ToolchainRule("deno", ".deno", "deno", "DENO_INSTALL", shown=("bin",)),
    ToolchainRule("bun", ".bun", "bun", "BUN_INSTALL", shown=("bin",)),
)
"""In the order in which they come into the PATH, behind the project's own."""

CREDENTIALS: Final = (
    *("credentials", "credentials.*", ".credentials*", ".npmrc", "npmrc", ".yarnrc", ".yarnrc.*"),
    *("pip.conf", "pip.ini", ".pypirc", ".netrc", "_netrc", ".git-credentials", ".gitconfig"),
    *("auth.json", ".dockercfg", "settings.xml", "settings-security.xml", "gradle.properties"),
    *("token", "tokens", "token.*", "*.token", "secret", "secrets", "secrets.*", ".env", ".env.*"),
    *("id_rsa*", "id_ed25519*", "id_ecdsa*", "*.pem", "*.key", "*.p12", "*.keystore", "*.kdbx"),
)
"""Names that hold what lets somebody in elsewhere; never shown with a directory of tools."""

HIDDEN: Final = ("lib/node_modules/npm/npmrc",)
"""Such files deeper in a version's directory."""


def holds_credentials(name: str) -> bool:
    """Whether a name is one of those, however it is capitalised."""
    plain = name.casefold()
    return any(fnmatchcase(plain, pattern) for pattern in CREDENTIALS)


_VERSION = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}")
_WORD = re.compile(r"[\w.+-]{1,80}", re.ASCII)


def version_in(text: str) -> str:
    """The first version number in a text; only digits and dots come out of it."""
    found = _VERSION.search(text)
    return found[0] if found else ""


def label_of(name: str) -> str:
    """What a card calls a version: its number, or the channel that a toolchain follows."""
    number = re.match(r"[a-z]*-?(\d[\d.]*)", name)
    channel = re.match(r"[a-z]{1,20}(?=-|$)", name)
    return version_in(number[1]) if number else channel[0] if channel else ""


def newest_first(names: Sequence[str]) -> list[str]:
    """Names of versions by their numbers, then by name."""

    def key(name: str) -> tuple[list[int], str]:
        return [int(part) for part in label_of(name).split(".") if part.isdigit()], name

    return sorted(names, key=key, reverse=True)


def parse_pin(text: str, key: str) -> str:
    """What a file that pins a version says; empty where that is no plain word."""
    if key:
        line = re.search(rf"^\s*{key}\s*=\s*[\"']([^\"']*)[\"']", text, re.MULTILINE)
        text = line[1] if line else ""
    word = text.split(maxsplit=1)[0] if text.split() else ""
    return word if _WORD.fullmatch(word) else ""


def choose_version(names: Sequence[str], wanted: Sequence[str], *, newest: bool) -> str:
    """Which version is meant; empty for none.

    Args:
        names: The versions that are there.
        wanted: What the pins say, in their order; `v20` and `20` mean the newest 20.
        newest: Whether the newest is meant where no pin names one that is there.
    """
    ordered = newest_first(names)
    for word in wanted:
        if word in ("", "system"):
            continue
        plain = word.removeprefix("v")
        for name in ordered:
            bare = name.removeprefix("v")
            if bare == plain or re.match(re.escape(plain) + r"[.-]", bare):
                return name
    return ordered[0] if newest and ordered else ""
