"""Attacks on the network, as they run inside the sandbox. Standard library only.

Each takes what the host set up for it and returns what it learned; an `OSError` is a refusal.
"""

import ctypes
import os
import socket
import struct
from pathlib import Path

from silas.sandbox.conformance.attack_calls import At
from silas.sandbox.conformance.system_calls import call

_SECONDS = 1.5
_HELD: list[object] = []
"""What an attack got stays open while the host looks at the process."""


def tcp(at: At) -> str:
    """Connect to a service of the host and say something."""
    with socket.create_connection((at["host"], at["port"]), _SECONDS) as connection:
        connection.sendall(b"hello")
    return "connected"


def udp(at: At) -> str:
    """Send one datagram to a service of the host."""
    family = socket.AF_INET6 if ":" in at["host"] else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"hello", (at["host"], at["port"]))
    return "sent"


def dns(at: At) -> str:
    """Ask a name server of the host for a name."""
    query = struct.pack(">6H", 4711, 0x0100, 1, 0, 0, 0)
    query += b"\x07example\x03com\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.sendto(query, (at["host"], at["port"]))
    return "asked"


def resolver(at: At) -> str:
    """Read which name servers this machine asks."""
    return Path(at["path"]).read_text(encoding="utf-8")


def make_socket(at: At) -> str:
    """Make a socket of some family, and keep it."""
    _HELD.append(socket.socket(at["family"], at["kind"], at["protocol"]))
    return "made"


def unix(at: At) -> str:
    """Connect to a Unix socket of the host, by path or by abstract name."""
    name = at["path"] if "path" in at else "\0" + at["abstract"]
    with socket.socket(socket.AF_UNIX, at["kind"]) as connection:
        connection.connect(name)
        connection.send(b"hello")
    return "connected"


def io_uring(at: At) -> str:
    """Make a ring, whose operations no system-call filter sees."""
    del at
    _HELD.append(call("io_uring_setup", 4, ctypes.create_string_buffer(128)))
    return "made"


def descriptors(at: At) -> str:
    """Read from and write to every descriptor that was not opened here."""
    found: list[str] = []
    for descriptor in range(3, at["highest"] + 1):
        for attempt in (_read, _write):
            try:
                found.append(attempt(descriptor))
            except OSError:
                continue
    return " ".join(found)


def _read(descriptor: int) -> str:
    return os.pread(descriptor, 100, 0).decode("utf-8", "replace")


def _write(descriptor: int) -> str:
    """Only sockets: a stray byte elsewhere could do harm in the control."""
    with socket.socket(fileno=os.dup(descriptor)) as inherited:
        inherited.send(b"hello", socket.MSG_DONTWAIT)
    return "sent"


def nothing(at: At) -> str:
    """Only be there to be looked at."""
    del at
    return "here"


def ports(at: At) -> str:
    """Read which ports are in use on this machine."""
    return Path(at["path"]).read_text(encoding="utf-8")


def server(at: At) -> str:
    """Offer a service on a port, for the host to find."""
    listener = socket.create_server(("127.0.0.1", at["port"]))
    _HELD.append(listener)
    return "listening"


def multicast(at: At) -> str:
    """Send to a group that a program of the host has joined."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        local = socket.inet_aton("127.0.0.1")
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, local)
        sender.sendto(b"hello", (at["group"], at["port"]))
    return "sent"
