"""Under which addresses the cockpit is reached, and what of them the configuration takes."""

from typing import Any

import pytest
from pydantic import ValidationError

from silas.channels.models import WebConfig
from silas.channels.origins import origin_of
from silas.channels.web.hosts import WebHosts
from silas.config import load_config
from silas.errors import ConfigError

NONE: set[str] = set()
LOOPBACK = {"http://127.0.0.1:8420", "http://localhost:8420", "http://[::1]:8420"}


@pytest.mark.parametrize(
    ("web", "more", "base"),
    [
        ({}, NONE, "http://127.0.0.1:8420"),
        ({"host": "localhost"}, NONE, "http://localhost:8420"),
        ({"host": "::1"}, NONE, "http://[::1]:8420"),
        ({"host": "[::1]"}, NONE, "http://[::1]:8420"),
        (
            {"host": "192.168.1.5", "auth_token": "x"},
            {"http://192.168.1.5:8420"},
            "http://192.168.1.5:8420",
        ),
        ({"host": "0.0.0.0", "auth_token": "x"}, NONE, "http://127.0.0.1:8420"),
        (
            {"host": "::", "auth_token": "x", "allowed_hosts": ["Silas.Example:443"]},
            {"https://silas.example"},
            "https://silas.example",
        ),
        (
            {"allowed_hosts": ["http://box.lan:8420", "silas.example:8443"]},
            {"http://box.lan:8420", "https://silas.example:8443"},
            "http://127.0.0.1:8420",
        ),
    ],
)
def test_ours_are_loopback_the_host_itself_and_what_is_configured(
    web: dict[str, Any], more: set[str], base: str
) -> None:
    hosts = WebHosts.of(WebConfig(**web))
    assert hosts.origins == LOOPBACK | more
    assert hosts.base == base


NO_HOSTS = ("", "*", "*.example", "https://", "ftp://silas.example", "silas.example/path", "a b")
NO_ADDRESSES = ("user@silas.example", "silas.example:0x50", "silas.example:99999", "süß.example")


@pytest.mark.parametrize("address", [*NO_HOSTS, *NO_ADDRESSES])
def test_an_address_that_is_no_plain_host_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        origin_of(address)
    with pytest.raises(ValidationError):
        WebConfig(allowed_hosts=(address,))


@pytest.mark.proves("S8.1-LOOPBACK")
@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "silas.example", "::"])
def test_a_host_that_others_can_reach_needs_a_token(host: str, tmp_path: Any) -> None:
    path = tmp_path / "silas.yaml"
    path.write_text(f"silas: {{channels: {{web: {{host: '{host}'}}}}}}")
    with pytest.raises(ConfigError, match="auth_token"):
        load_config(path, environ={"SILAS_HOME": str(tmp_path)})
    assert WebConfig().host == "127.0.0.1"
