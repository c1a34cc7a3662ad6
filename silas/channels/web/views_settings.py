"""What the cockpit shows of settings that can be changed there, and of what a change means."""

from typing import Literal

from silas.types import FrozenModel

SettingValue = str | int | float | bool | None


class SettingChoice(FrozenModel):
    """One value that a setting may have, and how it reads."""

    value: str | None
    words: str


class SettingRow(FrozenModel):
    """A setting that can be changed here.

    Attributes:
        name: Its dotted name in the configuration file.
        label: What it is.
        kind: Which field it has.
        value: What the file says, or what counts where it says nothing.
        in_force: What this Silas was started with.
        choices: For `choice`.
        least, most, unit: For `number`.
    """

    name: str
    label: str
    kind: Literal["choice", "number", "switch", "time"]
    value: SettingValue
    in_force: SettingValue
    choices: tuple[SettingChoice, ...] = ()
    least: int = 0
    most: int = 0
    unit: str = ""


class SettingRows(FrozenModel):
    """Every one, and the file that has them."""

    file: str
    rows: tuple[SettingRow, ...]


class SettingChangeView(FrozenModel):
    """What becomes of a setting; `widens`: it lets Silas do more, or be watched less."""

    words: str
    widens: bool


class SettingsView(FrozenModel):
    """What would be saved; nothing is. `asks`: the owner is asked on a card first."""

    file: str
    changes: tuple[SettingChangeView, ...]
    asks: bool


class SettingsSaved(FrozenModel):
    """What came of saving; `asks`: a card waits, and nothing is saved yet."""

    asks: bool
    words: str
