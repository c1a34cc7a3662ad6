"""Attacks on files, as they run inside the sandbox. Standard library only.

Each takes what the host set up for it and returns what it learned; an `OSError` is a refusal.
"""

import ctypes
import mmap
import os
import stat
import struct
from pathlib import Path

from silas.sandbox.conformance.attack_calls import At
from silas.sandbox.conformance.system_calls import call

_HELD: list[object] = []
_MEBIBYTE = 1 << 20
_AT_FDCWD = -100
_HANDLE_BYTES = 128
_BIND, _REMOUNT = 4096, 32


def read(at: At) -> str:
    """Read a file of the host."""
    return Path(at["path"]).read_bytes().decode("utf-8", "replace")


def append(at: At) -> str:
    """Add to a file of the host."""
    with open(at["path"], "ab") as file:
        file.write(b"planted\n")
    return "written"


def create(at: At) -> str:
    """Make a file somewhere on the host."""
    Path(at["path"]).write_text("planted", encoding="utf-8")
    return "written"


def delete(at: At) -> str:
    """Delete a file of the host."""
    os.unlink(at["path"])
    return "deleted"


def rename(at: At) -> str:
    """Move something of the host away, and put something else in its place."""
    os.rename(at["path"], at["path"] + ".moved")
    Path(at["path"]).write_text("planted", encoding="utf-8")
    return "moved"


def truncate(at: At) -> str:
    """Empty a file of the host."""
    os.truncate(at["path"], 0)
    return "emptied"


def change_mode(at: At) -> str:
    """Change the mode of a file of the host."""
    os.chmod(at["path"], at["mode"])
    return "changed"


def create_with_mode(at: At) -> str:
    """Make a file with special bits right away."""
    os.umask(0)
    os.close(os.open(at["path"], os.O_CREAT | os.O_WRONLY, at["mode"]))
    return "made"


def change_mode_2(at: At) -> str:
    """Change a mode with the newest call for it, which has a number of its own."""
    call("fchmodat2", _AT_FDCWD, at["path"].encode(), at["mode"], 0)
    return "changed"


def times(at: At) -> str:
    """Change the times of a file of the host."""
    os.utime(at["path"], (0, 0))
    return "changed"


def link_and_read(at: At) -> str:
    """Make a symbolic link in the workspace and read through it."""
    os.symlink(at["path"], at["link"])
    return Path(at["link"]).read_text(encoding="utf-8")


def hard_link_and_read(at: At) -> str:
    """Give a file of the host a second name in the workspace."""
    os.link(at["path"], at["link"])
    return Path(at["link"]).read_text(encoding="utf-8")


def hard_link_in_place(at: At) -> str:
    """Write through a second name, after making the file's directory the current one."""
    os.chdir(at["folder"])
    os.link(at["name"], at["link"])
    return append({"path": at["link"]})


def list_directory(at: At) -> str:
    """Name what a directory of the host holds."""
    folder: str = at["path"]
    return "\n".join(os.listdir(folder))


def make_device(at: At) -> str:
    """Make a device node of a disk in the workspace."""
    os.mknod(at["path"], at["kind"] | 0o600, os.makedev(at["major"], at["minor"]))
    return "made"


def open_to_read(at: At) -> str:
    """Open something for reading and keep it open."""
    _HELD.append(os.open(at["path"], os.O_RDONLY | os.O_NONBLOCK))
    return "open"


def open_to_write(at: At) -> str:
    """Open something for writing, write nothing, keep it open."""
    _HELD.append(os.open(at["path"], os.O_WRONLY))
    return "open"


def mount_memory(at: At) -> str:
    """Mount a file system over a directory of the workspace."""
    call("mount", b"none", at["path"].encode(), b"tmpfs", 0, None)
    return "mounted"


def mount_bind(at: At) -> str:
    """Show a directory at a second place."""
    call("mount", at["source"].encode(), at["path"].encode(), None, _BIND, None)
    return "mounted"


def remount(at: At) -> str:
    """Make what is mounted read-only writable."""
    call("mount", None, at["path"].encode(), None, _REMOUNT | _BIND, None)
    return "remounted"


def mount_process_list(at: At) -> str:
    """Mount a fresh list of processes, past what was hidden in the old one."""
    call("mount", b"proc", at["path"].encode(), b"proc", 0, None)
    return "mounted"


def new_mount_interface(at: At) -> str:
    """Open a file system with the calls that replace `mount`."""
    del at
    call("fsopen", b"tmpfs", 0)
    return "opened"


def clone_mount(at: At) -> str:
    """Copy a mount with the calls that replace `mount`."""
    call("open_tree", _AT_FDCWD, at["path"].encode(), 1)  # OPEN_TREE_CLONE
    return "copied"


def pivot(at: At) -> str:
    """Make another directory the root."""
    os.makedirs(at["path"] + "/old", exist_ok=True)
    path = at["path"].encode()
    call("mount", path, path, None, _BIND, None)
    call("pivot_root", path, path + b"/old")
    return "turned"


def unmount(at: At) -> str:
    """Take away a mount that covers something."""
    call("umount2", at["path"].encode(), 2)  # MNT_DETACH
    return "uncovered"


def by_handle(at: At) -> str:
    """Open a file by its number, past every path."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", _HANDLE_BYTES, 0), _HANDLE_BYTES + 8)
    number = ctypes.c_int()
    call("name_to_handle_at", _AT_FDCWD, at["path"].encode(), handle, ctypes.byref(number), 0)
    folder = os.open(".", os.O_RDONLY)
    descriptor = call("open_by_handle_at", folder, handle, os.O_RDONLY)
    return os.read(descriptor, 200).decode()


def file_capability(at: At) -> str:
    """Give a program in the workspace a capability for whoever starts it."""
    every = 0xFFFFFFFF
    os.setxattr(
        at["path"], "security.capability", struct.pack("<5I", 0x02000001, every, every, 0, 0)
    )
    return "given"


def watch(at: At) -> str:
    """Watch every file of a file system."""
    call("fanotify_init", 0, 0)
    return at["path"]


def fill(at: At) -> str:
    """Write many files of one MiB, and report only if all of them fit."""
    os.mkdir(at["path"])
    for number in range(at["files"]):
        with open(f"{at['path']}/{number}", "wb") as file:
            file.write(bytes(_MEBIBYTE))
    return "stood"


def grow(at: At) -> str:
    """Write one file beyond every size."""
    with open(at["path"], "wb", buffering=0) as file:
        for _ in range(at["mebibytes"]):
            file.write(bytes(_MEBIBYTE))
    return "stood"


def shared_memory(at: At) -> str:
    """Map the host's shared memory and read it."""
    descriptor = os.open(at["path"], os.O_RDWR)
    with mmap.mmap(descriptor, os.fstat(descriptor).st_size) as shared:
        return shared[:].decode()


def swap_directory(at: At) -> str:
    """Move a directory away and put one of one's own in its place."""
    os.rename(at["path"], at["path"] + ".moved")
    os.mkdir(at["path"])
    return create({"path": at["path"] + "/" + at["name"]})


def any_block_device(at: At) -> str:
    """Find a disk among the device nodes and open it."""
    del at
    for name in sorted(os.listdir("/dev")):
        path = f"/dev/{name}"
        if stat.S_ISBLK(os.stat(path, follow_symlinks=False).st_mode):
            _HELD.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            return path
    raise FileNotFoundError(2, "no disk")
