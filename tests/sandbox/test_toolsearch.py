"""Which directories of tools are found, what of them is shown, and what is left out and why."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from silas.plans import plan_bytes
from silas.plans.card import plan_card
from silas.sandbox.mounts import Roots
from silas.sandbox.toolchains.mounts import MachineTools, NoTools, make_masks, mounts_of, tool_words
from silas.sandbox.toolchains.search import MOST_PROGRAMS, SearchPlace, find
from silas.sandbox.toolchains.table import choose_version, holds_credentials, parse_pin
from silas.testing import a_plan


def program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Machine:
    """A made-up home and workspace."""

    def __init__(self, root: Path) -> None:
        root.chmod(0o755)
        self.home, self.work = root / "home", root / "work"
        self.home.mkdir()
        self.work.mkdir()

    def place(self, *added: Path, **environ: str) -> SearchPlace:
        return SearchPlace(self.home, environ, Roots.of((), ()), added)

    def found(self, *added: Path, **environ: str) -> dict[str, str]:
        """Names and versions by the directory, relative to the home or workspace."""
        tools = find(self.place(*added, **environ), self.work).tools
        return {str(one.path): f"{one.name} {one.version}".strip() for one in tools}

    def left_out(self, *added: Path, **environ: str) -> str:
        return "\n".join(find(self.place(*added, **environ), self.work).left_out)

    def venv(self, name: str = ".venv", cfg: str = "home = /usr/bin\nversion = 3.11.7\n") -> Path:
        home = self.work / name
        (home / "bin").mkdir(parents=True)
        (home / "bin" / "python3").symlink_to("/usr/bin/python3")
        (home / "bin" / "python").symlink_to("python3")
        (home / "pyvenv.cfg").write_text(cfg)
        (home / "lib/python3.11/site-packages/pytest-8.3.1.dist-info").mkdir(parents=True)
        program(home / "bin" / "pytest")
        return home


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path.resolve())


VERSIONS = [
    (".pyenv", "versions", "python", {"3.10.1": False, "3.12.4": True}, "version", "3.12.4"),
    (".nvm", "versions/node", "node", {"v18.2.0": False, "v20.1.0": True}, "alias/default", "20"),
    (".rbenv", "versions", "ruby", {"3.2.0": False, "3.3.1": True}, "version", "3.3.1"),
]


@pytest.mark.parametrize(("root", "below", "name", "versions", "pin", "says"), VERSIONS)
def test_the_version_that_its_manager_names_is_found(
    machine: Machine,
    root: str,
    below: str,
    name: str,
    versions: Mapping[str, bool],
    pin: str,
    says: str,
) -> None:
    for version in versions:
        program(machine.home / root / below / version / "bin" / name)
    (machine.home / root / pin).parent.mkdir(parents=True, exist_ok=True)
    (machine.home / root / pin).write_text(says)
    meant = next(version for version, is_meant in versions.items() if is_meant)
    assert [*machine.found()] == [str(machine.home / root / below / meant / "bin")]


PINNED = [(".pyenv/versions", ".python-version"), (".nvm/versions/node", ".nvmrc")]


@pytest.mark.parametrize(("below", "pin"), PINNED)
def test_the_version_that_the_project_names_goes_before(
    machine: Machine, below: str, pin: str
) -> None:
    name = "node" if "node" in below else "python"
    for version in ("3.10.1", "3.12.4"):
        program(machine.home / below / version / "bin" / name)
    (machine.work / pin).write_text("3.10\n")
    assert [*machine.found()] == [str(machine.home / below / "3.10.1" / "bin")]


def test_nothing_is_there_where_nothing_is(machine: Machine) -> None:
    assert machine.found() == {}
    assert tool_words(MachineTools(machine.place()).find_tools(str(machine.work))) == "system"


def test_the_order_is_fixed_and_the_projects_own_comes_first(machine: Machine) -> None:
    machine.venv()
    program(machine.work / "node_modules" / "eslint" / "cli.js")
    (machine.work / "node_modules" / ".bin").mkdir()
    (machine.work / "node_modules" / ".bin" / "eslint").symlink_to("../eslint/cli.js")
    program(machine.home / ".nvm/versions/node/v20.1.0/bin/node")
    program(machine.home / ".cargo/bin/cargo")
    program(machine.home / ".rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin/cargo")
    program(machine.home / "sdk/go1.22.1/bin/go")
    program(machine.home / "go/bin/dlv")
    added = program(machine.home / "tools" / "mine").parent
    assert [*machine.found(added).values()] == [
        "project .venv 3.11.7",
        "project node_modules",
        str(added),
        "node 20.1.0",
        "rust stable",
        "cargo",
        "go 1.22.1",
        "go modules",
    ]
    words = tool_words(MachineTools(machine.place(added)).find_tools(str(machine.work)))
    assert words.startswith("project .venv (Python 3.11.7, pytest 8.3.1), project node_modules, ")
    assert words.endswith("node 20.1.0, rust stable, cargo, go 1.22.1, go modules, system")


def test_directories_of_the_path_are_counted_in_one_line_and_named_one_tap_away(
    machine: Machine,
) -> None:
    added = [program(machine.home / "tools" / name / "mine").parent for name in ("a", "b", "c")]
    facts = MachineTools(machine.place(*added)).find_tools(str(machine.work))
    assert tool_words(facts) == "3 directories of your PATH, system"
    card = plan_card(plan_bytes(a_plan()), rationale="Why.", tools=facts)
    parts = {one.heading: one for one in card.details}
    assert "tools: 3 directories of your PATH, system" in parts["What it may touch"].lines
    held = parts["What must be the same when it runs"]
    assert not held.open
    named = [f"  `{one}`" for one in added]
    assert [line for line in held.lines if line in named] == named


def test_an_environment_outside_the_system_brings_its_interpreter_along(machine: Machine) -> None:
    base = machine.home / ".pyenv/versions/3.12.4"
    program(base / "bin" / "python3.12")
    program(base / "lib" / "python3.12" / "os.py")
    (base / "pip.conf").write_text("index-url = https://me:secret@example.com")
    home = machine.venv(cfg=f"home = {base / 'bin'}\nversion = 3.12.4\n")
    (home / "bin" / "python3").unlink()
    (home / "bin" / "python3").symlink_to(base / "bin" / "python3.12")
    [tool] = find(machine.place(), machine.work).tools
    assert tool.shown == (home, base / "bin", base / "lib")


def shown_of(machine: Machine, tmp_path: Path, *added: Path) -> dict[str, Path]:
    """What is mounted where, of all that is found; a mask is the last at its place."""
    facts = MachineTools(machine.place(*added)).find_tools(str(machine.work))
    given = mounts_of(facts, str(machine.work), make_masks(tmp_path / "masks"))
    assert not any(mount.writable for mount in (*given.below, *given.above))
    return {str(mount.target): mount.source for mount in (*given.below, *given.above)}


def test_of_a_home_directory_only_versions_programs_and_caches_are_shown(
    machine: Machine, tmp_path: Path
) -> None:
    cargo = machine.home / ".cargo"
    program(cargo / "bin" / "cargo")
    (cargo / "registry" / "cache").mkdir(parents=True)
    (cargo / "git" / "db").mkdir(parents=True)
    (cargo / "credentials.toml").write_text("token = 1")
    (cargo / "config.toml").write_text("")
    (machine.home / ".nvm" / ".npmrc").parent.mkdir()
    node = machine.home / ".nvm/versions/node/v20.1.0"
    program(node / "bin" / "node")
    (node / "etc").mkdir()
    (node / "etc" / "npmrc").write_text("//registry/:_authToken=1")
    shown = shown_of(machine, tmp_path)
    assert set(shown) == {
        str(cargo / "bin"),
        str(cargo / "registry" / "cache"),
        str(node / "bin"),
    }


SECRET_FILES = ("credentials", "credentials.toml", ".npmrc", "pip.conf", ".netrc", "TOKEN", "a.pem")


@pytest.mark.parametrize("name", SECRET_FILES)
def test_a_file_of_credentials_is_covered_wherever_it_lies(
    machine: Machine, tmp_path: Path, name: str
) -> None:
    home = machine.venv()
    program(machine.home / ".cargo" / "bin" / "cargo")
    secret = [home / name, home / "bin" / name, machine.home / ".cargo" / "bin" / name]
    for path in (secret[0], secret[2]):
        path.write_text("a secret")
    shown = shown_of(machine, tmp_path)
    for path in (secret[0], secret[2]):
        assert shown[str(path)].read_text() == ""


def test_npms_own_configuration_is_covered(machine: Machine, tmp_path: Path) -> None:
    node = machine.home / ".nvm/versions/node/v20.1.0"
    program(node / "bin" / "node")
    deep = program(node / "lib" / "node_modules" / "npm" / "npmrc", "//registry/:_authToken=1")
    assert shown_of(machine, tmp_path)[str(deep)].read_text() == ""


def test_what_holds_credentials_is_known_however_it_is_written() -> None:
    assert all(map(holds_credentials, ("Credentials", "PIP.CONF", "id_rsa", ".env.local")))
    assert not any(map(holds_credentials, ("python3", "pytest", "tokenize", "environment")))


def _linked_to(target: str, machine: Machine) -> None:
    (machine.work / ".venv").symlink_to(target.format(home=machine.home))


@pytest.mark.parametrize("target", ["/etc", "{home}", "{home}/../work", "/usr", "."])
def test_an_environment_that_is_a_link_is_left_out(machine: Machine, target: str) -> None:
    (machine.home / "bin").mkdir()
    (machine.work / "bin").mkdir()
    _linked_to(target, machine)
    assert machine.found() == {}


def test_links_out_of_an_environment_leave_it_out(machine: Machine) -> None:
    home = machine.venv()
    (home / "bin" / "tool").symlink_to("../../planted.py")
    assert machine.found() == {}
    assert "its tool leads outside" in machine.left_out()


def test_a_directory_in_its_place_that_is_a_link_leaves_it_out(machine: Machine) -> None:
    home = machine.venv()
    (machine.home / "elsewhere").mkdir()
    (home / "bin").rename(home / "real")
    (home / "bin").symlink_to(machine.home / "elsewhere")
    assert machine.found() == {}


@pytest.mark.parametrize("where", ["{work}/python/bin", "{home}/other/bin", "/nowhere/bin"])
def test_an_environment_that_names_an_interpreter_elsewhere_is_left_out(
    machine: Machine, where: str
) -> None:
    """Python loads its whole library from what `home` says, wherever the link leads."""
    home = where.format(work=machine.work, home=machine.home)
    machine.venv(cfg=f"version = 3.11.7\nhome = {home}\n")
    assert machine.found() == {}
    assert "names an interpreter elsewhere" in machine.left_out()


def test_an_environment_without_its_configuration_is_left_out(machine: Machine) -> None:
    (machine.venv() / "pyvenv.cfg").unlink()
    assert "names no interpreter" in machine.left_out()


@pytest.mark.parametrize("target", ["../../src/tool.js", "{home}/tool.js", "/etc/passwd"])
def test_links_out_of_node_modules_leave_it_out(machine: Machine, target: str) -> None:
    place = machine.work / "node_modules" / ".bin"
    place.mkdir(parents=True)
    (place / "tool").symlink_to(target.format(home=machine.home))
    assert machine.found() == {}
    assert "its tool leads outside" in machine.left_out()


def test_what_others_can_write_is_left_out(machine: Machine) -> None:
    added = [program(machine.home / name / "bin" / "x").parent for name in ("a", "b", "c")]
    added[0].chmod(0o777)
    (machine.home / "b").chmod(0o777)
    (added[2] / "x").chmod(0o777)
    assert machine.found(*added) == {}
    assert machine.left_out(*added).count("others can write to") == 3


def test_a_directory_of_somebody_else_is_left_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = program(machine.home / "a" / "x").parent
    assert [*machine.found(added)] == [str(added)]
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    if added.stat().st_uid == 0:  # root's are everybody's
        os.chown(added, 4243, 4243)
    assert "belongs to somebody else" in machine.left_out(added)


def test_what_the_work_can_write_is_left_out(machine: Machine) -> None:
    inside = program(machine.work / "bin" / "pytest").parent
    assert machine.found(inside, PATH=str(inside)) == {}
    assert "the work can write to it" in machine.left_out(inside)


def test_a_huge_directory_is_left_out(machine: Machine) -> None:
    huge = machine.home / "huge"
    huge.mkdir()
    for number in range(MOST_PROGRAMS + 1):
        (huge / str(number)).touch()
    assert machine.found(huge) == {}
    assert "more than 4096 entries" in machine.left_out(huge)


@pytest.mark.parametrize("entry", ["", ".", "bin", "~/bin", "./x", "/opt/../etc"])
def test_entries_of_the_path_that_are_not_absolute_take_no_part(
    machine: Machine, entry: str
) -> None:
    (machine.work / "bin").mkdir()
    assert machine.found(PATH=f"/usr/bin:{entry}:/bin") == {}
    assert "not an absolute path" in machine.left_out(PATH=f"/usr/bin:{entry}:/bin")


def test_of_the_home_directory_the_path_alone_shows_nothing(machine: Machine) -> None:
    own = program(machine.home / "bin" / "mine").parent
    assert machine.found(PATH=str(own)) == {}
    assert "`sandbox.tools.add` names such directories" in machine.left_out(PATH=str(own))
    assert [*machine.found(own, PATH=str(own))] == [str(own)]


def test_secrets_and_silas_itself_are_never_added(machine: Machine) -> None:
    keys = program(machine.home / ".ssh" / "x").parent
    mine = program(machine.home / "silas" / "bin" / "x").parent
    roots = Roots.of((machine.home / "silas",), ())._replace(homes=(machine.home,))
    place = SearchPlace(machine.home, {}, roots, (keys, mine, machine.home))
    found = find(place, machine.work)
    assert found.tools == ()
    assert [why.split(": ", 1)[1][:20] for why in found.left_out] == [
        "it holds secrets.",
        f"it lies in {machine.home}"[:20],
        "it contains the whole"[:20],
    ]


def _relink(home: Path) -> None:
    (home / "bin" / "python").unlink()
    (home / "bin" / "python").symlink_to("/bin/sh")


def _reconfigure(home: Path) -> None:
    (home / "pyvenv.cfg").write_text("home = /usr/local/bin\nversion = 3.11.7\n")


def _remove(home: Path) -> None:
    home.rename(home.parent / "x")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a program is added": lambda home: program(home / "bin" / "ruff"),
    "a program is another": lambda home: program(home / "bin" / "pytest", "#!/bin/sh\nevil\n"),
    "a program is gone": lambda home: (home / "bin" / "pytest").unlink(),
    "its configuration is another": _reconfigure,
    "a link leads elsewhere": _relink,
    "all of it is gone": _remove,
}


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_change_after_it_was_found_is_seen(machine: Machine, change: str) -> None:
    home, tools = machine.venv(), MachineTools(machine.place())
    facts = tools.find_tools(str(machine.work))
    assert tools.now(facts, str(machine.work)) == facts
    CHANGES[change](home)
    assert tools.now(facts, str(machine.work)) != facts


def test_what_is_not_looked_for_any_more_is_different(machine: Machine) -> None:
    machine.venv()
    facts = MachineTools(machine.place()).find_tools(str(machine.work))
    assert NoTools("off").now(facts, str(machine.work)) != facts
    assert NoTools("off").find_tools(str(machine.work)) == {}


def test_facts_that_somebody_edited_show_nothing(machine: Machine, tmp_path: Path) -> None:
    facts: dict[str, Any] = {"/etc": "x", "/usr": {"at": 0}, "/lib": None}
    assert mounts_of(facts, None, tmp_path).below == ()
    assert tool_words(facts)
    assert MachineTools(machine.place()).now(facts, None) != facts


@pytest.mark.parametrize(
    ("names", "wanted", "newest", "meant"),
    [
        (("3.9.1", "3.10.2"), (), True, "3.10.2"),
        (("3.9.1", "3.10.2"), (), False, ""),
        (("3.9.1", "3.10.2"), ("", "3.9"), True, "3.9.1"),
        (("3.9.1", "3.90.2"), ("3.9",), True, "3.9.1"),
        (("v18.1.0", "v20.2.0"), ("lts/*",), True, "v20.2.0"),
        (("v18.1.0", "v20.2.0"), ("18",), True, "v18.1.0"),
        (("3.9.1",), ("system",), False, ""),
        ((), ("3.9",), True, ""),
    ],
)
def test_which_version_is_meant(
    names: tuple[str, ...], wanted: tuple[str, ...], newest: bool, meant: str
) -> None:
    assert choose_version(names, wanted, newest=newest) == meant


def test_a_pin_is_one_plain_word() -> None:
    assert parse_pin("3.12.1\n3.11\n", "") == "3.12.1"
    assert parse_pin("../../etc; rm -rf\n", "") == ""
    assert parse_pin('[toolchain]\nchannel = "1.86"\n', "channel") == "1.86"
    assert parse_pin("", "") == ""
