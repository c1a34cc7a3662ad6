"""Which address of this machine a phone at home is told."""

from pathlib import Path

import pytest

from silas.errors import ConfigError
from silas.home.interfaces import (
    InterfaceAddress,
    choose_address,
    interface_addresses,
    is_private,
    phone_addresses,
    routed_interface,
)

LO = InterfaceAddress("127.0.0.1", "lo")
WIFI = InterfaceAddress("192.168.1.20", "wlan0")
DOCKER = InterfaceAddress("172.17.0.1", "docker0")
PUBLIC = InterfaceAddress("93.184.215.14", "eth0")
SHARED = InterfaceAddress("100.101.102.103", "tailscale0")


@pytest.mark.parametrize(
    ("wanted", "found", "usual", "chosen"),
    [
        ("", (LO, WIFI), "", WIFI),
        ("", (LO, DOCKER, WIFI), "wlan0", WIFI),
        ("docker0", (LO, DOCKER, WIFI), "wlan0", DOCKER),
        ("172.17.0.1", (LO, DOCKER, WIFI), "wlan0", DOCKER),
        ("lo", (LO, WIFI), "wlan0", LO),
        ("100.101.102.103", (LO, SHARED), "", SHARED),
    ],
)
def test_the_usual_network_is_taken_unless_another_is_named(
    wanted: str, found: tuple[InterfaceAddress, ...], usual: str, chosen: InterfaceAddress
) -> None:
    assert choose_address(wanted, found, usual) == chosen


@pytest.mark.parametrize(
    ("wanted", "found", "usual", "words"),
    [
        ("", (LO,), "", "connect it to your home network first"),
        ("", (LO, PUBLIC), "eth0", "connect it to your home network first"),
        ("", (LO, WIFI, DOCKER), "eth0", "choose one of 192.168.1.20"),
        ("eth0", (LO, PUBLIC, WIFI), "eth0", "is reached from the internet"),
        ("10.0.0.9", (LO, WIFI), "wlan0", "no address or interface 10.0.0.9"),
    ],
)
def test_what_is_unclear_or_public_is_refused_with_what_to_choose(
    wanted: str, found: tuple[InterfaceAddress, ...], usual: str, words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as raised:
        choose_address(wanted, found, usual)
    assert raised.value.code == "E_CFG_PHONE_ADDRESS"
    assert "--phone-address" in raised.value.message


def test_the_wanted_address_comes_first_and_loopback_is_not_offered() -> None:
    found = (LO, DOCKER, PUBLIC, WIFI)
    assert phone_addresses(found, "wlan0") == [WIFI, DOCKER]
    assert phone_addresses(found, "wlan0", "docker0") == [DOCKER, WIFI]


def test_this_machine_has_loopback_and_the_default_route_is_read(tmp_path: Path) -> None:
    assert LO in interface_addresses()
    table = tmp_path / "route"
    head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
    rows = (
        "eth0\t00000000\t0102A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
        "wlan0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
        "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n"
    )
    table.write_text(head + rows)
    assert routed_interface(table) == "wlan0"
    table.write_text("torn")
    assert routed_interface(table) == ""
    assert routed_interface(tmp_path / "none") == ""


def test_what_the_internet_reaches_is_not_private() -> None:
    assert [is_private(one.address) for one in (LO, WIFI, DOCKER, SHARED, PUBLIC)] == [
        True,
        True,
        True,
        True,
        False,
    ]
