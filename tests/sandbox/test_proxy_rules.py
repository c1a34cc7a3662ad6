"""What may leave a sandbox by name: hosts, requests, addresses and ClientHellos, rule by rule."""

import ipaddress
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.sandbox.network.addresses import is_public
from silas.sandbox.network.names import (
    WORDS,
    EgressRefused,
    Endpoint,
    Reason,
    endpoint,
    endpoints,
    endpoints_in,
)
from silas.sandbox.network.proxy_rules import ProxyRequest, read_request
from silas.sandbox.network.tls_hello import server_name

PYPI = Endpoint("pypi.org", 443)
PLAIN = Endpoint("pypi.org", 80)
ODD = Endpoint("api.example.org", 8443)
ALLOWED = frozenset({PYPI, PLAIN, ODD})


def refusal(head: str | bytes) -> Reason:
    raw = head if isinstance(head, bytes) else head.replace("\n", "\r\n").encode("latin-1")
    with pytest.raises(EgressRefused) as caught:
        read_request(raw + b"\r\n\r\n", ALLOWED)
    return caught.value.reason


def accepted(head: str) -> ProxyRequest:
    return read_request(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n", ALLOWED)


def hello(name: str | None) -> bytes:
    """A ClientHello as OpenSSL makes it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    out = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def grown(data: bytes, more: bytes) -> bytes:
    """A ClientHello with more in its message."""
    longer = (len(data) - 5 + len(more)).to_bytes(2, "big")
    inner = (len(data) - 9 + len(more)).to_bytes(3, "big")
    return data[:3] + longer + data[5:6] + inner + data[9:] + more


# Names.


def test_a_name_stands_for_https_and_http_and_one_with_a_port_for_that_port() -> None:
    assert endpoints("PyPI.org") == (PYPI, PLAIN)
    assert endpoints("api.example.org:8443") == (ODD,)


NO_NAMES = [
    ("127.0.0.1", Reason.literal),
    ("127.0.0.1:80", Reason.literal),
    ("2130706433", Reason.literal),
    ("0x7f000001", Reason.literal),
    ("0x7f.1", Reason.literal),
    ("127.1", Reason.literal),
    ("0177.0.0.1", Reason.literal),
    ("example.0x1", Reason.literal),
    ("[::1]", Reason.literal),
    ("[::1]:443", Reason.literal),
    ("::1", Reason.literal),
    ("::ffff:127.0.0.1", Reason.literal),
    ("[::ffff:169.254.169.254]:80", Reason.literal),
    ("pypi.org.", Reason.dot),
    ("pypi.org.:443", Reason.dot),
    ("xn--pypi-4ve.org", Reason.encoded),
    ("a.XN--P1AI", Reason.encoded),
    ("p\u0443pi.org", Reason.encoded),
    ("\uff50ypi.org", Reason.encoded),
    ("pypi\u3002org", Reason.encoded),
    ("user@pypi.org", Reason.user),
    ("user:pass@pypi.org:443", Reason.user),
    ("pypi.org:443@evil.example", Reason.user),
    ("pypi.org:0", Reason.port),
    ("pypi.org:", Reason.port),
    ("pypi.org:0443", Reason.port),
    ("pypi.org:65536", Reason.port),
    ("pypi.org:+443", Reason.port),
    ("pypi.org:443 ", Reason.port),
    ("", Reason.not_a_name),
    ("*", Reason.not_a_name),
    ("*.pypi.org", Reason.not_a_name),
    ("localhost", Reason.not_a_name),
    ("pypi..org", Reason.not_a_name),
    (".pypi.org", Reason.not_a_name),
    ("-pypi.org", Reason.not_a_name),
    ("pypi-.org", Reason.not_a_name),
    ("py_pi.org", Reason.not_a_name),
    ("pypi.org/x", Reason.not_a_name),
    ("pypi.org\\x", Reason.not_a_name),
    ("pypi.org%00", Reason.not_a_name),
    ("pypi.org\0", Reason.not_a_name),
    ("pypi.org\n", Reason.not_a_name),
    ("a" * 64 + ".org", Reason.not_a_name),
    (".".join(["abcdefg"] * 32) + ".org", Reason.not_a_name),
    ("https://pypi.org", Reason.not_a_name),
]


@pytest.mark.proves("B1-NAMED-HOSTS")
@pytest.mark.parametrize(("entry", "reason"), NO_NAMES)
def test_what_is_no_plain_name_is_refused_with_its_reason(entry: str, reason: Reason) -> None:
    with pytest.raises(EgressRefused) as caught:
        endpoints(entry)
    assert caught.value.reason is reason
    assert WORDS[reason] in caught.value.message
    assert caught.value.message.isprintable()


@given(st.text(max_size=80))
def test_whatever_the_text_is_a_name_is_plain_or_refused(text: str) -> None:
    try:
        there = endpoint(text, 443)
    except EgressRefused:
        return
    assert there.host.isascii()
    assert there.host == text.rpartition(":")[0].lower() or there.host == text.lower()
    with pytest.raises(ValueError, match="does not appear"):
        ipaddress.ip_address(there.host)


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("curl -sf https://api.kalshi.com/v1/health | jq -r .status", ["api.kalshi.com:443"]),
        ("curl 'http://a.example'", ["a.example:80"]),
        ('curl "https://B.example:8443"|jq', ["b.example:8443"]),
        ("curl https://a.example; curl https://a.example/x", ["a.example:443"]),
        ("curl https://a.example:80/", ["a.example:80"]),
        ("curl https://$HOST/", []),
        ("curl https://a.example$X/", []),
        ("curl https://user@a.example/", []),
        ("curl https://127.0.0.1/ http://[::1]/ http://localhost/", []),
        ("curl https://a.example./", []),
        ("curl ftp://a.example/ a.example", []),
        ("curl https://a.example\\@evil.example/", ["a.example:443"]),
        ("pytest", []),
    ],
)  # fmt: skip
def test_the_hosts_of_a_command_are_those_of_its_addresses(command: str, found: list[str]) -> None:
    assert [str(there) for there in endpoints_in(command)] == found


# Requests.


def test_a_tunnel_to_a_named_host_and_port_is_let_through() -> None:
    asked = accepted("CONNECT pypi.org:443 HTTP/1.1\nHost: PyPI.org:443\nUser-Agent: x")
    assert asked == ProxyRequest(PYPI, tunnel=True, head=b"", body=0)
    assert accepted("CONNECT pypi.org:443 HTTP/1.0").endpoint == PYPI
    assert accepted("CONNECT pypi.org:443 HTTP/1.1\nHost: pypi.org").endpoint == PYPI


def test_a_fetch_is_sent_on_in_origin_form_with_a_host_and_without_what_is_for_the_proxy() -> None:
    asked = accepted(
        "POST http://PYPI.org/a?b=c#d HTTP/1.1\nHost: pypi.org:80\nProxy-Authorization: Basic x\n"
        "Connection: keep-alive, Content-Length\nUpgrade: websocket\nTE: trailers\nX-A:  b \n"
        "Content-Length: 3"
    )
    assert asked.head == (
        b"POST /a?b=c HTTP/1.1\r\nHost: pypi.org\r\nx-a: b\r\ncontent-length: 3\r\n"
        b"Connection: close\r\n\r\n"
    )
    assert (asked.endpoint, asked.tunnel, asked.body) == (PLAIN, False, 3)
    assert accepted("GET http://pypi.org?q HTTP/1.0").head.startswith(b"GET /?q HTTP/1.0\r\n")
    odd = accepted("GET http://api.example.org:8443 HTTP/1.1\nHost: api.example.org:8443")
    assert b"\r\nHost: api.example.org:8443\r\n" in odd.head


HOST = "\nHost: pypi.org"

REFUSED = [
    ("CONNECT evil.example:443 HTTP/1.1\nHost: evil.example:443", Reason.not_listed),
    ("CONNECT sub.pypi.org:443 HTTP/1.1\nHost: sub.pypi.org:443", Reason.not_listed),
    ("CONNECT pypi.org.evil.example:443 HTTP/1.1\nHost: pypi.org.evil.example", Reason.not_listed),
    ("CONNECT pypi.org:22 HTTP/1.1\nHost: pypi.org:22", Reason.port_not_listed),
    ("CONNECT api.example.org:443 HTTP/1.1\nHost: api.example.org", Reason.port_not_listed),
    ("CONNECT pypi.org HTTP/1.1" + HOST, Reason.port),
    ("CONNECT 127.0.0.1:443 HTTP/1.1\nHost: 127.0.0.1", Reason.literal),
    ("CONNECT [::1]:443 HTTP/1.1\nHost: [::1]", Reason.literal),
    ("CONNECT [::ffff:10.0.0.1]:443 HTTP/1.1\nHost: a", Reason.literal),
    ("CONNECT pypi.org.:443 HTTP/1.1" + HOST, Reason.dot),
    ("CONNECT xn--pypi-4ve.org:443 HTTP/1.1" + HOST, Reason.encoded),
    ("CONNECT a@pypi.org:443 HTTP/1.1" + HOST, Reason.user),
    ("CONNECT pypi.org:443 HTTP/1.1\nHost: evil.example", Reason.mismatch),
    ("CONNECT pypi.org:443 HTTP/1.1\nHost: pypi.org:80", Reason.mismatch),
    ("CONNECT pypi.org:443 HTTP/1.1", Reason.mismatch),
    ("CONNECT pypi.org:443 HTTP/1.1\nHost: pypi.org\nHost: pypi.org", Reason.mismatch),
    ("CONNECT pypi.org:443 HTTP/1.1\nHost: pypi.org\nContent-Length: 5", Reason.framing),
    ("CONNECT pypi.org:443 HTTP/1.1\nHost: pypi.org\nTransfer-Encoding: chunked", Reason.framing),
    ("CONNECT pypi.org:443/x HTTP/1.1" + HOST, Reason.port),
    ("GET / HTTP/1.1" + HOST, Reason.malformed),
    ("GET pypi.org/ HTTP/1.1" + HOST, Reason.malformed),
    ("GET https://pypi.org/ HTTP/1.1" + HOST, Reason.scheme),
    ("GET ftp://pypi.org/ HTTP/1.1" + HOST, Reason.scheme),
    ("GET file:///etc/passwd HTTP/1.1" + HOST, Reason.scheme),
    ("GET http://evil.example/ HTTP/1.1\nHost: evil.example", Reason.not_listed),
    ("GET http://evil.example/ HTTP/1.1" + HOST, Reason.mismatch),
    ("GET http://pypi.org/ HTTP/1.1\nHost: evil.example", Reason.mismatch),
    ("GET http://pypi.org/ HTTP/1.1\nHost: pypi.org\nHost: evil.example", Reason.mismatch),
    ("GET http://pypi.org/ HTTP/1.1\nHost: pypi.org, evil.example", Reason.mismatch),
    ("GET http://pypi.org/ HTTP/1.1\nHost:", Reason.mismatch),
    ("GET http://pypi.org/ HTTP/1.1", Reason.mismatch),
    ("GET http://pypi.org@evil.example/ HTTP/1.1" + HOST, Reason.user),
    ("GET http://pypi.org:80@evil.example/ HTTP/1.1" + HOST, Reason.user),
    ("GET http://169.254.169.254/latest HTTP/1.1\nHost: 169.254.169.254", Reason.literal),
    ("GET http://[fd00:ec2::254]/ HTTP/1.1\nHost: [fd00:ec2::254]", Reason.literal),
    ("GET http://pypi.org./ HTTP/1.1" + HOST, Reason.dot),
    ("GET http://pypi.org\\.evil.example/ HTTP/1.1" + HOST, Reason.malformed),
    ("GET http://pypi.org:8080/ HTTP/1.1\nHost: pypi.org:8080", Reason.port_not_listed),
    ("GET http:///x HTTP/1.1" + HOST, Reason.not_a_name),
    (f"POST http://pypi.org/ HTTP/1.1{HOST}\nTransfer-Encoding: chunked", Reason.framing),
    (
        f"POST http://pypi.org/ HTTP/1.1{HOST}\nContent-Length: 3\nTransfer-Encoding: chunked",
        Reason.framing,
    ),
    (f"POST http://pypi.org/ HTTP/1.1{HOST}\nContent-Length: 3\nContent-Length: 3", Reason.framing),
    (f"POST http://pypi.org/ HTTP/1.1{HOST}\nContent-Length: +3", Reason.framing),
    (f"POST http://pypi.org/ HTTP/1.1{HOST}\nContent-Length: 3, 3", Reason.framing),
    (f"POST http://pypi.org/ HTTP/1.1{HOST}\nContent-Length:", Reason.framing),
    (f"POST http://pypi.org/ HTTP/1.1{HOST}\nContent-Length : 3", Reason.malformed),
    (f"GET http://pypi.org/ HTTP/1.1{HOST}\nA: b\n folded", Reason.malformed),
    (f"GET http://pypi.org/ HTTP/1.1{HOST}\n\tA: b", Reason.malformed),
    (f"GET http://pypi.org/ HTTP/1.1{HOST}\nNo colon", Reason.malformed),
    (f"GET http://pypi.org/ HTTP/1.1{HOST}\n: empty", Reason.malformed),
    (f"GET http://pypi.org/ HTTP/1.1{HOST}" + "\nA: b" * 100, Reason.malformed),
    ("GET  http://pypi.org/ HTTP/1.1" + HOST, Reason.malformed),
    ("GET http://pypi.org/ x HTTP/1.1" + HOST, Reason.malformed),
    ("GET http://pypi.org/ HTTP/2.0" + HOST, Reason.malformed),
    ("get http://pypi.org/ HTTP/1.1" + HOST, Reason.malformed),
    ("GET http://p\xffpi.org/ HTTP/1.1" + HOST, Reason.malformed),
    ("PRI * HTTP/2.0", Reason.malformed),
    ("\nGET http://pypi.org/ HTTP/1.1" + HOST, Reason.malformed),
]


@pytest.mark.proves("B1-NAMED-HOSTS")
@pytest.mark.parametrize(("head", "reason"), REFUSED)
def test_a_request_that_could_be_read_in_two_ways_or_leads_elsewhere_is_refused(
    head: str, reason: Reason
) -> None:
    assert refusal(head) is reason


@pytest.mark.parametrize("sign", [b"\n", b"\r", b"\0", b"\x1b"])
def test_bare_line_breaks_and_control_characters_are_refused(sign: bytes) -> None:
    head = b"GET http://pypi.org/ HTTP/1.1\r\nHost: pypi.org\r\nA: b" + sign + b"Host: evil.example"
    assert refusal(head) is Reason.malformed
    assert refusal(b"GET http://pypi.org/" + sign + b" HTTP/1.1\r\nHost: pypi.org") is (
        Reason.malformed
    )


@given(st.binary(max_size=200), st.sampled_from([b"CONNECT ", b"GET http://pypi.org", b""]))
def test_whatever_the_bytes_are_only_a_named_host_is_let_through(tail: bytes, start: bytes) -> None:
    try:
        asked = read_request(start + tail + b"\r\n\r\n", ALLOWED)
    except EgressRefused:
        return
    assert asked.endpoint in ALLOWED
    assert asked.head.count(b"\r\n\r\n") == (0 if asked.tunnel else 1)


# Addresses.


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1",
        "127.255.255.254", "168.63.129.16", "169.254.169.254", "169.254.0.1", "172.16.0.1",
        "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1",
        "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:8.8.8.8",
        "::ffff:a9fe:a9fe", "::ffff:0:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::808:808",
        "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:0:1:2:3:4:5:6", "2001:10::1", "2001:db8::1",
        "2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1",
        "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1%1", "fec0::1", "ff02::1",
        "", "pypi.org", "1.2.3", "0x7f000001", "127.1", "8.8.8.8 ", "[2606:4700::1]",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:4700:4700::1111"])
def test_a_public_address_is_taken(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_reached_through_one_of_version_6(
    address: ipaddress.IPv4Address,
) -> None:
    number = int(address)
    wrapped = (number, 0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80)
    assert not any(is_public(str(ipaddress.IPv6Address(each))) for each in wrapped)
    assert is_public(str(address)) <= address.is_global


# TLS.


def test_the_server_name_of_a_client_hello_is_read_as_soon_as_it_is_complete() -> None:
    data = hello("PyPI.org")
    assert server_name(data) == "pypi.org"
    assert server_name(data + b"more") == "pypi.org"
    assert {server_name(data[:end]) for end in range(len(data))} == {None}


@pytest.mark.parametrize("size", [10, 100])
def test_a_client_hello_in_many_records_is_put_together(size: int) -> None:
    data = hello("pypi.org")
    message = data[5:]
    pieces = [message[at : at + size] for at in range(0, len(message), size)]
    split = b"".join(b"\x16\x03\x01" + len(one).to_bytes(2, "big") + one for one in pieces)
    assert server_name(split) == "pypi.org"


def test_a_client_hello_without_a_server_name_is_refused() -> None:
    with pytest.raises(EgressRefused) as caught:
        server_name(hello(None))
    assert caught.value.reason is Reason.server_name


def test_a_client_hello_with_two_server_names_is_refused() -> None:
    data = hello("pypi.org")
    name = b"\x00\x00\x08pypi.org"
    assert data.count(name) == 1
    twice = bytearray(data.replace(name, name + b"\x00\x00\x04evil"))
    at = data.index(name) - 6  # the extension's type, then three lengths before the names
    extensions = data.index(name) - 8
    assert data[at : at + 2] == b"\x00\x00"
    for place in (at + 2, at + 4, extensions):
        longer = int.from_bytes(twice[place : place + 2], "big") + 7
        twice[place : place + 2] = longer.to_bytes(2, "big")
    twice[3:5] = (int.from_bytes(twice[3:5], "big") + 7).to_bytes(2, "big")
    twice[6:9] = (int.from_bytes(twice[6:9], "big") + 7).to_bytes(3, "big")
    with pytest.raises(EgressRefused) as caught:
        server_name(bytes(twice))
    assert caught.value.reason is Reason.server_name


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-x\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x01\x00",  # an alert
        b"\x16\x02\x01\x00\x05",  # not TLS 1
        b"\x16\x03\x01\x00\x00",  # an empty record
        b"\x16\x03\x01\x40\x01",  # a record longer than any
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",  # a ServerHello
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03",  # a ClientHello of one byte
        b"\x16\x03\x01\x00\x01\x01" + b"\x16\x03\x01\x00\x01\xff" * 63,  # in crumbs
        grown(hello("pypi.org"), b"\0"),  # with more behind its end
    ],
)
def test_what_is_no_client_hello_is_refused(data: bytes) -> None:
    with pytest.raises(EgressRefused) as caught:
        server_name(data)
    assert caught.value.reason is Reason.not_tls


@given(st.binary(max_size=300), st.integers(0, 300))
def test_a_damaged_client_hello_is_read_refused_or_waited_for(noise: bytes, place: int) -> None:
    data = HELLO[:place] + noise + HELLO[place + len(noise) :]
    assert _reason(data) in {None, Reason.not_tls, Reason.server_name}


def _reason(data: bytes) -> Reason | None:
    try:
        server_name(data)
    except EgressRefused as error:
        return error.reason
    return None


HELLO = hello("pypi.org")
