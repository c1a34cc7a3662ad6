"""The certificate with which a phone at home reaches the cockpit, and the authority that signed it.

The authority can vouch for this machine's names and addresses alone, and its private key exists
only in this process, until it has signed once: nobody can make it sign for anything else later. So
whatever changes - an address, a name, the time - takes a new authority.
"""

import ipaddress
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from silas.errors import ConfigError

LIFE = timedelta(days=730)
"""How long a certificate counts: iOS takes none from an authority of one's own beyond 825 days."""

EARLIER = timedelta(days=1)
"""How long before its making it begins, for phones whose clock is a little slow."""


class ServerIdentity(NamedTuple):
    """What the server shows, what the phone trusts, and until when.

    Attributes:
        authority: The authority's certificate, DER; empty for a certificate of the owner's.
        fingerprint: SHA-256 of it, as phones show it: 32 pairs of hex digits with colons.
        names: DNS names of the certificate, without wildcards.
        addresses: Its IP addresses, as text.
        begins, ends: When it counts, UTC.
    """

    authority: bytes
    fingerprint: str
    names: tuple[str, ...]
    addresses: tuple[str, ...]
    begins: datetime
    ends: datetime


class ConstrainedAuthority:
    """An authority for these names and addresses, and its key, for as long as this object lives.

    Args:
        names: DNS names; what is below one of them is allowed, too.
        addresses: IPv4 addresses.
        now: UTC.
    """

    def __init__(self, names: Sequence[str], addresses: Sequence[str], now: datetime) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._begins, self._ends = now - EARLIER, now + LIFE
        title = f"Silas on {(*names, *addresses)[0]}, {now:%Y-%m-%d}"
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title[:64])])
        key = self._key.public_key()
        self.certificate = (
            self._begin_certificate(self._name, key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(authority=True), critical=True)
            .add_extension(_only(names, addresses), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def sign(
        self, names: Sequence[str], addresses: Sequence[str], key: ec.EllipticCurvePublicKey
    ) -> x509.Certificate:
        """A server's certificate; phones refuse it where the authority is not allowed to say so."""
        # no name or address by itself: verifiers hold a common name that looks like one to be one
        title = f"Silas at {(*names, *addresses)[0]}"
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title[:64])])
        ours = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        return (
            self._begin_certificate(subject, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(authority=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectAlternativeName(_sans(names, addresses)), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(ours), critical=False
            )
            .sign(self._key, hashes.SHA256())
        )

    def _begin_certificate(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._begins)
            .not_valid_after(self._ends)
        )


class IssuedBundle(NamedTuple):
    """A server's key, its certificate and its authority's, as PEM in this order, and its facts."""

    pem: bytes
    identity: ServerIdentity

    @classmethod
    def make(cls, names: Sequence[str], addresses: Sequence[str], now: datetime) -> Self:
        """A fresh authority signs one certificate; then its key is gone (see this module)."""
        key = ec.generate_private_key(ec.SECP256R1())
        authority = ConstrainedAuthority(names, addresses, now)
        server = authority.sign(names, addresses, key.public_key())
        pem = (
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            + server.public_bytes(Encoding.PEM)
            + authority.certificate.public_bytes(Encoding.PEM)
        )
        return cls(pem, read_identity(pem))


def read_identity(pem: bytes) -> ServerIdentity:
    """The facts of a server's certificate, which comes first, and of the authority behind it.

    Raises:
        ConfigError: `E_CFG_TLS`: there is no certificate in it that can be read.
    """
    try:
        server, *others = x509.load_pem_x509_certificates(pem)
        names, addresses = _names_of(server)
    except ValueError as error:
        raise ConfigError(
            "The certificate cannot be read; it must be PEM, the server's own first.",
            code="E_CFG_TLS",
        ) from error
    authority = others[0].public_bytes(Encoding.DER) if others else b""
    digest = others[0].fingerprint(hashes.SHA256()) if others else b""
    return ServerIdentity(
        authority=authority,
        fingerprint=digest.hex(":").upper(),
        names=names,
        addresses=addresses,
        begins=server.not_valid_before_utc,
        ends=server.not_valid_after_utc,
    )


def _names_of(server: x509.Certificate) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        sans = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return (), ()
    names = tuple(n.lower() for n in sans.get_values_for_type(x509.DNSName) if "*" not in n)
    return names, tuple(map(str, sans.get_values_for_type(x509.IPAddress)))


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _only(names: Sequence[str], addresses: Sequence[str]) -> x509.NameConstraints:
    # What no list of its kind names is allowed, so each kind is named: none of it, where not some.
    nothing: list[x509.GeneralName] = [x509.IPAddress(ipaddress.IPv6Network("::/0"))]
    allowed: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
    if not names:
        nothing.append(x509.DNSName(""))
    if addresses:
        allowed += [x509.IPAddress(ipaddress.IPv4Network(f"{one}/32")) for one in addresses]
    else:
        nothing.append(x509.IPAddress(ipaddress.IPv4Network("0.0.0.0/0")))
    return x509.NameConstraints(permitted_subtrees=allowed, excluded_subtrees=nothing)


def _sans(names: Sequence[str], addresses: Sequence[str]) -> list[x509.GeneralName]:
    return [
        *(x509.DNSName(name) for name in names),
        *(x509.IPAddress(ipaddress.ip_address(one)) for one in addresses),
    ]
