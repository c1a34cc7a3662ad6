"""The three ways in which a phone reaches the cockpit over HTTPS, in honest words."""

from silas.channels.models import PhoneWay, WebConfig
from silas.channels.web.phone_port import PhoneWayView
from silas.language import tr


def usual_way(web: WebConfig) -> PhoneWay:
    """What the configuration says, else what it makes possible."""
    return web.phone.way or ("certificate" if web.tls is not None else "authority")


def ways(web: WebConfig, *, installed: bool) -> tuple[PhoneWayView, ...]:
    """All three, the usual one first, and why one cannot be chosen."""
    usual = usual_way(web)
    return tuple(sorted(_ways(web, installed=installed), key=lambda one: one.value != usual))


def _ways(web: WebConfig, *, installed: bool) -> tuple[PhoneWayView, ...]:
    return (
        PhoneWayView(
            value="authority",
            label=tr("At home"),
            words=tr(
                "Your phone trusts a certificate that this computer makes: for its own "
                "address, and for nothing else. It works in your own network, needs nobody "
                "else, and takes a few steps on the phone once, again after two years or when"
                " this computer's address changes. Everybody in the network sees that Silas "
                "is there; only paired devices get in."
            ),
        ),
        PhoneWayView(
            value="certificate",
            label=tr("With your own certificate"),
            words=tr(
                "Nothing to install on the phone. The name in your certificate must lead to "
                "this computer in your network; the name is public, as those of all "
                "certificates are."
            ),
            why_not=""
            if web.tls is not None
            else tr("Set channels.web.tls to the files of your certificate."),
        ),
        PhoneWayView(
            value="tailscale",
            label=tr("With Tailscale"),
            words=tr(
                "Works away from home, too, for the devices in your Tailscale network alone; "
                "the phone needs Tailscale's app. Tailscale, a company, says which devices "
                "those are, and the name of this computer becomes public. Silas never opens "
                "it to the internet."
            ),
            why_not="" if installed else tr("Tailscale is not installed on this computer."),
        ),
    )
