"""Only loopback exists: a connection anywhere else fails the test that tried it."""

import socket
from typing import Any

import pytest

LOOPBACK = ("127.", "::1", "localhost")


class RealNetwork(AssertionError):
    """A test tried to reach the outside."""


def _refuse(address: Any) -> None:
    host: Any = address[0] if isinstance(address, tuple) else address  # pyright: ignore[reportUnknownVariableType] - any address family
    if isinstance(host, str) and "/" not in host and not host.startswith(LOOPBACK):
        raise RealNetwork(f"a test tried to connect to {host}")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards every way this process opens connections or looks up names."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _refuse(address)
        connect(self, address)

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse((host.decode() if isinstance(host, bytes) else host,))
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)
    for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
