"""The addresses of this machine, and which of them a phone at home reaches."""

import fcntl
import ipaddress
import re
import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from silas.errors import ConfigError

_FLAGS, _ADDRESS, _UP = 0x8913, 0x8915, 0x1  # <linux/sockios.h>, <linux/if.h>
_EVERYWHERE = "00000000"  # destination and mask of a default route, as the kernel writes them
_SHARED = ipaddress.IPv4Network("100.64.0.0/10")  # what overlay networks and carriers give out
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_INTERFACE = struct.Struct("256s")


class InterfaceAddress(NamedTuple):
    """An IPv4 address of this machine, and the network interface that has it."""

    address: str
    interface: str


def interface_addresses() -> tuple[InterfaceAddress, ...]:
    """The IPv4 address of each interface that is up, in the system's order. Linux only."""
    found = list[InterfaceAddress]()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            wanted = _INTERFACE.pack(name.encode()[:15])
            try:
                (flags,) = struct.unpack_from("H", fcntl.ioctl(asking, _FLAGS, wanted), 16)
                address = socket.inet_ntoa(fcntl.ioctl(asking, _ADDRESS, wanted)[20:24])
            except OSError:  # it has no IPv4 address, or is gone
                continue
            if flags & _UP:
                found.append(InterfaceAddress(address, name))
    return tuple(found)


def routed_interface(routes: Path = Path("/proc/net/route")) -> str:
    """The interface by which this machine reaches others; empty where it reaches none."""
    try:
        rows = [line.split() for line in routes.read_text("ascii").splitlines()[1:]]
        found = [(int(row[6]), row[0]) for row in rows if row[1] == row[7] == _EVERYWHERE]
    except (OSError, ValueError, IndexError):
        return ""
    return min(found, default=(0, ""))[1]


def is_address_here(address: str) -> bool:
    """Whether a server of this machine can listen at an IP address, on some port."""
    plain = address.strip("[]")
    family = socket.AF_INET6 if ":" in plain else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listening:
            listening.bind((plain, 0))
    except OSError:
        return False
    return True


def local_name() -> tuple[str, ...]:
    """The name of this machine in a home network, if it has one that can be asked for there."""
    name = socket.gethostname().partition(".")[0].lower()
    fit = _LABEL.fullmatch(name) and name != "localhost"
    return (f"{name}.local",) if fit else ()


def phone_addresses(
    found: Sequence[InterfaceAddress], usual: str, wanted: str = ""
) -> list[InterfaceAddress]:
    """Those that a phone at home may reach: private, no loopback; the wanted one first."""
    fit = [one for one in found if is_private(one.address) and not _own(one.address)]
    return sorted(fit, key=lambda one: (wanted not in one, one.interface != usual))


def choose_address(wanted: str, found: Sequence[InterfaceAddress], usual: str) -> InterfaceAddress:
    """Where to listen for a phone.

    Args:
        wanted: An address or an interface; empty for the usual one.
        found: What there is.
        usual: See `routed_interface`.

    Raises:
        ConfigError: `E_CFG_PHONE_ADDRESS`: it is not there, is reached from the internet, or none
            was named and there is not exactly one to choose.
    """
    fit = phone_addresses(found, usual)
    if wanted:
        chosen = [one for one in found if wanted in one]
        if not chosen:
            raise _no(f"This machine has no address or interface {wanted}", fit)
        if not is_private(chosen[0].address):
            raise _no(
                f"{chosen[0].address} is reached from the internet, and a phone at home is for a "
                "private network",
                fit,
            )
        return chosen[0]
    if fit and (fit[0].interface == usual or len(fit) == 1):
        return fit[0]
    raise _no("It is not clear at which address your phone reaches this machine", fit)


def is_private(address: str) -> bool:
    """Whether nobody on the internet reaches it: a home's, a company's, or an overlay's address."""
    found = ipaddress.IPv4Address(address)
    return found.is_private or found in _SHARED


def _own(address: str) -> bool:
    return ipaddress.IPv4Address(address).is_loopback


def _no(what: str, fit: Sequence[InterfaceAddress]) -> ConfigError:
    there = ", ".join(f"{one.address} ({one.interface})" for one in fit)
    choose = f"choose one of {there}" if there else "connect it to your home network first"
    return ConfigError(
        f"{what}; {choose} with `--phone-address` or channels.web.phone.address.",
        code="E_CFG_PHONE_ADDRESS",
    )
