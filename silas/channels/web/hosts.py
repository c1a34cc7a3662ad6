"""Under which addresses the cockpit is reached: what `Host` and `Origin` may say (decision B6)."""

from typing import Self

from silas.channels.models import WebConfig
from silas.channels.origins import origin_of
from silas.types import FrozenModel

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104 - compared with, never bound here


class WebHosts(FrozenModel):
    """The origins that are ours.

    A browser tells with every request under which name it found us. A name that is not listed is
    somebody else's that was made to point here (DNS rebinding).

    Attributes:
        origins: As browsers write them: scheme, host, and the port unless it is the scheme's own.
        base: Where a pairing link leads.
        port: Where the server listens.
        auth_token: What must be known besides the link to pair; empty where nothing is.
    """

    origins: frozenset[str]
    base: str
    port: int
    auth_token: str = ""

    @classmethod
    def of(cls, config: WebConfig) -> Self:
        """From the configuration: loopback, the host itself, and `allowed_hosts`."""
        host = f"[{config.host}]" if ":" in config.host.strip("[]") else config.host
        host = host.replace("[[", "[").replace("]]", "]").lower()
        everywhere = host in _EVERYWHERE
        own = () if everywhere else (host,)
        plain = tuple(f"http://{name}:{config.port}" for name in (*own, *_LOOPBACK))
        allowed = config.allowed_hosts
        secret = config.auth_token.get_secret_value() if config.auth_token else ""
        return cls(
            origins=frozenset(map(origin_of, (*plain, *allowed))),
            base=origin_of((*(allowed if everywhere else ()), *plain)[0]),
            port=config.port,
            auth_token=secret.strip(),
        )

    @property
    def cookie(self) -> str:
        """The name of the session's cookie: browsers send cookies to every port of a host."""
        return f"silas_session_{self.port}"

    def knows(self, host: str) -> bool:
        """Whether a `Host` header names us."""
        return any(_authority(origin) == host.lower() for origin in self.origins)

    def same(self, origin: str, host: str) -> bool:
        """Whether an `Origin` header is the page that this `Host` serves."""
        return origin in self.origins and _authority(origin) == host.lower()


def _authority(origin: str) -> str:
    return origin.partition("://")[2]
