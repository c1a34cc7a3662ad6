"""The certificate that the phone's address shows: kept, made anew, or the owner's own."""

import ssl
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from silas.channels.models import TlsConfig
from silas.channels.web.tls_arrival import server_tls
from silas.errors import ConfigError
from silas.keys.authority import IssuedBundle, ServerIdentity, read_identity
from silas.keys.files import read_private, replace
from silas.language import tr

SOON = timedelta(days=30)
"""So long before a certificate ends its owner is told."""


class PhoneIdentity(NamedTuple):
    """What the server shows.

    Attributes:
        identity: Its facts.
        tls: What the server speaks with.
        made: Why it was made now, in one sentence; empty where it was there.
    """

    identity: ServerIdentity
    tls: ssl.SSLContext
    made: str = ""


def bundle_path(data_dir: Path) -> Path:
    """Where Silas's own key and certificate for the phone are."""
    return data_dir / "phone" / "identity.pem"


def own_identity(
    data_dir: Path, names: Sequence[str], addresses: Sequence[str], now: datetime
) -> PhoneIdentity:
    """The kept certificate for exactly these names and addresses, or a new one.

    Raises:
        ConfigError: `E_CFG_TLS_CLOCK`: it begins later than now, so this machine's clock is wrong;
            `E_CFG_KEY_EXPOSED`: others can read its key.
    """
    path = bundle_path(data_dir)
    why = _why_anew(path, names, addresses, now)
    if why:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        replace(path, IssuedBundle.make(names, addresses, now).pem)
    identity = read_identity(read_private(path))
    return PhoneIdentity(identity, server_tls(str(path)), why)


def owners_identity(tls: TlsConfig | None, now: datetime) -> PhoneIdentity:
    """The certificate that the configuration names.

    Raises:
        ConfigError: `E_CFG_TLS`: there is none, it cannot be used, or it does not count now.
    """
    if tls is None:
        raise _tls("There is no certificate of yours; set channels.web.tls to its two files")
    try:
        identity = read_identity(tls.certificate.read_bytes())
        tls.key.open("rb").close()  # its error names the file
        context = server_tls(str(tls.certificate), str(tls.key))
    except ssl.SSLError as error:
        raise _tls(f"{tls.key} is not the key of {tls.certificate}, or has a passphrase") from error
    except OSError as error:
        raise _tls(f"{error.filename} cannot be read ({error.strerror})") from error
    if now >= identity.ends:
        raise _tls(
            f"Your certificate {tls.certificate} expired on {identity.ends:%Y-%m-%d}; renew it "
            "where you had it from"
        )
    if now < identity.begins:
        raise _clock(identity, now)
    if not identity.names:
        raise _tls(f"{tls.certificate} has no name that a browser could ask for")
    return PhoneIdentity(identity._replace(authority=b"", fingerprint=""), context)


def _why_anew(path: Path, names: Sequence[str], addresses: Sequence[str], now: datetime) -> str:
    again = tr("trust the new authority on each phone, and remove the old one there")
    if not path.exists():
        return tr("Silas made a certificate for this machine's address.")
    try:
        kept = read_identity(read_private(path))
    except ConfigError as error:
        if error.code != "E_CFG_TLS":
            raise
        return tr(
            "The certificate could not be read, so Silas made a new one: {again}.", again=again
        )
    if now >= kept.ends:
        ended = f"{kept.ends:%Y-%m-%d}"
        return tr(
            "The certificate expired on {ended}, so Silas made a new one: {again}.",
            ended=ended,
            again=again,
        )
    if (kept.names, kept.addresses) != (tuple(names), tuple(addresses)):
        before = ", ".join((*kept.names, *kept.addresses))
        return tr(
            "This machine had another name or address ({before}), so Silas made a new "
            "certificate: {again}.",
            before=before,
            again=again,
        )
    if now < kept.begins:
        raise _clock(kept, now)
    return ""


def _tls(words: str) -> ConfigError:
    return ConfigError(f"{words}.", code="E_CFG_TLS")


def _clock(identity: ServerIdentity, now: datetime) -> ConfigError:
    return ConfigError(
        f"The certificate counts from {identity.begins:%Y-%m-%d} on, and this machine's clock says "
        f"{now:%Y-%m-%d}; set its clock, then start again.",
        code="E_CFG_TLS_CLOCK",
    )
