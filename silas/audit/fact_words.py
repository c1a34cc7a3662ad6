"""Facts of an entry as its owner says them; the record keeps codes, names and plain numbers."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final, cast
from zoneinfo import ZoneInfo

from silas.audit.outcomes import outcome_words
from silas.language import decimal, group_digits, refusal_words, tr, tr_later, tr_many
from silas.language.calendar import day_words
from silas.language.setting_labels import SETTING_LABELS

_AS_THEY_ARE: Final = frozenset({"seq", "was_seq", "port"})
"""Numbers that name something, and count nothing."""

_IN_BYTES_BELOW: Final = 100_000
_WHOLE_MEGABYTES_FROM: Final = 10_000_000

_PROVIDERS: Final[Mapping[str, str]] = {
    "runbook": tr_later("Silas's built-in answers"),
    "openrouter": "OpenRouter",
    "local": tr_later("a model on your own server"),
}

_REASONS: Final = frozenset(
    {
        tr_later("no session"),
        tr_later("a host that is not ours"),
        tr_later("another page's origin"),
        tr_later("an unknown method"),
        tr_later("a path that can be read in two ways"),
        tr_later("a header that came twice"),
        tr_later("headers that are too long"),
        tr_later("a cookie without its page token"),
        tr_later("a body that is too long"),
        tr_later("a body that came too slowly"),
        tr_later("a body that is no JSON"),
        tr_later("a frame that is too long"),
        tr_later("no page token in time"),
        tr_later("a wrong page token"),
        tr_later("it was used before"),
        tr_later("wrong auth_token"),
        tr_later("no auth_token"),
        tr_later("the session has ended"),
        tr_later("this device has no key"),
        tr_later("it is not about its own nonce"),
        tr_later("the signature is not this device's over this"),
        tr_later("messages of one browser"),
        tr_later("messages from one address"),
        tr_later("requests from one address"),
        tr_later("requests of one browser"),
        tr_later("tries to pair from one address"),
        tr_later("tries to pair"),
        tr_later("changed record"),
        tr_later("used link"),
        tr_later("unknown link"),
        tr_later("expired link"),
        tr_later("requests to models"),
        tr_later("searches of memory"),
        tr_later("suggestions"),
        tr_later("proposals of autonomy"),
    }
)
"""Why the cockpit refuses somebody, and what came too often; another reason stays as it is."""


def fact_words(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an entry that people say otherwise than the record does.

    Args:
        event: The event's name.
        data: Its facts.
    """
    told: dict[str, Any] = {
        name: group_digits(value)
        for name, value in data.items()
        if type(value) is int and name not in _AS_THEY_ARE
    }
    told |= outcome_words(data)
    for name, words in _WORDS.get(event, {}).items():
        if name in data:
            told[name] = words(data[name])
    for name in ("reason", "why"):
        if isinstance(words := data.get(name), str):
            told[name] = tr(words) if words in _REASONS else refusal_words(words)
    if "due" in data and event.startswith("reminder."):
        told["due"] = _moment(data["due"], data.get("zone"))
    if event == "verification_finished":
        told["failed"] = failed_checks(data)
    if event in _NAMING_MODELS and data.get("provider") == "local" and data.get("models"):
        told["provider"] = data["models"]
    return told


def failed_checks(data: Mapping[str, Any]) -> list[str]:
    """The names of the checks that did not pass."""
    checks = data.get("checks")
    if not isinstance(checks, Mapping):
        return []
    return [name for name, ok in cast(Mapping[str, Any], checks).items() if not ok]


def _provider(value: Any) -> Any:
    return tr(_PROVIDERS[value]) if isinstance(value, str) and value in _PROVIDERS else value


_PRESETS: Final = {
    "chill": tr_later("Chill"),
    "default": tr_later("Default"),
    "review": tr_later("Reviewing"),
    "work": tr_later("Work"),
}


def _preset(value: Any) -> Any:
    return tr(_PRESETS[value]) if isinstance(value, str) and value in _PRESETS else value


def _settings(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [
        tr("“{words}”", words=tr(SETTING_LABELS[one])) if one in SETTING_LABELS else one
        for one in map(str, cast(list[Any], value))
    ]


def _size(value: Any) -> Any:
    """As the Stream says the size of a file."""
    if type(value) is not int:
        return value
    if value < _IN_BYTES_BELOW:
        return tr_many(value, "{count} byte", "{count} bytes")
    megabytes = value / 1e6
    whole = value >= _WHOLE_MEGABYTES_FROM or round(megabytes, 1).is_integer()
    return f"{decimal(megabytes, 0 if whole else 1)} MB"


def _moment(value: Any, zone: Any = None) -> Any:
    with suppress(ValueError, KeyError, OSError):
        at = datetime.fromisoformat(str(value))
        if isinstance(zone, str) and zone and at.tzinfo is not None:
            at = at.astimezone(ZoneInfo(zone))
        return f"{day_words(at)}, {at:%H:%M} {at:%Z}".rstrip()
    return value


def _count_words(one: str, many: str) -> Callable[[Any], Any]:
    return lambda value: tr_many(value, one, many) if type(value) is int else value


_MESSAGES: Final = _count_words(tr_later("{count} message"), tr_later("{count} messages"))
_FILES: Final = _count_words(tr_later("{count} file"), tr_later("{count} files"))
_MEMORIES: Final = _count_words(tr_later("{count} memory"), tr_later("{count} memories"))

_NAMING_MODELS: Final = ("models_chosen", "models_choosing", "models_not_chosen")

_WORDS: Final[Mapping[str, Mapping[str, Callable[[Any], Any]]]] = {
    "onboarded": {"provider": _provider},
    **{event: {"provider": _provider} for event in _NAMING_MODELS},
    "settings_saved": {"names": _settings},
    "settings_saving": {"names": _settings},
    "settings_declined": {"names": _settings},
    "settings_not_saved": {"names": _settings},
    "persona_preset": {"preset": _preset},
    "attachment.added": {"size": _size},
    "network_used": {"bytes_out": _size, "bytes_in": _size},
    "conversation.deleted": {"messages": _MESSAGES, "files": _FILES, "memories": _MEMORIES},
    "memory.exported": {"count": _MEMORIES},
    "memory.import_began": {"count": _MEMORIES},
    "memory.forgotten": {"count": _MEMORIES},
    "approval.narrowed": {"expires_at": _moment},
    "clock.jumped": {"before": _moment, "at": _moment},
    "clock.confirmed": {"at": _moment},
}
"""By event and fact."""
