"""Conformance: nothing inside reaches the network, nor any socket of the host."""

import errno
import fcntl
import os
import socket
import struct
from contextlib import ExitStack
from pathlib import Path

from silas.sandbox.conformance.models import (
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
from silas.sandbox.conformance.stages import OpenFileStage, ProcFileStage, stage_listener

attack = AttackFile("attack_network")

_NEW_NETWORK = 0x40000000
_ANY_PORT = 0
_GROUP = "239.255.77.77"
_ADDRESS_OF = 0x8915  # SIOCGIFADDR
_ALL_PROTOCOLS = 0x0300  # ETH_P_ALL in network order
_VSOCK = 40
_ALGORITHMS = 38


def _tcp(host: str, family: int = socket.AF_INET) -> AttackStage:
    return stage_listener(family, socket.SOCK_STREAM, (host, _ANY_PORT), {})


def _udp(host: str, family: int = socket.AF_INET) -> AttackStage:
    return stage_listener(family, socket.SOCK_DGRAM, (host, _ANY_PORT), {})


def _own_address(side: Side) -> AttackStage:
    """A service on the address by which other machines know this one."""
    del side
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            request = struct.pack("16s24x", name.encode())
            try:
                answer = fcntl.ioctl(asking, _ADDRESS_OF, request)
            except OSError:  # a device without an address
                continue
            address = socket.inet_ntoa(answer[20:24])
            if not address.startswith("127."):
                return _tcp(address)
    raise Untestable("this machine has no address but its loopback")


class _Multicast(AttackStage):
    """A program of the host that joined a group."""

    def __init__(self) -> None:
        self._service = stage_listener(socket.AF_INET, socket.SOCK_DGRAM, ("", _ANY_PORT), {})
        super().__init__({"group": _GROUP, "port": self._service.at["port"]})
        wanted = socket.inet_aton(_GROUP) + socket.inet_aton("127.0.0.1")
        try:
            self._service.option(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, wanted)
        except OSError as error:
            self.close()
            raise Untestable(f"no group can be joined here: {error.strerror}") from error

    def hit(self, trace: Trace) -> str:
        """The datagram arrived."""
        return self._service.hit(trace)

    def close(self) -> None:
        """Leave it."""
        self._service.close()


def _unix_path(side: Side, kind: int) -> AttackStage:
    path = str(side.root / f"socket-{kind}")
    return stage_listener(socket.AF_UNIX, kind, path, {"path": path, "kind": kind})


def _unix_abstract(kind: int) -> AttackStage:
    name = own_name()
    return stage_listener(socket.AF_UNIX, kind, "\0" + name, {"abstract": name, "kind": kind})


class _Inherited(AttackStage):
    """A file or a socket that the program around the sandbox left open for whoever it starts."""

    def __init__(self, side: Side) -> None:
        self._owned = ExitStack()
        self._file = open(side.make_hidden("inherited"), "rb")  # noqa: SIM115 - closed with the stage
        self._owned.callback(self._file.close)
        self._mine, theirs = socket.socketpair()
        self._owned.callback(self._mine.close)
        self._owned.callback(theirs.close)
        self._mine.setblocking(False)
        for descriptor in (self._file.fileno(), theirs.fileno()):
            os.set_inheritable(descriptor, True)
        self._secret = side.secret
        super().__init__({"highest": max(self._file.fileno(), theirs.fileno())})

    def hit(self, trace: Trace) -> str:
        """The file was read, or something came through the socket."""
        if self._secret in trace.told:
            return "the secret came out"
        try:
            return f"{len(self._mine.recv(100))} bytes arrived"
        except BlockingIOError:
            return ""

    def close(self) -> None:
        """Close both."""
        self._owned.close()


class _SameText(AttackStage):
    """A file of the host whose content must not be known inside."""

    def __init__(self, path: str) -> None:
        try:
            self._content = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise Untestable(f"{path} cannot be read here: {error.strerror}") from error
        if not self._content:
            raise Untestable(f"{path} is empty here")
        super().__init__({"path": path})

    def hit(self, trace: Trace) -> str:
        """It came out."""
        return "its content is known" if self._content in trace.told else ""


class _PortList(AttackStage):
    """A service of the host, whose port must not be seen inside."""

    def __init__(self) -> None:
        self._service = _tcp("127.0.0.1")
        super().__init__({"path": "/proc/net/tcp"})

    def hit(self, trace: Trace) -> str:
        """Its port is in the list."""
        return "it is listed" if f":{self._service.at['port']:04X} " in trace.told else ""

    def close(self) -> None:
        """End the service."""
        self._service.close()


class _Served(AttackStage):
    """A port on which the host must find nothing offered from inside."""

    looks = True

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", _ANY_PORT)) as free:
            super().__init__({"port": free.getsockname()[1]})

    def look(self, pid: int) -> str:
        """The host tries to connect."""
        del pid
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as asking:
            asking.settimeout(1)
            refused = asking.connect_ex(("127.0.0.1", self.at["port"]))
        return "" if refused == errno.ECONNREFUSED else "the host can connect to it"


def _holds_socket(family: int, kind: int, protocol: int = 0) -> AttackStage:
    return OpenFileStage("^socket:", {"family": family, "kind": kind, "protocol": protocol})


_check = in_group(AttackGroup.network)

_V6 = socket.AF_INET6
_STREAM, _DATAGRAM, _RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW

NETWORK: tuple[ConformanceCheck, ...] = (
    _check("tcp-ipv4", "No TCP connection reaches the host.",
           attack.tcp, lambda side: _tcp("127.0.0.1")),
    _check("tcp-ipv6", "No TCP connection reaches the host over IPv6.",
           attack.tcp, lambda side: _tcp("::1", _V6)),
    _check("tcp-own-address", "No TCP connection reaches the address of this machine.",
           attack.tcp, _own_address),
    _check("udp-ipv4", "No datagram reaches the host.",
           attack.udp, lambda side: _udp("127.0.0.1")),
    _check("udp-ipv6", "No datagram reaches the host over IPv6.",
           attack.udp, lambda side: _udp("::1", _V6)),
    _check("multicast", "No datagram reaches a group.",
           attack.multicast, lambda side: _Multicast()),
    _check("dns-query", "No name server can be asked.",
           attack.dns, lambda side: _udp("127.0.0.1")),
    _check("dns-resolver", "Nothing inside knows which name servers there are.",
           attack.resolver, lambda side: _SameText("/etc/resolv.conf")),
    _check("devices", "There is no network device but the private loopback.",
           attack.nothing,
           lambda side: ProcFileStage(
               "net/dev", r"^\s*(?!lo:)[^\s:|]+:", "it has a network device")),
    _check("port-list", "The ports in use on the host are not visible.",
           attack.ports, lambda side: _PortList()),
    _check("server", "A service offered inside is not reachable from the host.",
           attack.server, lambda side: _Served()),
    _check("raw-socket", "No raw socket can be made.",
           attack.make_socket, lambda side: _holds_socket(socket.AF_INET, _RAW, 1), _NEW_NETWORK),
    _check("raw-socket-ipv6", "No raw socket can be made for IPv6.",
           attack.make_socket, lambda side: _holds_socket(_V6, _RAW, 58), _NEW_NETWORK),
    _check("packet-socket", "No packet socket can be made.",
           attack.make_socket,
           lambda side: _holds_socket(socket.AF_PACKET, _RAW, _ALL_PROTOCOLS), _NEW_NETWORK),
    _check("netlink", "The kernel's network configuration cannot be talked to.",
           attack.make_socket, lambda side: _holds_socket(socket.AF_NETLINK, _RAW)),
    _check("vsock", "The hypervisor cannot be talked to.",
           attack.make_socket, lambda side: _holds_socket(_VSOCK, _STREAM)),
    _check("algorithm-socket", "The kernel's ciphers cannot be reached by sockets.",
           attack.make_socket, lambda side: _holds_socket(_ALGORITHMS, socket.SOCK_SEQPACKET)),
    _check("unix-path", "No Unix socket of the host can be reached by its path.",
           attack.unix, lambda side: _unix_path(side, _STREAM)),
    _check("unix-path-datagram", "No datagram reaches a Unix socket of the host by its path.",
           attack.unix, lambda side: _unix_path(side, _DATAGRAM)),
    _check("unix-abstract", "No Unix socket of the host can be reached by an abstract name.",
           attack.unix, lambda side: _unix_abstract(_STREAM)),
    _check("unix-abstract-datagram", "No datagram reaches an abstract Unix socket of the host.",
           attack.unix, lambda side: _unix_abstract(_DATAGRAM)),
    _check("io-uring", "No ring can be made, whose operations pass every filter.",
           attack.io_uring, lambda side: OpenFileStage("io_uring")),
    _check("inherited-descriptors", "No open file or socket is inherited.",
           attack.descriptors, _Inherited),
)  # fmt: skip
