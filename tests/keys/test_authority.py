"""The authority for a phone vouches for this machine alone, and its key outlives nothing."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from silas.errors import ConfigError
from silas.keys.authority import ConstrainedAuthority, IssuedBundle, read_identity

NOW = datetime.now(UTC)
NAMES, ADDRESSES = ("box.local",), ("192.168.1.20",)


def verified(folder: Path, authority: x509.Certificate, server: x509.Certificate) -> str:
    """What OpenSSL says of a server's certificate to somebody who trusts the authority."""
    for name, one in (("authority.pem", authority), ("server.pem", server)):
        (folder / name).write_bytes(one.public_bytes(Encoding.PEM))
    told = subprocess.run(
        ["openssl", "verify", "-x509_strict", "-CAfile", "authority.pem", "server.pem"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout + told.stderr


def signed(
    authority: ConstrainedAuthority, *names: str, at: tuple[str, ...] = ()
) -> x509.Certificate:
    return authority.sign(names, at, ec.generate_private_key(ec.SECP256R1()).public_key())


def test_the_authority_vouches_for_this_machine_and_for_nobody_else(tmp_path: Path) -> None:
    authority = ConstrainedAuthority(NAMES, ADDRESSES, NOW)
    made = authority.certificate
    assert made.extensions.get_extension_for_class(x509.NameConstraints).critical
    assert "OK" in verified(tmp_path, made, signed(authority, *NAMES, at=ADDRESSES))
    for other in (
        signed(authority, "bank.example"),
        signed(authority, "local"),
        signed(authority, at=("192.168.1.21",)),
        signed(authority, at=("2001:db8::1",)),
        signed(authority, "box.local", "bank.example"),
    ):
        assert "permitted subtree violation" in verified(tmp_path, made, other) or (
            "excluded subtree violation" in verified(tmp_path, made, other)
        )


def test_an_authority_without_a_name_vouches_for_no_name(tmp_path: Path) -> None:
    authority = ConstrainedAuthority((), ADDRESSES, NOW)
    server = signed(authority, "bank.example", at=ADDRESSES)
    assert "excluded subtree violation" in verified(tmp_path, authority.certificate, server)
    server = signed(authority, at=ADDRESSES)
    assert "OK" in verified(tmp_path, authority.certificate, server)


def test_an_authority_signs_no_further_authority(tmp_path: Path) -> None:
    authority = ConstrainedAuthority(NAMES, ADDRESSES, NOW)
    found = authority.certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    assert (found.value.ca, found.value.path_length, found.critical) == (True, 0, True)
    usage = authority.certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    assert list(usage.value) == [x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]


def test_what_is_kept_has_the_servers_key_and_not_the_authoritys() -> None:
    bundle = IssuedBundle.make(NAMES, ADDRESSES, NOW)
    assert bundle.pem.count(b"PRIVATE KEY-----\n") == 2  # where one begins, and where it ends
    server, authority = x509.load_pem_x509_certificates(bundle.pem)
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key = load_pem_private_key(bundle.pem, None)
    assert key.public_key() == server.public_key()
    assert key.public_key() != authority.public_key()
    server.verify_directly_issued_by(authority)


def test_phones_take_the_certificate_for_its_time() -> None:
    identity = IssuedBundle.make(NAMES, ADDRESSES, NOW).identity
    assert (identity.ends - identity.begins).days <= 825  # iOS takes none that is longer
    assert identity.begins < NOW < identity.ends
    assert (identity.names, identity.addresses) == (NAMES, ADDRESSES)
    assert len(identity.fingerprint.split(":")) == 32


def test_two_machines_share_no_authority() -> None:
    one, other = (IssuedBundle.make(NAMES, ADDRESSES, NOW).identity for _ in range(2))
    assert one.fingerprint != other.fingerprint


@pytest.mark.parametrize(
    "pem", [b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", b"\x00" * 99]
)
def test_what_is_no_certificate_is_refused_in_one_sentence(pem: bytes) -> None:
    with pytest.raises(ConfigError) as raised:
        read_identity(pem)
    assert raised.value.code == "E_CFG_TLS"
    assert raised.value.message.count(".") == 1
