"""Whether a change of the quiet hours leaves less of the day quiet."""

from collections.abc import Mapping
from datetime import time
from typing import Final

from silas.config import SilasConfig
from silas.config.edit_values import Scalar, value_of
from silas.tools.policy import within_hours

_NAMES: Final = ("quiet_hours.start", "quiet_hours.end")


def loses_quiet_of(config: SilasConfig, values: Mapping[str, Scalar]) -> bool:
    """Whether a minute of the day that is quiet now would be so no more.

    Args:
        config: What the file says now.
        values: What it is to say, by the names of settings.
    """
    now = {name: value_of(config, name) for name in _NAMES}
    try:
        before_start, before_end = (time.fromisoformat(str(now[name])) for name in _NAMES)
        start, end = (time.fromisoformat(str(values.get(name, now[name]))) for name in _NAMES)
    except ValueError:  # it is refused as no time of day
        return True
    return any(
        within_hours(before_start, before_end, at) and not within_hours(start, end, at)
        for at in (time(hour, minute) for hour in range(24) for minute in range(60))
    )
