"""Settings that are changed without an editor: which, what changes, and who must say yes (1.5)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, Literal, NamedTuple

from silas.audit import Audit
from silas.audit.intent import ChangeEvents, record_change
from silas.cards import Action, Detail
from silas.cards.models import DecisionCard
from silas.config import SilasConfig
from silas.config.edit_values import (
    Scalar,
    ValuesEdit,
    plan_values,
    require_meaning,
    value_of,
    write_values,
)
from silas.config.load import load_config
from silas.config.place import ConfigPlace
from silas.errors import ConfigError
from silas.language import tr, tr_later
from silas.language.setting_labels import SETTING_LABELS
from silas.services.record import open_audit
from silas.services.setup.one_question import NO, YES, OneQuestion
from silas.services.setup.quiet_hours import loses_quiet_of
from silas.stream.owner import Owner
from silas.types import Risk

_CODE: Final = "E_CFG_SETTING"
_SAVING: Final = ChangeEvents("settings_saving", "settings_saved", "settings_not_saved")

_SWITCHED: Final[Mapping[str, Scalar]] = {"true": True, "on": True, "false": False, "off": False}
_DIGITS: Final = 10

Widens = Literal["never", "more", "on", "off", "less quiet"]
"""Which change lets Silas do more, or be watched less: a greater number, switching on or off, or a
time of day that is quiet no more."""


class Setting(NamedTuple):
    """One that can be changed.

    Attributes:
        name: Its dotted name in the configuration file.
        label: What it is, in a few words.
        kind: How it is written down.
        widens: Which change of it needs a yes on a card.
        choices: What it may be, for `choice`; null is the usual.
        least, most: Of a number.
        unit: Of a number.
    """

    name: str
    label: str
    kind: Literal["choice", "number", "switch", "time"]
    widens: Widens
    choices: tuple[str | None, ...] = ()
    least: int = 0
    most: int = 0
    unit: str = ""


SETTINGS: Final = (
    Setting("language", SETTING_LABELS["language"], "choice", "never", (None, "en", "de")),
    Setting("quiet_hours.start", SETTING_LABELS["quiet_hours.start"], "time", "less quiet"),
    Setting("quiet_hours.end", SETTING_LABELS["quiet_hours.end"], "time", "less quiet"),
    Setting("suggestions.enabled", SETTING_LABELS["suggestions.enabled"], "switch", "on"),
    Setting(
        "memory.raw_reingestion_enabled",
        SETTING_LABELS["memory.raw_reingestion_enabled"],
        "switch",
        "on",
    ),
    Setting(
        "interaction.require_confirmation_on_material_ambiguity",
        SETTING_LABELS["interaction.require_confirmation_on_material_ambiguity"],
        "switch",
        "off",
    ),
    Setting(
        "sandbox.default_memory_mb",
        SETTING_LABELS["sandbox.default_memory_mb"],
        "number",
        "more",
        least=16,
        most=65_536,
        unit="MB",
    ),
    Setting(
        "sandbox.default_cpu_seconds",
        SETTING_LABELS["sandbox.default_cpu_seconds"],
        "number",
        "more",
        least=1,
        most=3_600,
        unit="s",
    ),
    Setting(
        "limits.max_delegation_depth",
        SETTING_LABELS["limits.max_delegation_depth"],
        "number",
        "more",
        most=10,
    ),
    Setting(
        "limits.max_memory_ops_per_turn",
        SETTING_LABELS["limits.max_memory_ops_per_turn"],
        "number",
        "more",
        most=100,
    ),
    Setting(
        "audit.checkpoint_minutes",
        SETTING_LABELS["audit.checkpoint_minutes"],
        "number",
        "more",
        least=1,
        most=1_440,
        unit="min",
    ),
)
"""Every one; another name is refused. What reaches this machine from elsewhere, starts code of
others, or says who sees what (`base_url`) is not among them."""


class ChangedSetting(NamedTuple):
    """What becomes of one.

    Attributes:
        widens: Whether it lets Silas do more, or be watched less.
    """

    setting: Setting
    before: Scalar
    after: Scalar
    widens: bool


class PlannedSettings(NamedTuple):
    """What is to be saved, held against every rule; nothing is written yet."""

    changes: tuple[ChangedSetting, ...]
    edit: ValuesEdit

    @property
    def widens(self) -> bool:
        """Whether a yes on a card is needed."""
        return any(one.widens for one in self.changes)


class SettingsService:
    """Saves settings into the configuration file, for the cockpit and the terminal."""

    def __init__(self, place: ConfigPlace, audit: Audit) -> None:
        self._place = place
        self.audit = audit

    @property
    def file(self) -> Path:
        """The configuration file."""
        return self._place.file

    def saved_config(self) -> SilasConfig:
        """The configuration as the next start reads it.

        Raises:
            ConfigError: It cannot be read.
        """
        file = self._place.file
        return load_config(file if file.exists() else None, self._place.environ)

    def has_value(self, name: str, value: Scalar) -> bool:
        """Whether a setting of this name has this value already."""
        return value_of(self.saved_config(), name) == value

    def plan(self, values: Mapping[str, Scalar]) -> PlannedSettings:
        """What these values change.

        Raises:
            ConfigError: One is not known here, breaks a rule, or nothing would change.
        """
        config = self.saved_config()
        for name, value in values.items():
            _require_fit(setting_of(name, self._place.file), value)
        changes, loses_quiet = list[ChangedSetting](), loses_quiet_of(config, values)
        for name, value in values.items():
            setting = setting_of(name, self._place.file)
            before = value_of(config, name)
            if before != value:
                widens = _widens(setting, before, value, loses_quiet=loses_quiet)
                changes.append(ChangedSetting(setting, before, value, widens))
        if not changes:
            raise ConfigError(tr("Nothing is different from what the file says."), code=_CODE)
        edit = plan_values(self._place.file, {one.setting.name: one.after for one in changes})
        require_meaning(edit, self._place)
        return PlannedSettings(tuple(changes), edit)

    async def write(self, planned: PlannedSettings) -> Path | None:
        """Write them, on record; returns where the former file is kept.

        Raises:
            ConfigError: The file changed meanwhile, or cannot be written.
        """
        self.audit.require_whole()
        facts = {
            "names": [one.setting.name for one in planned.changes],
            "widened": [one.setting.name for one in planned.changes if one.widens],
        }
        async with record_change(self.audit, _SAVING, **facts):
            return await asyncio.to_thread(write_values, planned.edit, self._place)

    async def record_no(self, planned: PlannedSettings) -> None:
        """Their card got no yes, wherever it was shown: put that on record."""
        names = [one.setting.name for one in planned.changes]
        await self.audit.log("settings_declined", names=names)


class AskedSettings:
    """Asks the owner about settings that widen what Silas may do, one card at a time."""

    def __init__(self, service: SettingsService, owner: Owner) -> None:
        self._service = service
        self._question = OneQuestion(owner, "settings", "E_CFG_SETTING_ASKED")

    def ask(self, planned: PlannedSettings) -> None:
        """Show the card; on a yes they are written.

        Raises:
            ConfigError: One waits already.
        """
        failed = tr_later("The settings were not saved: {why}")
        self._question.ask(
            settings_card(planned),
            partial(self._write_settings, planned),
            failed,
            partial(self._service.record_no, planned),
        )

    async def close(self) -> None:
        """Ask nobody any more."""
        await self._question.close()

    async def _write_settings(self, planned: PlannedSettings) -> str:
        await self._service.write(planned)
        return tr("The settings are saved; they count from the next start on.")


@asynccontextmanager
async def open_settings(config: SilasConfig, place: ConfigPlace) -> AsyncGenerator[SettingsService]:
    """The settings of an initialised Silas, beside a running one or without any.

    Raises:
        ConfigError: Silas was not set up here.
    """
    async with open_audit(config) as service:
        yield SettingsService(place, service.log)


def setting_of(name: str, file: Path) -> Setting:
    """The setting of this name.

    Raises:
        ConfigError: There is none; names those there are.
    """
    known = {one.name: one for one in SETTINGS}
    if name not in known:
        raise ConfigError(
            tr(
                "{name} is not among the settings that are changed here ({known}); change it in "
                "{file}.",
                name=repr(name),
                known=", ".join(known),
                file=str(file),
            ),
            code=_CODE,
        )
    return known[name]


def value_from(name: str, text: str, file: Path) -> Scalar:
    """A value as it is typed; what is none of its kind stays text, which `plan` refuses.

    Raises:
        ConfigError: There is no setting of this name.
    """
    match setting_of(name, file).kind:
        case "choice":
            return None if text == "null" else text
        case "switch":
            return _SWITCHED.get(text, text)
        case "number":
            return int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else text
        case "time":
            return text


def in_words(setting: Setting, value: Scalar) -> str:
    """A value as a person reads it."""
    if setting.kind == "switch":
        return tr("on") if value else tr("off")
    if value is None:
        return tr("as on this machine")
    return f"{value} {setting.unit}".strip()


def change_words(one: ChangedSetting) -> str:
    """What becomes of one, in a line."""
    before, after = in_words(one.setting, one.before), in_words(one.setting, one.after)
    return f"{tr(one.setting.label)}: {before} → {after}"


def unchanged_words(name: str, value: Scalar, file: Path) -> str:
    """That a setting has a value already.

    Raises:
        ConfigError: There is no setting of this name.
    """
    setting = setting_of(name, file)
    words = in_words(setting, value)
    return tr(
        "{label}: {value} already; nothing was written.", label=tr(setting.label), value=words
    )


def settings_card(planned: PlannedSettings) -> DecisionCard:
    """Whether they are to be saved, with every one that changes."""
    wider = [one for one in planned.changes if one.widens]
    return DecisionCard(
        intent=tr("Save settings that let Silas do more"),
        risk=Risk.high,
        rationale=tr(
            "It changes {file}, which counts from the next start on.", file=str(planned.edit.file)
        ),
        details=(
            Detail(heading=tr("Lets it do more"), lines=tuple(map(change_words, wider)), open=True),
            *(
                Detail(heading=tr("Also changes"), lines=(change_words(one),), open=True)
                for one in planned.changes
                if not one.widens
            ),
        ),
        actions=(
            Action(label=tr("Save them"), value=YES, role="recommended"),
            Action(label=tr("Leave them as they are"), value=NO, role="decline"),
        ),
        safe=NO,
    )


def _require_fit(setting: Setting, value: Scalar) -> None:
    fits: Mapping[str, Callable[[], bool]] = {
        "choice": lambda: value in setting.choices,
        "switch": lambda: isinstance(value, bool),
        "time": lambda: isinstance(value, str) and len(value) == len("00:00"),
        "number": lambda: (
            isinstance(value, int)
            and not isinstance(value, bool)
            and setting.least <= value <= setting.most
        ),
    }
    if fits[setting.kind]():
        return
    wanted = {
        "choice": ", ".join("null" if one is None else one for one in setting.choices),
        "switch": "true, false",
        "time": tr('a time of day such as "22:00"'),
        "number": tr(
            "a whole number from {least} to {most}", least=setting.least, most=setting.most
        ),
    }
    words = tr(
        "{label} ({name}) must be {wanted}.",
        label=tr(setting.label),
        name=setting.name,
        wanted=wanted[setting.kind],
    )
    raise ConfigError(words, code=_CODE, field=setting.name)


def _widens(setting: Setting, before: Scalar, after: Scalar, *, loses_quiet: bool) -> bool:
    match setting.widens:
        case "never":
            return False
        case "more":
            if isinstance(before, int | float) and isinstance(after, int | float):
                return after > before
            return True
        case "on":
            return after is not False
        case "off":
            return after is not True
        case "less quiet":
            return loses_quiet
