"""Silas as a service of the owner's own login: a unit of systemd, or an agent of launchd.

What is due needs a Silas that runs. The unit starts `silas start` when its owner logs in; it holds
no secret, no link that pairs a browser is written to its log, and only what Silas wrote is replaced
or removed.
"""

import hashlib
import plistlib
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from silas.clock import SystemClock
from silas.errors import ConfigError, SandboxError, reason
from silas.home.lease import runs_jobs
from silas.sandbox.owner_answer import ask_owner_program

_MARK: Final = "Silas: made by `silas service install`"
"""What a unit holds that this command wrote, and may therefore replace or remove."""

_PASSED_ON: Final = ("SILAS_HOME",)
"""Variables that decide where Silas keeps its files; none that may hold a secret."""

_SESSION: Final = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")
"""Where systemd finds the service manager of this login."""

_UNSAFE: Final = frozenset("\"'\\$")
"""What systemd refuses in the path of a program, and only there."""

_WAIT: Final = 30.0  # seconds; what is started goes on in the background


Ask = Callable[[Sequence[str]], Awaitable[object]]
"""Runs a command of the system's to its end; raises `SandboxError` where it fails."""


Pause = Callable[[], Awaitable[None]]
"""Returns after a moment."""

_PAUSE_SECONDS: Final = 0.5
_PAUSES: Final = 60  # launchd kills what does not end within 20 seconds


class ServiceUnit(NamedTuple):
    """A service that is not written yet.

    Attributes:
        name: What the service manager calls it.
        path: The file that describes it.
        text: What is written there.
        reach: Tells whether the service manager can be asked; exit code 0.
        unload: What has to be taken from the service manager before it takes another, and only
            where it has one.
        start: Commands that let it run now and at each login.
        end: Commands that end it for good, after `unload`.
        state: Tells whether the service manager has it; exit code 0.
    """

    name: str
    path: Path
    text: str
    reach: Sequence[str]
    unload: Sequence[Sequence[str]]
    start: Sequence[Sequence[str]]
    end: Sequence[Sequence[str]]
    state: Sequence[str]


def service_unit(
    platform: str, uid: int, environ: Mapping[str, str], argv: Sequence[str], place: Path
) -> ServiceUnit:
    """The service of a home, for the service manager of this system.

    Args:
        platform: `sys.platform`.
        uid: The owner's user id.
        environ: The owner's environment; `HOME` decides where the unit is written.
        argv: The command that it runs, without secrets.
        place: The directory that it runs in, which is what requests are about.

    Raises:
        ConfigError: There is no service manager that Silas knows, or a path holds a line break.
    """
    kept = {name: environ[name] for name in _PASSED_ON if environ.get(name)}
    for text in (*argv, *kept.values(), str(place)):
        if not text.isprintable():
            raise ConfigError(
                f"A service cannot be made for the path {text!r}: it holds a control character.",
                code="E_CFG_SERVICE_PATH",
            )
    # another home has a service of its own
    mark = "".join(f"-{hashlib.sha256(text.encode()).hexdigest()[:8]}" for text in kept.values())
    home = Path(environ.get("HOME") or Path.home())
    if platform == "darwin":
        return _launchd(f"local.silas{mark}", home, uid, kept, argv, place)
    if platform == "linux":
        given = Path(environ.get("XDG_CONFIG_HOME", ""))
        return _systemd(
            f"silas{mark}.service",
            given if given.is_absolute() else home / ".config",
            kept,
            argv,
            place,
        )
    raise ConfigError(
        f"Silas knows no service manager of {platform}; keep `silas start` running yourself.",
        code="E_CFG_SERVICE_SYSTEM",
    )


def runs_what_is_due(data_dir: Path) -> bool:
    """Whether a Silas, of this service or beside it, runs the jobs of this directory."""
    return runs_jobs(data_dir)


class BackgroundService:
    """Installs, tells and removes a service.

    Args:
        unit: The service.
        ask: Runs a command.
        pause: Waits a moment before the service manager is asked again whether it has ended.
    """

    def __init__(self, unit: ServiceUnit, ask: Ask, pause: Pause) -> None:
        self.unit = unit
        self._ask = ask
        self._pause = pause

    async def install(self) -> None:
        """Write the unit and start it; one that is there already is started anew.

        Raises:
            ConfigError: The service manager does not answer, the file is somebody else's or cannot
                be written, or the service does not start. Then nothing is left behind, and what
                was installed before is started again.
        """
        await self._require_manager()
        before = self._text()
        try:
            self.unit.path.parent.mkdir(parents=True, exist_ok=True)
            self.unit.path.write_text(self.unit.text, "utf-8")
        except OSError as error:
            raise ConfigError(
                f"{self.unit.path} cannot be written: {reason(error)}.", code="E_CFG_SERVICE_FILE"
            ) from error
        try:
            await self._unload()
            await self._run(self.unit.start)
        except ConfigError:
            if before is None:
                self.unit.path.unlink(missing_ok=True)
            else:
                self.unit.path.write_text(before, "utf-8")
                with suppress(ConfigError):
                    await self._run(self.unit.start)
            raise

    async def comes_up(self, works: Callable[[], bool]) -> bool:
        """Whether what was started does its work after a while, and still runs then."""
        for _ in range(_PAUSES):
            if not await self.running():
                return False
            if works():
                await self._pause()  # one that cannot go on ends here
                return await self.running()
            await self._pause()
        return False

    async def remove(self) -> bool:
        """End it and delete the unit; False where there is none.

        Raises:
            ConfigError: As `install`.
        """
        if self._text() is None:
            return False
        await self._require_manager()
        await self._unload()
        await self._run(self.unit.end)
        self.unit.path.unlink(missing_ok=True)
        return True

    def is_installed(self) -> bool:
        """Whether the unit is there. Raises `ConfigError` where it is somebody else's."""
        return self._text() is not None

    def current(self) -> bool:
        """Whether the unit that is there is the one that would be written now."""
        return self._text() == self.unit.text

    async def running(self) -> bool:
        """Whether the service manager says that it runs."""
        try:
            await self._ask(self.unit.state)
        except SandboxError:
            return False
        return True

    def _text(self) -> str | None:
        try:
            text = self.unit.path.read_text("utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(
                f"{self.unit.path} cannot be read: {reason(error)}.", code="E_CFG_SERVICE_FILE"
            ) from error
        if _MARK not in text:
            raise ConfigError(
                f"{self.unit.path} was not made by Silas; move it away first.",
                code="E_CFG_SERVICE_FOREIGN",
            )
        return text

    async def _require_manager(self) -> None:
        try:
            await self._ask(self.unit.reach)
        except SandboxError as error:
            raise ConfigError(
                f"{error.message.rstrip('.')}; nothing was changed. Log in as the owner, not by "
                "`su`, or keep `silas start` running yourself.",
                code="E_CFG_SERVICE_MANAGER",
            ) from error

    async def _unload(self) -> None:
        """End what the service manager has, where it takes no second; return when it is gone."""
        if not self.unit.unload or not await self.running():
            return
        said = f"{self.unit.name} does not end."
        try:
            await self._run(self.unit.unload)
        except ConfigError as error:  # "in progress" is one, too
            said = error.message
        for _ in range(_PAUSES):
            if not await self.running():
                return
            await self._pause()
        raise ConfigError(said, code="E_CFG_SERVICE_MANAGER")

    async def _run(self, commands: Sequence[Sequence[str]]) -> None:
        for command in commands:
            try:
                await self._ask(command)
            except SandboxError as error:
                raise ConfigError(error.message, code="E_CFG_SERVICE_MANAGER") from error


def unseen_keys(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Variables that hold a provider's key here; a service has none of them."""
    from silas.agents.providers.hosted import keys_present  # noqa: PLC0415 - PydanticAI

    return tuple(one.variable for one in keys_present(environ))


async def pause_a_moment() -> None:
    """Return after half a second of this machine's clock."""
    await SystemClock().sleep(_PAUSE_SECONDS)


async def ask_service_manager(argv: Sequence[str]) -> bytes:
    """Run a command of the service manager's. Raises `SandboxError` where it fails."""
    found = shutil.which(argv[0]) or argv[0]
    return await ask_owner_program((found, *argv[1:]), _WAIT, _SESSION)


def _systemd(
    name: str, folder: Path, kept: Mapping[str, str], argv: Sequence[str], place: Path
) -> ServiceUnit:
    lines = (
        f"# {_MARK}; `silas service remove` deletes it.",
        "[Unit]",
        "Description=Silas, so that reminders and goals come when they are due",
        "",
        "[Service]",
        f"ExecStart={' '.join(_systemd_word(word, dollar=True) for word in _startable(argv))}",
        f"WorkingDirectory={_systemd_value(str(place))}",
        *(f"Environment={_systemd_word(f'{name}={value}')}" for name, value in kept.items()),
        "Restart=on-failure",
        "RestartSec=10",
        "KillSignal=SIGTERM",
        "UMask=0077",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    )
    ask = ("systemctl", "--user")
    return ServiceUnit(
        name=name,
        path=folder / "systemd" / "user" / name,
        text="\n".join(lines),
        reach=(*ask, "show-environment"),
        unload=(),  # `restart` takes the unit that was read again
        start=(
            (*ask, "daemon-reload"),
            (*ask, "enable", name),
            (*ask, "restart", name),
        ),
        end=((*ask, "disable", "--now", name),),
        state=(*ask, "is-active", "--quiet", name),
    )


def _launchd(
    name: str, home: Path, uid: int, kept: Mapping[str, str], argv: Sequence[str], place: Path
) -> ServiceUnit:
    path = home / "Library" / "LaunchAgents" / f"{name}.plist"
    described = {
        "Label": name,
        "ProgramArguments": list(argv),
        "WorkingDirectory": str(place),
        "EnvironmentVariables": dict(kept),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "Umask": 0o077,
    }
    domain = f"gui/{uid}"
    return ServiceUnit(
        name=name,
        path=path,
        text=plistlib.dumps(described)
        .decode("utf-8")
        .replace("<dict>", f"<!-- {_MARK} -->\n<dict>", 1),
        reach=("launchctl", "print", domain),
        unload=(("launchctl", "bootout", f"{domain}/{name}"),),
        start=(("launchctl", "bootstrap", domain, str(path)),),
        end=(),
        state=("launchctl", "print", f"{domain}/{name}"),
    )


def _startable(argv: Sequence[str]) -> Sequence[str]:
    """A command that systemd starts: it takes no program whose path holds quotes, `\\` or `$`."""
    if _UNSAFE.isdisjoint(argv[0]):
        return argv
    return ("/bin/sh", "-c", 'exec "$0" "$@"', *argv)


def _systemd_value(text: str) -> str:
    """As systemd reads a value: `%` begins a specifier."""
    return text.replace("%", "%%")


def _systemd_word(text: str, *, dollar: bool = False) -> str:
    """One word of a command or an assignment, whatever it holds."""
    inner = _systemd_value(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner.replace("$", "$$") if dollar else inner}"'
