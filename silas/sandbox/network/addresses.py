"""Which resolved addresses a sandbox may be connected to: public ones, decided by one table."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_NOT_PUBLIC_4 = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by carriers; a cloud's metadata is in it, too
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's own services, on a public number
            "169.254.0.0/16",  # link-local, and the metadata of most clouds
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved and broadcast
        ),
    )
)
_UNICAST_6 = ip_network("2000::/3")
"""All that is ever public. Loopback, mapped and compatible IPv4, NAT64, unique local and link-local
addresses and multicast lie outside."""
_NOT_PUBLIC_6 = tuple(
    map(
        ip_network,
        (
            "2001::/23",  # protocols, among them Teredo, which carries an IPv4 address
            "2001:db8::/32",
            "2002::/16",  # 6to4: carries an IPv4 address
            "3fff::/20",
        ),
    )
)


def is_public(text: str) -> bool:
    """Whether this is a global unicast address that stands for itself and for no other one."""
    if "%" in text:  # a zone: it belongs to one of this machine's links
        return False
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return address.is_global and _in_no_special_range(address)


def _in_no_special_range(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)
