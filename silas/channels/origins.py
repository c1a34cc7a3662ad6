"""An origin as browsers write it: scheme, host, and the port unless it is the scheme's own."""

from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}


def origin_of(address: str) -> str:
    """An address as browsers write an origin; without a scheme, https is meant.

    Raises:
        ValueError: It is no plain `host`, `host:port` or `scheme://host:port`.
    """
    text = (address if "://" in address else f"https://{address}").lower()
    split = urlsplit(text)
    scheme, host, port = split.scheme, split.hostname or "", split.port  # a bad port raises
    name = f"[{host}]" if ":" in host else host
    written = name if port is None else f"{name}:{port}"
    if scheme not in _DEFAULT_PORTS or not _plain(host) or text != f"{scheme}://{written}":
        raise ValueError(f"{address!r} is no host such as silas.example or http://box.lan:8420")
    return f"{scheme}://{name if port == _DEFAULT_PORTS[scheme] else written}"


def _plain(host: str) -> bool:
    return bool(host) and host.isascii() and all(c.isalnum() or c in "-.:_" for c in host)
