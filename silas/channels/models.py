"""The `channels:` section of the configuration (spec 11)."""

import ipaddress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from silas.channels.origins import origin_of
from silas.types import FrozenModel


def _is_loopback(host: str) -> bool:
    """Only what is certainly this machine: a name that needs looking up is not."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


PhoneWay = Literal["authority", "certificate", "tailscale"]
"""How a phone reaches the cockpit over HTTPS (docs/phone.md)."""


class TlsConfig(FrozenModel):
    """A certificate of the owner's, as two files: PEM, the server's certificate first.

    Attributes:
        certificate, key: Where they are; the key has no passphrase.
    """

    certificate: Path
    key: Path


class PhoneConfig(FrozenModel):
    """The cockpit for a phone at home, over HTTPS, beside its own address on loopback.

    Attributes:
        enabled: Whether each `silas start` opens it; `--phone` does for one.
        way: Null: `certificate` where `tls` is set, else `authority`.
        address: The IPv4 address or the interface to listen at; empty: where the default route is.
        port: Of the cockpit; with Tailscale the port of its name. 0 is any free one.
        certificate_port: Of plain HTTP, which has nothing but the authority's certificate.
    """

    enabled: bool = False
    way: PhoneWay | None = None
    address: str = Field(default="", max_length=64)
    port: int = Field(default=8421, ge=0, le=65535)
    certificate_port: int = Field(default=8422, ge=0, le=65535)


class WebConfig(FrozenModel):
    """The cockpit in the browser.

    Attributes:
        enabled: Whether it is served.
        host, port: Where; port 0 is any free one. Anything but this machine's own loopback needs
            `auth_token`.
        auth_token: What a browser must know besides the link to pair; null on loopback.
        allowed_hosts: Further addresses under which browsers may reach it, such as that of a
            reverse proxy: `silas.example`, or `http://box.lan:8420` where there is no TLS.
        phone: How a phone reaches it.
        tls: A certificate of the owner's for that; null where there is none.
    """

    enabled: bool = True
    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8420, ge=0, le=65535)
    auth_token: SecretStr | None = None
    allowed_hosts: tuple[str, ...] = ()
    phone: PhoneConfig = PhoneConfig()
    tls: TlsConfig | None = None

    @field_validator("allowed_hosts")
    @classmethod
    def _plain_addresses(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(origin_of, value))

    @model_validator(mode="after")
    def _remote_needs_a_token(self) -> "WebConfig":
        token = self.auth_token.get_secret_value() if self.auth_token else ""
        if not _is_loopback(self.host) and not token.strip():
            raise ValueError(
                f"host {self.host} can be reached from other machines: set auth_token, "
                "or use 127.0.0.1"
            )
        return self


class TelegramConfig(FrozenModel):
    """The Telegram channel, which is not part of this version."""

    enabled: bool = False
    token: SecretStr | None = None
    owner_chat_id: str | None = None

    @model_validator(mode="after")
    def _not_yet(self) -> "TelegramConfig":
        if self.enabled:
            raise ValueError("Telegram is not part of this version; set enabled to false")
        return self


class CliConfig(FrozenModel):
    """Whether `silas start` also listens on its own terminal; `silas chat` always does."""

    enabled: bool = False


ChannelName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
"""What a channel of somebody else's is called."""

_OWN_NAMES = frozenset({"web", "cli", "telegram", "webhook", "owner"})


class OtherChannelConfig(FrozenModel):
    """A channel of somebody else's (docs/channels.md).

    Attributes:
        use: Where its code is: `package.module:factory`, or the name of an entry point of the group
            `silas.channels`. Naming it is leave to run it inside Silas.
        owner: The connection that is yours there, as the channel names it; empty where none is.
        strangers: Whether others may talk there, each in a conversation of its own without tools.
        config: Its own settings, as they are written: `${NAME}` in them is filled in when it is
            made.
    """

    use: str = Field(min_length=1)
    owner: str = ""
    strangers: bool = False
    config: dict[str, Any] = Field(default_factory=dict[str, Any])

    @model_validator(mode="after")
    def _somebody_is_heard(self) -> "OtherChannelConfig":
        if not self.owner and not self.strangers:
            raise ValueError(
                "nobody could talk there: set owner to your own connection on it, or strangers to "
                "true"
            )
        return self


class ChannelsConfig(FrozenModel):
    """All channels."""

    web: WebConfig = WebConfig()
    telegram: TelegramConfig = TelegramConfig()
    cli: CliConfig = CliConfig()
    others: dict[ChannelName, OtherChannelConfig] = Field(
        default_factory=dict[ChannelName, OtherChannelConfig]
    )

    @field_validator("others")
    @classmethod
    def _names_of_their_own(
        cls, value: dict[str, OtherChannelConfig]
    ) -> dict[str, OtherChannelConfig]:
        for name in sorted(_OWN_NAMES & value.keys()):
            raise ValueError(f"{name} is a name of Silas's own; call the channel something else")
        return value
