"""Finding the directories of tools that the owner can run, and telling what they are by digest.

Nothing is executed. Every directory is asked the same: is it the owner's or root's, may nobody else
write to it, does every program in it lead to what is shown read-only, and is it outside of what the
work can write. One that fails is left out, with the reason.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from silas.sandbox.mounts import Roots, is_within, objection
from silas.sandbox.searchpath import SYSTEM
from silas.sandbox.toolchains.table import (
    HIDDEN,
    RULES,
    Pin,
    ToolchainRule,
    choose_version,
    holds_credentials,
    label_of,
    parse_pin,
    version_in,
)

MOST_PROGRAMS: Final = 4096
"""Entries of one directory in the PATH; a larger one is something else."""

PROJECT: Final = (".venv", "venv")
_MODULES: Final = "node_modules"
_SYSTEM_ROOTS: Final = tuple(map(Path, ("/usr", "/bin", "/lib", "/lib64", "/sbin")))
_PIN_BYTES: Final = 4096
_LIBRARIES: Final = ("lib", "lib64", "libexec", "include")
_RUNNERS: Final = ("pytest",)  # told on the card with the environment that has them


class SearchPlace(NamedTuple):
    """Where is looked: fixed for a turn, and made up in tests.

    Attributes:
        home: The owner's home directory, without links on the way.
        environ: The environment that Silas was started in.
        roots: What may never be shown.
        added: Directories of the configuration.
    """

    home: Path
    environ: Mapping[str, str]
    roots: Roots
    added: tuple[Path, ...] = ()


class Toolchain(NamedTuple):
    """A directory of programs, and what they need.

    Attributes:
        name: What a card calls it, such as `project .venv`, `node`.
        version: Digits and dots; empty where nothing says it.
        path: The directory in the PATH.
        shown: What is mounted read-only; empty for a directory of the system.
        env: Variables that its programs need.
        told: What else is worth a word on the card.
        marks: Files whose content is compared, too.
        leads: Where its links may lead, besides `shown` and the system.
    """

    name: str
    version: str
    path: Path
    shown: tuple[Path, ...]
    env: Mapping[str, str] = {}
    told: str = ""
    marks: tuple[Path, ...] = ()
    leads: tuple[Path, ...] = ()


class ToolchainsFound(NamedTuple):
    """What there is, in the order of the PATH, and sentences about what was left out."""

    tools: tuple[Toolchain, ...]
    left_out: tuple[str, ...]


def find(place: SearchPlace, workspace: Path | None) -> ToolchainsFound:
    """Every directory of tools for work in this workspace; reads only, and follows no link there.

    The order is fixed: the project's own, what the configuration adds, what version managers and
    package managers keep in the home directory, and the rest of the owner's own PATH.
    """
    tools: dict[Path, Toolchain] = {}
    left_out: list[str] = []
    for one in _candidates(place, workspace):
        if one.path in tools or str(one.path) in SYSTEM:
            continue
        if why := refusal(one, place, workspace):
            left_out.append(f"{one.path} is left out: {why}.")
        else:
            tools[one.path] = one
    left_out += [f"{entry!r} of the PATH is left out: {why}." for entry, why in _find_unfit(place)]
    return ToolchainsFound(tuple(tools.values()), tuple(left_out))


def _candidates(place: SearchPlace, workspace: Path | None) -> Iterator[Toolchain]:
    if workspace is not None:
        yield from _of_project(workspace)
    for path in place.added:
        yield Toolchain(str(path), "", path, (path,))
    for rule in RULES:
        yield from _of_rule(rule, place, workspace)
    yield from _of_path(place)


def _of_project(workspace: Path) -> Iterator[Toolchain]:
    for name in PROJECT:
        home = workspace / name
        if not (home / "bin").is_dir():
            continue
        base = base_of(home)
        shown = (home, *_existing(base, ("bin", *_LIBRARIES))) if base else (home,)
        version = _python_version(home)
        told = ", ".join(filter(None, (_installed_version(home, one) for one in _RUNNERS)))
        marks = (home / "pyvenv.cfg",)
        leads = (base,) if base else ()
        yield Toolchain(f"project {name}", version, home / "bin", shown, {}, told, marks, leads)
        break
    modules = workspace / _MODULES
    if (modules / ".bin").is_dir():
        yield Toolchain(f"project {_MODULES}", "", modules / ".bin", (modules,))


def base_of(home: Path) -> Path | None:
    """The installation outside of the system that an environment's `python` leads to."""
    for name in ("python3", "python"):
        real = Path(os.path.realpath(home / "bin" / name))
        base = real.parent.parent
        if base == home or _in_system(base) or not real.is_file():
            continue
        if any((base / "lib").glob("python3*/os.py")):
            return base
    return None


def _of_rule(
    rule: ToolchainRule, place: SearchPlace, workspace: Path | None
) -> Iterator[Toolchain]:
    root = root_of(rule, place)
    label, version = _version(rule, root, workspace) if rule.versions else ("", root)
    if version is None or not (version / rule.path / rule.program).exists():
        return
    env = {name: v.format(root=root, version=version) for name, v in rule.env.items()}
    shown = () if _in_system(version) else _existing(version, rule.shown)
    shown = (*shown, *_existing(root, rule.cache))
    yield Toolchain(rule.name, label_of(label), version / rule.path, shown, env)


def root_of(rule: ToolchainRule, place: SearchPlace) -> Path:
    """Where tools of a kind lie: where the owner's environment says, else where the table does."""
    moved = place.environ.get(rule.variable, "") if rule.variable else ""
    return Path(moved) if moved.startswith("/") else place.home / rule.root


def _version(rule: ToolchainRule, root: Path, workspace: Path | None) -> tuple[str, Path | None]:
    """The version that is meant, as the part of its path that the pattern leaves open."""
    parts = rule.versions.split("/")
    at = next(n for n, part in enumerate(parts) if set(part) & set("*["))
    found = [path for path in root.glob(rule.versions) if not path.is_symlink()]
    names = {path.relative_to(root).parts[at]: path for path in found}
    wanted = [_pin(pin, root, workspace) for pin in rule.pins]
    name = choose_version(tuple(names), wanted, newest=rule.newest)
    return name, names.get(name)


def _pin(pin: Pin, root: Path, workspace: Path | None) -> str:
    above = workspace if pin.where == "workspace" else root
    return "" if above is None else parse_pin(_text(above / pin.name), pin.key)


def _of_path(place: SearchPlace) -> Iterator[Toolchain]:
    for entry in _entries(place):
        path = Path(entry)
        if _unfit_entry(entry) or is_within(path, place.home) or not path.is_dir():
            continue
        path = path.resolve() if _in_system(path) else path
        beside = _existing(path.parent, _LIBRARIES) if path.name == "bin" else ()
        shown = () if _in_system(path) else (path, *beside)
        yield Toolchain(str(path), "", path, shown)


def _entries(place: SearchPlace) -> list[str]:
    told = place.environ.get("PATH", "")
    return list(dict.fromkeys(told.split(":"))) if told else []


def _find_unfit(place: SearchPlace) -> Iterator[tuple[str, str]]:
    known = [root_of(rule, place) for rule in RULES]
    for entry in _entries(place):
        path = Path(entry)
        if why := _unfit_entry(entry):
            yield entry, why
        elif is_within(path, place.home) and not any(is_within(path, root) for root in known):
            yield entry, "it lies in the home directory; `sandbox.tools.add` names such directories"


def _unfit_entry(entry: str) -> str:
    plain = entry.startswith("/") and os.path.normpath(entry) == entry.rstrip("/")
    return "" if plain else "it is not an absolute path"


def refusal(one: Toolchain, place: SearchPlace, workspace: Path | None) -> str:
    """Why these tools are left out, or nothing."""
    for path in (one.path, *one.shown):
        if why := _unsafe(path) or objection(path, place.roots):
            return why
        if workspace is not None and not _out_of_reach(path, workspace):
            return "the work can write to it"
    if why := _unfit_base(one, workspace):
        return why
    return _unfit_programs(one)


def _out_of_reach(path: Path, workspace: Path) -> bool:
    """Whether the copy of a workspace does not hold it: it lies outside, or is shown as it is."""
    if not is_within(path, workspace):
        return True
    first = path.relative_to(workspace).parts[:1]
    return first in {(name,) for name in (*PROJECT, _MODULES)}


def _unsafe(path: Path) -> str:
    """Why a directory or file is not only the owner's to change, or nothing."""
    if not path.is_absolute() or os.path.realpath(path) != str(path):
        return "it is not an absolute path, or a symbolic link stands on the way"
    try:
        facts, above = os.stat(path), os.path.dirname(path)
        if _others_write(facts):
            return f"others can write to {path}"
        if facts.st_uid not in (0, os.geteuid()):
            return "it belongs to somebody else"
        while above not in ("/", ""):
            facts = os.stat(above)
            if _others_write(facts) and not facts.st_mode & stat.S_ISVTX:
                return f"others can write to {above}"
            above = os.path.dirname(above)
    except OSError as error:
        return f"{error.strerror}"
    return ""


def _others_write(facts: os.stat_result) -> bool:
    group = facts.st_mode & stat.S_IWGRP and facts.st_gid not in (0, os.getegid())
    return bool(facts.st_mode & stat.S_IWOTH or group)


def _unfit_base(one: Toolchain, workspace: Path | None) -> str:
    """Why an environment's interpreter is none that may be shown: Python reads its library from
    where `pyvenv.cfg` says, wherever the link leads.
    """
    for mark in one.marks:
        line = re.search(r"^home\s*=\s*(.+?)\s*$", _text(mark), re.MULTILINE)
        if line is None:
            return f"{mark.name} names no interpreter"
        home = Path(os.path.realpath(line[1]))
        inside = workspace is not None and is_within(home, workspace)
        if inside or not (_in_system(home) or any(is_within(home, base) for base in one.leads)):
            return f"{mark.name} names an interpreter elsewhere, {show_path(home)}"
    return ""


def _unfit_programs(one: Toolchain) -> str:
    if not one.shown:
        return ""  # the system's own
    try:
        names = os.listdir(one.path)
        if len(names) > MOST_PROGRAMS:
            return f"it holds more than {MOST_PROGRAMS} entries"
        allowed = (*one.shown, *one.leads, *_SYSTEM_ROOTS)
        for name in names:
            path = f"{one.path}/{name}"
            facts = os.lstat(path)
            if stat.S_ISLNK(facts.st_mode):
                real = Path(os.path.realpath(path))
                if not any(is_within(real, root) for root in allowed):
                    return f"its {show_path(Path(name))} leads outside, to {show_path(real)}"
            elif facts.st_mode & stat.S_IWOTH:
                return f"others can write to its {show_path(Path(name))}"
    except OSError as error:
        return f"{error.strerror}"
    return ""


def digest(path: Path, marks: Iterable[Path]) -> str:
    """Hex SHA-256 over what a directory of programs lists: names, modes, sizes, times and where
    links lead, and over the content of the marks.
    """
    lines: list[str] = []
    for name in sorted(os.listdir(path)):
        facts = os.lstat(f"{path}/{name}")
        kind = stat.S_IFMT(facts.st_mode)
        if stat.S_ISLNK(kind):
            lines.append(f"{name}\0{os.readlink(f'{path}/{name}')}")
        elif not stat.S_ISDIR(kind):
            lines.append(f"{name}\0{facts.st_mode:o}\0{facts.st_size}\0{facts.st_mtime_ns}")
    lines += [_text(mark) for mark in marks]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def hidden_in(shown: Iterable[Path]) -> Iterator[Path]:
    """What must be covered in directories that are shown: names of credentials."""
    for directory in shown:
        names: Sequence[str] = ()
        with suppress(OSError):
            names = os.listdir(directory) if directory.is_dir() else ()
        yield from (directory / name for name in sorted(names) if holds_credentials(name))
        for deeper in HIDDEN:
            path = directory.parent / deeper
            if is_within(path, directory) and path.exists():
                yield path


def show_path(path: Path) -> str:
    """A path in a sentence: what nobody can read stands as its escape."""
    return ascii(str(path))[1:-1]


def _python_version(home: Path) -> str:
    line = re.search(r"^version(?:_info)?\s*=\s*(.+)$", _text(home / "pyvenv.cfg"), re.MULTILINE)
    return version_in(line[1]) if line else ""


def _installed_version(home: Path, package: str) -> str:
    """The version of an installed package, as its directory of metadata is called."""
    for info in sorted(home.glob(f"lib/python3*/site-packages/{package}-*.dist-info")):
        return f"{package} {version_in(info.name.removeprefix(f'{package}-'))}"
    return ""


def _text(path: Path) -> str:
    """The beginning of a plain file; nothing where there is none."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return os.read(descriptor, _PIN_BYTES).decode("utf-8", "replace")
        finally:
            os.close(descriptor)
    return ""


def _existing(root: Path, names: Iterable[str]) -> tuple[Path, ...]:
    paths = (root / name for name in names)
    return tuple(path for path in paths if path.exists() and not path.is_symlink())


def _in_system(path: Path) -> bool:
    return any(is_within(path, root) for root in _SYSTEM_ROOTS)
