"""How the cockpit's address for a phone stands, seen from any process."""

from datetime import datetime

from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import ConfigError, SilasError, reason
from silas.home.cockpit_address import phone_origin
from silas.home.findings import DoctorFinding
from silas.keys.authority import ServerIdentity, read_identity
from silas.keys.files import read_private
from silas.services.phone.identity import SOON, bundle_path, owners_identity
from silas.services.phone.transports import usual_way

_PART = "phone"


def open_for_phone(config: SilasConfig) -> str:
    """Where a phone finds the cockpit that runs here.

    Raises:
        ConfigError: `E_CFG_PHONE_CLOSED`: it does not find it.
    """
    origin = phone_origin(config)
    if not origin:
        raise ConfigError(
            "Silas is not open for a phone; run `silas start --phone`, or turn it on under Devices "
            "in the cockpit.",
            code="E_CFG_PHONE_CLOSED",
        )
    return origin


def phone_finding(config: SilasConfig) -> DoctorFinding:
    """What `silas doctor` says of it: whether it is open, and how long the certificate counts."""
    origin, now = phone_origin(config), SystemClock().now()
    where = f"open at {origin}" if origin else "not open; `silas start --phone` opens it"
    try:
        identity = _identity(config, now)
    except (SilasError, OSError) as error:
        words = error.message if isinstance(error, SilasError) else reason(error)
        return DoctorFinding(_PART, "failed", f"{where}; {words}")
    if identity is None:
        return DoctorFinding(_PART, "ok", where)
    until = f"{identity.ends:%Y-%m-%d}"
    if now >= identity.ends:
        words = (
            f"its certificate expired on {until}; the next `silas start --phone` makes a new one"
        )
        return DoctorFinding(_PART, "failed" if origin else "advice", f"{where}; {words}")
    if identity.ends - now < SOON:
        words = f"its certificate ends on {until}, and then phones refuse it until the next start"
        return DoctorFinding(_PART, "advice", f"{where}; {words}")
    return DoctorFinding(_PART, "ok", f"{where}; its certificate counts until {until}")


def _identity(config: SilasConfig, now: datetime) -> ServerIdentity | None:
    """The certificate of the way that the configuration has; None where there is none yet."""
    web = config.channels.web
    way = usual_way(web)
    if way == "certificate":
        return owners_identity(web.tls, now).identity
    path = bundle_path(config.data_dir)
    if way == "tailscale" or not path.exists():
        return None
    return read_identity(read_private(path))
