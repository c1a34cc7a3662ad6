"""Conformance: nothing inside reads or changes a file of the host that it was not shown."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from silas.sandbox.conformance.models import (
    PROTECTED,
    AttackFile,
    AttackGroup,
    AttackStage,
    ConformanceCheck,
    Side,
    Trace,
    Untestable,
    in_group,
    own_name,
)
from silas.sandbox.conformance.stages import (
    AnswerStage,
    FilledDirectoryStage,
    HostFileStage,
    Mode,
    NewFileStage,
    OpenFileStage,
    ProcFileStage,
    Secret,
    Size,
    Victim,
)
from silas.sandbox.models import SandboxLimits

attack = AttackFile("attack_files")

_NEW_MOUNTS = 0x00020000
_MEBIBYTE = 1 << 20
_SMALL = SandboxLimits(memory_mb=1024, file_mb=8, wall_seconds=5.0)


def _read(side: Side) -> AttackStage:
    return Secret(side, {"path": str(side.make_hidden("read"))})


def _stage_changed(name: str, **at: Any) -> Callable[[Side], AttackStage]:
    """A file of the host, named to the attack, that must stay as it is."""

    def stage(side: Side) -> AttackStage:
        path = side.make_hidden(name)
        return HostFileStage(path, {"path": str(path), **at})

    return stage


def _new(side: Side) -> AttackStage:
    path = side.root / "new"
    return HostFileStage(path, {"path": str(path)})


def _dots(side: Side) -> AttackStage:
    side.make_hidden("dots")
    return Secret(side, {"path": "../dots"})


def _dots_changed(side: Side) -> AttackStage:
    return HostFileStage(side.make_hidden("dots-changed"), {"path": "../dots-changed"})


def _ready_link(side: Side) -> AttackStage:
    """A link that is in the workspace before the run."""
    (side.work / "ready").symlink_to(side.make_hidden("behind-link"))
    return Secret(side, {"path": "ready"})


def _ready_link_changed(side: Side) -> AttackStage:
    path = side.make_hidden("behind-other-link")
    (side.work / "other").symlink_to(path)
    return HostFileStage(path, {"path": "other"})


def _link(name: str) -> Callable[[Side], AttackStage]:
    return lambda side: Secret(side, {"path": str(side.make_hidden(name)), "link": f"link-{name}"})


def _hard_link_changed(side: Side) -> AttackStage:
    path = side.make_hidden("second-name")
    at = {"folder": str(path.parent), "name": path.name, "link": str(side.work / "second-name")}
    return HostFileStage(path, at)


def _in_home(name: str, *, change: bool) -> Callable[[Side], AttackStage]:
    """A file as programs keep it in the home directory; it stands in a directory of its own."""

    def stage(side: Side) -> AttackStage:
        def inside(folder: Path) -> AttackStage:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(side.secret, encoding="utf-8")
            at = {"path": str(path)}
            return HostFileStage(path, at) if change else Secret(side, at)

        return NewFileStage(inside, side.home)

    return stage


def _stage_guarded_file(*, change: bool) -> Callable[[Side], AttackStage]:
    """A file beside Silas's own database."""

    def stage(side: Side) -> AttackStage:
        folder = next((path for path in side.guarded if path.is_dir()), None)
        if folder is None:
            raise Untestable("there is no data directory yet; run `silas init`")

        def inside(below: Path) -> AttackStage:
            path = below / "silas.db"
            path.write_text(side.secret, encoding="utf-8")
            at = {"path": str(path)}
            return HostFileStage(path, at) if change else Secret(side, at)

        return NewFileStage(inside, folder)

    return stage


class _Through(Victim):
    """A process of the host by which its files may be reached."""

    def __init__(self, side: Side, way: str) -> None:
        super().__init__(side, told=True)
        self.at["path"] = f"/proc/{self.at['pid']}/{way.format(root=side.root)}"


def _through(way: str) -> Callable[[Side], AttackStage]:
    return lambda side: _Through(side, way)


class _SharedMemory(AttackStage):
    """Shared memory of a program of the host."""

    def __init__(self, side: Side) -> None:
        self._path = Path("/dev/shm", own_name())  # noqa: S108
        try:
            self._path.write_text(side.secret, encoding="utf-8")
        except OSError as error:
            raise Untestable(f"no shared memory on this machine: {error.strerror}") from error
        self._secret = side.secret
        super().__init__({"path": str(self._path)})

    def hit(self, trace: Trace) -> str:
        """It was read."""
        return "the secret came out" if self._secret in trace.told else ""

    def close(self) -> None:
        """Free it."""
        self._path.unlink(missing_ok=True)


def _stage_listed_folder(side: Side) -> AttackStage:
    """A directory of the host, whose names must not be known."""
    folder = side.root / "listed"
    folder.mkdir()
    (folder / side.secret).touch()
    return Secret(side, {"path": str(folder)})


def _repository(name: str, part: str = PROTECTED[0]) -> Callable[[Side], AttackStage]:
    def stage(side: Side) -> AttackStage:
        path = side.work / part / name
        return HostFileStage(path, {"path": str(path)})

    return stage


def _stage_swapped_folder(side: Side) -> AttackStage:
    folder = side.work / PROTECTED[1]
    return HostFileStage(folder / "hooks", {"path": str(folder), "name": "config"})


def _special(path: str, mode: int, *, ready: bool) -> Callable[[Side], AttackStage]:
    """A file in the workspace that may not get set-id bits."""

    def stage(side: Side) -> AttackStage:
        file = side.work / path
        if ready:
            file.touch(0o755)
        return Mode(file, {"path": path, "mode": mode})

    return stage


def _device(kind: int, major: int, minor: int) -> Callable[[Side], AttackStage]:
    class Made(AttackStage):
        def hit(self, trace: Trace) -> str:
            """The host sees a device node."""
            del trace
            found = stat.S_IFMT(path.lstat().st_mode) == kind if path.exists() else False
            return "there is a device node" if found else ""

    path = Path()

    def stage(side: Side) -> AttackStage:
        nonlocal path
        path = side.work / f"device-{major}"
        return Made({"path": path.name, "kind": kind, "major": major, "minor": minor})

    return stage


def _writable_kernel_file(*paths: str) -> Callable[[Side], AttackStage]:
    """Files by which the kernel is told to start programs; opened, never written."""
    return lambda side: OpenFileStage("|".join(f"^{path}" for path in paths), {"path": paths[0]})


def _release_agent(side: Side) -> AttackStage:
    del side
    found = sorted(Path("/sys/fs/cgroup").glob("*/release_agent"))
    if not found:
        raise Untestable("the control groups of this machine start no programs")
    return OpenFileStage(f"^{found[0]}", {"path": str(found[0])})


def _stage_mount(name: str, *, source: str = "") -> Callable[[Side], AttackStage]:
    """A directory of the workspace on which nothing may be mounted."""

    def stage(side: Side) -> AttackStage:
        (side.work / name).mkdir()
        at = {"path": str(side.work / name), "source": source or str(side.work)}
        return ProcFileStage("mountinfo", f" {side.work}/{name} ", "it is mounted", at)

    return stage


def _stage_pivot(side: Side) -> AttackStage:
    (side.work / "pivot").mkdir()
    return AnswerStage({"path": str(side.work / "pivot")})


class _Capable(AttackStage):
    """A program in the workspace that may not get capabilities."""

    def __init__(self, side: Side) -> None:
        self._path = side.work / "capable"
        self._path.touch(0o755)
        super().__init__({"path": "capable"})

    def hit(self, trace: Trace) -> str:
        """The host sees them."""
        del trace
        given = "security.capability" in os.listxattr(self._path)
        return "the program has capabilities" if given else ""


_check = in_group(AttackGroup.files)

FILES: tuple[ConformanceCheck, ...] = (
    _check("read", "No file outside is read.", attack.read, _read),
    _check("list", "No directory outside is listed.", attack.list_directory, _stage_listed_folder),
    _check("append", "No file outside is written.", attack.append, _stage_changed("append")),
    _check("create", "No file is made outside.", attack.create, _new),
    _check("delete", "No file outside is deleted.", attack.delete, _stage_changed("delete")),
    _check("rename", "No file outside is replaced.", attack.rename, _stage_changed("rename")),
    _check("truncate", "No file outside is emptied.", attack.truncate, _stage_changed("truncate")),
    _check("mode", "No file outside changes its mode.",
           attack.change_mode, _stage_changed("mode", mode=0o777)),
    _check("times", "No file outside changes its times.", attack.times, _stage_changed("times")),
    _check("dots-read", "`..` leads to nothing outside.", attack.read, _dots),
    _check("dots-write", "Nothing is written through `..`.", attack.append, _dots_changed),
    _check("ready-link-read", "A link found in the workspace leads nowhere.",
           attack.read, _ready_link),
    _check("ready-link-write", "Nothing is written through a link found in the workspace.",
           attack.append, _ready_link_changed),
    _check("own-link", "A link made in the workspace leads nowhere.",
           attack.link_and_read, _link("own")),
    _check("hard-link", "No file outside gets a second name inside.",
           attack.hard_link_and_read, _link("hard")),
    _check("hard-link-write", "Nothing is written through a second name.",
           attack.hard_link_in_place, _hard_link_changed),
    _check("handle", "No file is opened by its number.", attack.by_handle, _link("handle")),
    _check("home-start-up", "Start-up files of the shell are not written.",
           attack.append, _in_home(".bashrc", change=True)),
    _check("home-autostart", "No program is put where the desktop starts it.",
           attack.append, _in_home(".config/autostart/x.desktop", change=True)),
    _check("ssh-key", "SSH keys are not read.",
           attack.read, _in_home(".ssh/id_ed25519", change=False)),
    _check("ssh-authorized", "No SSH key is let in.",
           attack.append, _in_home(".ssh/authorized_keys", change=True)),
    _check("cloud-key", "Cloud keys are not read.",
           attack.read, _in_home(".aws/credentials", change=False)),
    _check("browser", "Browser profiles are not read.",
           attack.read, _in_home(".mozilla/firefox/logins.json", change=False)),
    _check("audit-read", "Silas's own directory is not read.",
           attack.read, _stage_guarded_file(change=False)),
    _check("audit-write", "Silas's own directory is not written.",
           attack.append, _stage_guarded_file(change=True)),
    _check("proc-environment", "The environment of processes of the host is not read.",
           attack.read, _through("environ")),
    _check("proc-root", "No file is reached through the root of a process of the host.",
           attack.read, _through("root{root}/victim/secret")),
    _check("proc-cwd", "No file is reached through the directory of a process of the host.",
           attack.read, _through("cwd/secret")),
    _check("proc-fd", "No file that a process of the host has open is reached.",
           attack.read, _through("fd/0")),
    _check("shared-memory", "Shared memory of the host is not read.",
           attack.shared_memory, _SharedMemory),
    _check("git-hook", "Hooks of a repository are not written.",
           attack.append, _repository("hooks/pre-commit")),
    _check("git-config", "The configuration of a repository is not written.",
           attack.append, _repository("config")),
    _check("git-swap", "The history of a repository is not replaced.",
           attack.swap_directory, _stage_swapped_folder),
    _check("set-user-id", "No set-user-id file is left in a workspace.",
           attack.change_mode, _special("suid", 0o4755, ready=True)),
    _check("set-group-id", "No set-group-id file is left in a workspace.",
           attack.change_mode, _special("sgid", 0o2755, ready=True)),
    _check("set-id-created", "No file is made with set-id bits.",
           attack.create_with_mode, _special("made", 0o4755, ready=False)),
    _check("set-id-new-call", "The newest call for modes gives no set-id bits, either.",
           attack.change_mode_2, _special("new", 0o4755, ready=True)),
    _check("file-capability", "No program in a workspace gets capabilities.",
           attack.file_capability, _Capable, _NEW_MOUNTS),
    _check("character-device", "No character device is made.",
           attack.make_device, _device(stat.S_IFCHR, 1, 1)),
    _check("block-device", "No disk is made.",
           attack.make_device, _device(stat.S_IFBLK, 7, 0)),
    _check("disk", "No disk of the host can be opened.",
           attack.any_block_device, lambda side: OpenFileStage("^/dev/(?!null)")),
    _check("core-pattern", "The kernel is not told which program to start for a crash.",
           attack.open_to_write, _writable_kernel_file("/proc/sys/kernel/core_pattern")),
    _check("module-loader", "The kernel is not told which program loads modules.",
           attack.open_to_write, _writable_kernel_file("/proc/sys/kernel/modprobe")),
    _check("magic-keys", "The kernel takes no emergency command.",
           attack.open_to_write, _writable_kernel_file("/proc/sysrq-trigger")),
    _check("release-agent", "No control group is told which program to start.",
           attack.open_to_write, _release_agent),
    _check("kernel-tree", "The kernel's view of the machine is not there.",
           attack.open_to_read, lambda side: OpenFileStage("^/sys/", {"path": "/sys/kernel"})),
    _check("kernel-messages", "The kernel's messages cannot be opened.",
           attack.open_to_read, lambda side: OpenFileStage("^/dev/kmsg", {"path": "/dev/kmsg"})),
    _check("mount", "Nothing is mounted.",
           attack.mount_memory, _stage_mount("tmpfs"), _NEW_MOUNTS),
    _check("mount-bind", "Nothing is shown at a second place.",
           attack.mount_bind, _stage_mount("bind"), _NEW_MOUNTS),
    _check("mount-new-calls", "The calls that replace `mount` are refused.",
           attack.new_mount_interface, lambda side: OpenFileStage("fscontext"), _NEW_MOUNTS),
    _check("mount-copy", "No mount is copied.",
           attack.clone_mount, lambda side: AnswerStage({"path": str(side.work)}), _NEW_MOUNTS),
    _check("pivot-root", "No other directory becomes the root.",
           attack.pivot, _stage_pivot, _NEW_MOUNTS),
    _check("watch", "No file system is watched as a whole.",
           attack.watch, lambda side: OpenFileStage("fanotify", {"path": ""})),
    _check("file-size", "No file grows beyond its limit.",
           attack.grow, lambda side: Size(side.work / "big", 8 * _MEBIBYTE,
                                          {"path": "big", "mebibytes": 12}), limits=_SMALL),
    _check("disk-fill", "The private directories cannot be filled beyond their limit.",
           attack.fill, lambda side: FilledDirectoryStage("/tmp", 16),  # noqa: S108
           limits=_SMALL),
)  # fmt: skip
