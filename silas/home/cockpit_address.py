"""The address of the cockpit: where it shall listen, and where a running one does."""

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from silas.channels.models import WebConfig
from silas.config import SilasConfig
from silas.errors import ConfigError, misfits

_NAME = "cockpit.address"
_MOST = 1024  # bytes that are read of it


def listening_at(config: SilasConfig, host: str | None, port: int | None) -> SilasConfig:
    """The configuration with another address, held against the same rules.

    Raises:
        ConfigError: `E_CFG_WEB`: the address can be reached from elsewhere, and no `auth_token` is
            set.
    """
    web = config.channels.web
    given = {"host": host, "port": port}
    changed = {name: value for name, value in given.items() if value is not None}
    try:
        web = WebConfig.model_validate({**web.model_dump(), **changed})
    except ValidationError as error:
        raise ConfigError(f"channels.web: {misfits(error)[0].words}.", code="E_CFG_WEB") from error
    channels = config.channels.model_copy(update={"web": web})
    return config.model_copy(update={"channels": channels})


@contextmanager
def served_at(config: SilasConfig) -> Generator[Callable[[str], None]]:
    """Say where this cockpit is, until it ends, however it ends: the lock is the system's.

    Args:
        config: With the address that is really listened at.

    Yields:
        Says besides where a phone finds it; nothing where it does not.
    """
    web = config.channels.web
    file = _open_file(config.data_dir, os.O_CREAT | os.O_RDWR)
    first = False

    def tell(phone: str) -> None:
        if first:
            address = {"host": web.host, "port": web.port, "phone": phone}
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps(address).encode(), 0)

    try:
        with contextlib.suppress(BlockingIOError):  # of two on one directory the first is named
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            first = True
            tell("")
        yield tell
    finally:
        os.close(file)


def where_it_runs(config: SilasConfig) -> SilasConfig:
    """The configuration with the address of the cockpit that runs here; as it is where none does.

    What a crash left is not believed: whoever listens there by now may be somebody else.
    """
    try:
        said = _read_address(config)
        address = {"host": str(said["host"]), "port": int(said["port"])}
    except (ValueError, KeyError, TypeError):  # none runs, or it is being written at this moment
        return config
    web = config.channels.web.model_copy(update=address)
    return config.model_copy(update={"channels": config.channels.model_copy(update={"web": web})})


def running_cockpit(config: SilasConfig) -> str:
    """Where the cockpit that runs here is; empty where none does."""
    from silas.channels.web.hosts import WebHosts  # noqa: PLC0415 - few commands ask

    try:
        running = bool(_read_address(config))
    except ValueError:  # it is being written at this moment
        return ""
    return WebHosts.of(where_it_runs(config).channels.web).base if running else ""


def phone_origin(config: SilasConfig) -> str:
    """Where a phone finds the cockpit that runs here; empty where it does not."""
    try:
        return str(_read_address(config)["phone"])
    except (ValueError, KeyError, TypeError):
        return ""


def _read_address(config: SilasConfig) -> dict[str, Any]:
    """What a running cockpit wrote; nothing of one that ended."""
    try:
        file = _open_file(config.data_dir, os.O_RDONLY)
    except OSError:
        return {}
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        said: dict[str, Any] = json.loads(os.pread(file, _MOST, 0))
        return said
    finally:
        os.close(file)
    return {}


def _open_file(folder: Path, how: int) -> int:
    return os.open(folder / _NAME, how | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
