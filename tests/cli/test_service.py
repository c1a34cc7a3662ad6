"""`silas service`: a unit that starts Silas at each login, written and removed with its manager."""

import os
import plistlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from silas.errors import ConfigError, SandboxError
from silas.home.lease import JobsLease
from silas.services.schedules.background_service import BackgroundService, service_unit
from tests.support.command import Ended, environment, run, silas

SYSTEMCTL = f"""#!/bin/sh
[ "$2" = is-active ] || echo "$@" >> "$HOME/asked"
case "$*" in *"$(cat "$HOME/fails" 2>/dev/null || echo nothing-of-it)"*)
  echo "no such bus" >&2; exit 1;; esac
case "$2" in
  restart) [ -f "$HOME/pid" ] && kill "$(cat "$HOME/pid")"
    {sys.executable} "$HOME/tools/runs_jobs" "$HOME/data/silas.jobs" >/dev/null 2>&1 &
    echo $! > "$HOME/pid";;
  disable) kill "$(cat "$HOME/pid")"; rm "$HOME/pid";;
  is-active) kill -0 "$(cat "$HOME/pid")";;
esac
"""

RUNS_JOBS = """import fcntl, os, signal, sys
if not os.path.exists(sys.argv[1] + ".ends"):
    held = open(sys.argv[1], "a")
    fcntl.flock(held, fcntl.LOCK_EX)
    signal.pause()
"""


class Owner:
    """A login whose service manager notes what it is asked, and fails where it is told to."""

    def __init__(self, home: Path) -> None:
        self.home = home
        tools = home / "tools"
        tools.mkdir()
        manager = tools / "systemctl"
        manager.write_text(SYSTEMCTL, "utf-8")
        manager.chmod(0o755)
        (tools / "runs_jobs").write_text(RUNS_JOBS, "utf-8")
        self.env = environment(home, XDG_CONFIG_HOME=str(home / "config"))
        self.env["PATH"] = f"{tools}:{self.env['PATH']}"
        (home / "key").write_bytes(b"opens the key of this test")
        (home / "key").chmod(0o600)
        self.env["SILAS_KEYS__KEY_FILE"] = str(home / "key")

    def silas(self, *words: str, **extra: str) -> Ended:
        return run(silas("service", *words), {**self.env, **extra})

    def fails(self, words: str) -> None:
        (self.home / "fails").write_text(words, "utf-8")

    @property
    def asked(self) -> list[str]:
        file = self.home / "asked"
        return file.read_text("utf-8").splitlines() if file.exists() else []

    @property
    def units(self) -> list[Path]:
        return sorted((self.home / "config").glob("systemd/user/*.service"))


@pytest.fixture
def owner(tmp_path: Path) -> Generator[Owner]:
    owner = Owner(tmp_path)
    yield owner
    if (tmp_path / "pid").exists():
        with suppress(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text("utf-8")), signal.SIGKILL)


def test_a_service_is_installed_told_and_removed(owner: Owner) -> None:
    done = owner.silas(
        "install", "--workspace", str(owner.home / "tools"), ANTHROPIC_API_KEY="not for files"
    )
    assert done.code == 0, done.err
    (unit,) = owner.units
    text = unit.read_text("utf-8")
    assert f'"start" "--no-link"\nWorkingDirectory={owner.home}/tools' in text
    assert f'Environment="SILAS_HOME={owner.home}"' in text
    assert "not for files" not in text
    assert "It does not see ANTHROPIC_API_KEY" in done.out
    assert owner.asked == [
        "--user show-environment",
        "--user daemon-reload",
        f"--user enable {unit.name}",
        f"--user restart {unit.name}",
    ]
    told = owner.silas("status", "--json")
    assert '"installed": true' in told.out
    assert '"running": true' in told.out
    assert owner.silas("install").code == 0  # again, with another directory
    assert f"WorkingDirectory={owner.home}\n" in unit.read_text("utf-8")
    assert owner.silas("remove").code == 0
    assert owner.units == []
    assert owner.asked[-1] == f"--user disable --now {unit.name}"
    again = owner.silas("remove")
    assert (again.code, "not installed" in again.err) == (1, True)


def test_a_service_is_told_in_the_owners_language(owner: Owner) -> None:
    german = {"SILAS_LANGUAGE": "de", "ANTHROPIC_API_KEY": "not for files"}
    none = owner.silas("status", **german)
    name = none.out.partition(":")[0]
    assert none.out == (
        f"{name}: nicht eingerichtet\n"
        "Kein Silas führt aus, was fällig ist: `silas service install` oder `silas start`.\n"
    )
    done = owner.silas("install", **german)
    assert done.out == (
        f"Eingerichtet und gestartet: {name} ({owner.units[0]}).\n"
        "`silas devices link` lässt einen Browser herein; `silas service status`, `remove`.\n"
        "Er sieht ANTHROPIC_API_KEY dieser Shell nicht; gib ihm einen Schlüssel im Cockpit unter "
        "„Mehr“, „Wer antwortet“.\n"
    )
    assert owner.silas("status", **german).out.startswith(f"{name}: läuft\n")
    assert owner.silas("remove", **german).out == f"Beendet und entfernt: {name}.\n"
    again = owner.silas("remove", **german)
    assert again.err == f"{name} ist nicht eingerichtet; nichts wurde geändert.\n"


def test_a_service_that_ends_at_once_is_not_told_as_started(owner: Owner) -> None:
    (owner.home / "data").mkdir()
    (owner.home / "data" / "silas.jobs.ends").touch()
    done = owner.silas("install")
    assert (done.code, "started" in done.out) == (1, False)
    assert done.err == (
        f"Installed, but it does not run: {owner.units[0].name} ({owner.units[0]}). `silas start` "
        "in this terminal says why; `silas service status` tells when it runs.\n"
    )
    assert '"running": false' in owner.silas("status", "--json").out


def test_a_silas_that_runs_already_is_told_of(owner: Owner) -> None:
    (owner.home / "data").mkdir()
    other = JobsLease(owner.home / "data")
    assert other.take()
    done = owner.silas("install")
    other.close()
    assert (done.code, "Another Silas runs what is due" in done.out) == (0, True)
    assert "started" not in done.out


def test_a_dry_run_prints_and_does_nothing(owner: Owner) -> None:
    done = owner.silas("install", "--dry-run")
    assert done.code == 0
    assert "WantedBy=default.target" in done.out
    assert "systemctl --user enable" in done.out
    assert (owner.asked, owner.units) == ([], [])


@pytest.mark.parametrize(
    ("fails", "said"),
    [("show-environment", "nothing was changed"), ("restart", "ended with 1: no such bus")],
)
def test_where_the_manager_fails_nothing_is_left(owner: Owner, fails: str, said: str) -> None:
    owner.fails(fails)
    done = owner.silas("install")
    assert (done.code, done.out, owner.units) == (2, "", [])
    assert said in done.err
    assert '"installed": false' in owner.silas("status", "--json").out


def test_a_file_of_somebody_elses_is_neither_replaced_nor_removed(owner: Owner) -> None:
    owner.silas("install")
    (unit,) = owner.units
    unit.write_text("[Service]\nExecStart=/bin/true\n", "utf-8")
    for words in (("install",), ("remove",), ("status",)):
        done = owner.silas(*words)
        assert done.code == 2, words
        assert "was not made by Silas" in done.err
    assert unit.read_text("utf-8") == "[Service]\nExecStart=/bin/true\n"


def test_a_key_behind_a_passphrase_is_refused(owner: Owner) -> None:
    assert owner.silas("install").code == 0
    owner.silas("remove")
    del owner.env["SILAS_KEYS__KEY_FILE"]
    done = owner.silas("install")
    assert done.code == 2
    assert "behind a passphrase" in done.err
    assert owner.units == []


def _unit(platform: str, **given: object) -> str:
    environ: Mapping[str, str] = {"HOME": "/home/me", "SILAS_HOME": '/a "b" %h $HOME\\c'}
    place = given.get("place", Path("/home/me"))
    assert isinstance(place, Path)
    return service_unit(platform, 1000, environ, ("/py thon", "-m", "$silas"), place).text


def test_what_a_path_holds_stays_a_path() -> None:
    text = _unit("linux", place=Path("/home/100%"))
    assert 'ExecStart="/py thon" "-m" "$$silas"' in text
    assert 'Environment="SILAS_HOME=/a \\"b\\" %%h $HOME\\\\c"' in text
    assert "WorkingDirectory=/home/100%%\n" in text
    agent = plistlib.loads(_unit("darwin").encode())
    assert agent["ProgramArguments"] == ["/py thon", "-m", "$silas"]
    assert agent["EnvironmentVariables"] == {"SILAS_HOME": '/a "b" %h $HOME\\c'}


ANALYZE = shutil.which("systemd-analyze")


def _verified(unit: Path) -> str:
    """What systemd itself says of a unit; nothing where it takes it as it is."""
    assert ANALYZE is not None
    done = subprocess.run(
        (ANALYZE, "--user", "verify", "--man=no", str(unit)),
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(unit.parent), "HOME": "/nowhere"},
    )
    return done.stdout + done.stderr + ("" if done.returncode == 0 else "refused")


@pytest.mark.skipif(ANALYZE is None, reason="there is no systemd-analyze; install systemd")
@pytest.mark.parametrize("name", ["plain", "a b", "100% $HOME", "it's", 'a "b"', "back\\slash"])
def test_systemd_takes_the_unit_whatever_its_paths_hold(name: str, tmp_path: Path) -> None:
    place = tmp_path / name
    place.mkdir()
    program = place / "python"
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    environ = {"HOME": str(place), "SILAS_HOME": str(place)}
    unit = service_unit("linux", 1000, environ, (str(program), "-m", "silas", "$x"), place)
    file = tmp_path / unit.name
    file.write_text(unit.text, "utf-8")
    assert _verified(file) == ""
    file.write_text(unit.text.replace("=on-failure", "=on-failre"), "utf-8")
    assert "on-failre" in _verified(file)


LAUNCHD: Mapping[str, type | tuple[type, ...]] = {
    "Label": str,
    "ProgramArguments": list,
    "WorkingDirectory": str,
    "EnvironmentVariables": dict,
    "RunAtLoad": bool,
    "KeepAlive": (bool, dict),
    "Umask": int,
}
"""Keys of launchd.plist(5) that the agent has, and of which kind each is."""


def test_the_agent_holds_only_what_launchd_documents() -> None:
    text = _unit("darwin")
    agent = plistlib.loads(text.encode())
    assert agent.keys() == LAUNCHD.keys()
    assert all(isinstance(agent[key], kind) for key, kind in LAUNCHD.items())
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert "Silas: made by `silas service install`" in text  # or it could not be removed again


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_line_break_in_a_path_is_refused(platform: str) -> None:
    with pytest.raises(ConfigError, match="control character"):
        _unit(platform, place=Path("/home/me\nExecStart=/bin/evil"))


def test_another_system_is_told_what_to_do() -> None:
    with pytest.raises(ConfigError, match="keep `silas start` running"):
        _unit("win32")


class Manager:
    """launchd or systemd, as far as a unit needs it: what it has, and what it was asked.

    Attributes:
        loaded: Whether it has the unit.
        ends_after: How often it is asked before what it was told to end is gone.
        fails: A command that fails.
    """

    def __init__(self, *, loaded: bool, ends_after: int = 0, fails: str = "") -> None:
        self.loaded = loaded
        self.fails = fails
        self.asked: list[str] = []
        self._left = ends_after
        self._ending = False

    async def ask(self, argv: Sequence[str]) -> None:
        command = argv[1] if argv[0] == "launchctl" else argv[2]
        target = argv[-1].rpartition("/")[2]
        if command in ("print", "is-active") and target not in ("1000", "--user"):
            self._ending, gone = self._ending, self._ending and self._left == 0
            self._left -= self._ending and self._left > 0
            self.loaded = self.loaded and not gone
            if not self.loaded:
                raise SandboxError("Could not find service.")
            return
        if command in {"print", "show-environment"}:
            return
        self.asked.append(command)
        if command == self.fails:
            self.fails = ""
            raise SandboxError(f"{command} failed.")
        if command == "bootout":
            if not self.loaded:
                raise SandboxError("Boot-out failed: 3: No such process")
            self._ending = True
            if self._left:
                raise SandboxError("Boot-out failed: 36: Operation now in progress")
        if command == "bootstrap":
            if self.loaded:
                raise SandboxError("Bootstrap failed: 5: Input/output error")
            self.loaded, self._ending = True, False

    async def pause(self) -> None:
        """Time goes by."""


SYSTEMD = ["daemon-reload", "enable", "restart"]


@pytest.mark.parametrize(
    ("platform", "loaded", "ends_after", "asked"),
    [
        ("darwin", False, 0, ["bootstrap"]),
        ("darwin", True, 0, ["bootout", "bootstrap"]),
        ("darwin", True, 5, ["bootout", "bootstrap"]),  # it ends a while later
        ("linux", False, 0, SYSTEMD),
        ("linux", True, 0, SYSTEMD),  # a changed unit is read again, and started anew
    ],
)
async def test_what_is_installed_already_is_taken_away_before_it_is_started_anew(
    platform: str, loaded: bool, ends_after: int, asked: list[str], tmp_path: Path
) -> None:
    manager = Manager(loaded=loaded, ends_after=ends_after)
    unit = service_unit(platform, 1000, {"HOME": str(tmp_path)}, ("/py", "new"), tmp_path)
    service = BackgroundService(unit, manager.ask, manager.pause)
    if loaded:
        unit.path.parent.mkdir(parents=True)
        unit.path.write_text(unit.text.replace("new", "old"), "utf-8")
    await service.install()
    assert manager.asked == asked
    assert service.current()


async def test_an_agent_that_is_not_loaded_is_removed_all_the_same(tmp_path: Path) -> None:
    unit = service_unit("darwin", 1000, {"HOME": str(tmp_path)}, ("/py",), tmp_path)
    manager = Manager(loaded=False)
    service = BackgroundService(unit, manager.ask, manager.pause)
    await service.install()
    manager.loaded = False  # its owner has unloaded it
    assert await service.remove()
    assert (service.is_installed(), manager.asked) == (False, ["bootstrap"])


async def test_what_ran_before_runs_again_where_the_new_one_does_not_start(tmp_path: Path) -> None:
    unit = service_unit("darwin", 1000, {"HOME": str(tmp_path)}, ("/py", "new"), tmp_path)
    manager = Manager(loaded=True, fails="bootstrap")
    unit.path.parent.mkdir(parents=True)
    unit.path.write_text(unit.text.replace("new", "old"), "utf-8")
    with pytest.raises(ConfigError, match="bootstrap failed"):
        await BackgroundService(unit, manager.ask, manager.pause).install()
    assert manager.asked == ["bootout", "bootstrap", "bootstrap"]
    assert "old" in unit.path.read_text("utf-8")


async def test_an_agent_that_never_ends_is_told_and_stays(tmp_path: Path) -> None:
    unit = service_unit("darwin", 1000, {"HOME": str(tmp_path)}, ("/py",), tmp_path)
    manager = Manager(loaded=True, ends_after=10**6)
    unit.path.parent.mkdir(parents=True)
    unit.path.write_text(unit.text, "utf-8")
    with pytest.raises(ConfigError, match="36: Operation now in progress"):
        await BackgroundService(unit, manager.ask, manager.pause).remove()
    assert unit.path.exists()
