"""Channels of others in this home: made when Silas starts, looked at by `silas doctor`."""

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple

from silas.audit import Audit
from silas.cards import Channel
from silas.channels.external import Admission, ExternalChannel, Objection, Report
from silas.channels.plugins import (
    ChannelAbsent,
    ChannelContext,
    load_channel,
    path_of,
    settings_of,
)
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.errors import ConfigError
from silas.home.findings import DoctorFinding
from silas.language import tr_later
from silas.stop import Sentinel

_STOPPED = tr_later(
    "was not loaded, because Silas is stopped: start Silas again after `silas resume`"
)


class LoadedChannel(NamedTuple):
    """One channel of the configuration.

    Attributes:
        name: Its name there.
        channel: It; None where it is absent.
        why: Why it is absent; else empty.
        values: What was filled in from the environment, by the name of the variable.
    """

    name: str
    channel: Channel | None
    why: str
    values: dict[str, str]


def examine_channels(config: SilasConfig) -> None:
    """Refuse channels that Silas would not start with; nothing is imported.

    Raises:
        ConfigError: As `load_channels`.
    """
    for name, other in config.channels.others.items():
        where = f"channels.others.{name}"
        path_of(other.use, where)
        settings_of(other, os.environ, where)


def load_channels(config: SilasConfig, clock: Clock) -> list[LoadedChannel]:
    """Every channel of the configuration, or why it is absent; none while Silas is stopped.

    Raises:
        ConfigError: One names what no package offers, or needs a variable that is not set; nothing
            was imported.
    """
    examine_channels(config)
    return list(_load_others(config, clock))


def _load_others(config: SilasConfig, clock: Clock) -> Iterator[LoadedChannel]:
    stopped = Sentinel(config.data_dir).stands()
    for name, other in config.channels.others.items():
        where = f"channels.others.{name}"
        settings = settings_of(other, os.environ, where)
        if stopped:
            yield LoadedChannel(name, None, _STOPPED, settings.values)
            continue
        context = ChannelContext(name, config.data_dir / "channels" / name, clock)
        try:
            channel = load_channel(path_of(other.use, where), settings, context, where)
        except ChannelAbsent as error:
            yield LoadedChannel(name, None, error.message, settings.values)
            continue
        yield LoadedChannel(name, channel, "", settings.values)


def external_channels(
    config: SilasConfig,
    loaded: list[LoadedChannel],
    objection: Objection,
    report: Report,
    audit: Audit,
    clock: Clock,
) -> list[ExternalChannel]:
    """Those that are there, behind what they may do."""
    per_minute = config.limits.ws_messages_per_minute_per_scope
    return [
        ExternalChannel(
            one.name,
            one.channel,
            Admission(other.owner, other.strangers, per_minute),
            objection,
            report,
            audit,
            clock,
        )
        for one in loaded
        if one.channel is not None and (other := config.channels.others[one.name])
    ]


async def tell_unloaded(
    loaded: Sequence[LoadedChannel], tell: Callable[[str, str], Awaitable[None]]
) -> None:
    """Tell of each that is absent: its name, and why."""
    for one in loaded:
        if one.why:
            await tell(one.name, one.why)


def why_absent(loaded: Sequence[LoadedChannel]) -> dict[str, str]:
    """Why each is absent, by its name; empty where it is there."""
    return {one.name: one.why for one in loaded}


def learn_values(loaded: Sequence[LoadedChannel], learn: Callable[[dict[str, str]], None]) -> None:
    """What was filled in for them from the environment is a secret."""
    for one in loaded:
        learn(one.values)


def channel_findings(config: SilasConfig) -> list[DoctorFinding]:
    """For `silas doctor` and `silas config validate`: whether each channel can be made."""
    try:
        loaded = load_channels(config, SystemClock())
    except ConfigError:
        return []  # Silas would not start, and the finding about the configuration says so
    return [
        DoctorFinding.of(f"channel {one.name}", not one.why, one.why or _who(config, one.name))
        for one in loaded
    ]


def _who(config: SilasConfig, name: str) -> str:
    other = config.channels.others[name]
    heard = [*(["you"] if other.owner else []), *(["strangers"] if other.strangers else [])]
    return f"{other.use}: hears {' and '.join(heard)}; a yes needs a device's signature"
