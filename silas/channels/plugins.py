"""Channels of others by class path or entry point, made with their settings (docs/channels.md).

Making one runs somebody else's code in this process, so only what the configuration names is
imported. What is wrong in the owner's own words is a `ConfigError`; what is wrong in that code is a
`ChannelAbsent`: the channel is not there, and everything else goes on.
"""

import importlib
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from silas.cards import Channel
from silas.channels.models import OtherChannelConfig
from silas.clock import Clock
from silas.errors import ChannelError, ConfigError
from silas.tools.plugins.config import ExpandedConfig, expand, fit_config
from silas.tools.plugins.names import nearest

CODE: Final = "E_CFG_CHANNEL"

GROUP: Final = "silas.channels"
"""The group of entry points that packages offer channels under."""

_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_PATH = re.compile(rf"{_WORD}(?:\.{_WORD})*:{_WORD}\Z")


class ChannelAbsent(ChannelError):
    """A channel's own code failed while it was made."""


@dataclass(frozen=True)
class ChannelContext:
    """What a channel is told about where it is used.

    Attributes:
        name: Its name in the configuration.
        data_dir: A directory of its own, which it may make and write to.
        clock: What time it is.
    """

    name: str
    data_dir: Path
    clock: Clock


def path_of(use: str, where: str) -> str:
    """The `module:attribute` behind a name, from metadata alone; nothing is imported.

    Raises:
        ConfigError: No installed package, or more than one, offers a channel of that name.
    """
    if ":" in use:
        if not _PATH.match(use):
            raise ConfigError(
                f"{where}.use: {use!r} is no path such as package.module:factory.", code=CODE
            )
        return use
    paths = {f"{one.module}:{one.attr}" for one in entry_points(group=GROUP, name=use)}
    if not paths:
        known = {one.name for one in entry_points(group=GROUP)}
        raise ConfigError(
            f"{where}.use: no installed package offers a channel {use!r}{nearest(use, known)}; "
            "install it, or name it as package.module:factory.",
            code=CODE,
        )
    if len(paths) > 1:
        raise ConfigError(
            f"{where}.use: several packages offer {use!r} ({', '.join(sorted(paths))}); name one "
            "of these paths instead.",
            code=CODE,
        )
    return paths.pop()


def settings_of(
    other: OtherChannelConfig, environ: Mapping[str, str], where: str
) -> ExpandedConfig:
    """Its settings with variables filled in. Raises `ConfigError` where one is not set."""
    return expand(other.config, environ, f"{where}.config")


def load_channel(
    path: str, settings: ExpandedConfig, context: ChannelContext, where: str
) -> Channel:
    """The channel; it listens to nothing yet.

    Args:
        path: From `path_of`.
        settings: From `settings_of`.
        context: Where it is used.
        where: What its mapping is called in errors.

    Raises:
        ChannelAbsent: One sentence, without any value that was filled in.
    """
    module, _, attribute = path.partition(":")
    try:
        factory: object = getattr(importlib.import_module(module), attribute)
    except (Exception, SystemExit) as error:  # anybody's code, which has seen no setting yet
        words = (str(error).splitlines() or [""])[0][:200]
        raise _absent(f"cannot be imported ({type(error).__name__}: {words})") from None
    if not callable(factory):
        raise _absent("is neither a class nor a function")
    try:
        config: Any = fit_config(factory, settings, f"{where}.config")
    except ConfigError as error:
        raise _absent(f"does not take its settings ({error.message.rstrip('.')})") from None
    try:
        channel: object = factory(config=config, context=context)
        if inspect.iscoroutine(channel):
            channel.close()
        if isinstance(channel, Channel):
            return channel
    except (Exception, SystemExit) as error:  # anybody's code, and it may repeat a secret
        raise _absent(f"cannot be made ({type(error).__name__})") from None
    raise _absent("is no channel: it needs channel_name, listen and send")


def _absent(words: str) -> ChannelAbsent:
    return ChannelAbsent(words, code="E_CHANNEL_ABSENT")
