"""Settings that can be changed in the cockpit, as the configuration file has them (spec 1.5)."""

import asyncio
from collections.abc import Mapping

from silas.channels.web.views_settings import (
    SettingChangeView,
    SettingChoice,
    SettingRow,
    SettingRows,
    SettingsSaved,
    SettingsView,
    SettingValue,
)
from silas.config import SilasConfig
from silas.config.edit_values import value_of
from silas.language import tr
from silas.services.setup.saved_settings import (
    SETTINGS,
    AskedSettings,
    Setting,
    SettingsService,
    change_words,
    in_words,
)


class SettingsDoor:
    """`silas.channels.web.port.SettingsRoom` over the service that saves them.

    Args:
        config: What this Silas was started with.
        service: Saves them.
        asked: Asks about those that let Silas do more.
    """

    def __init__(self, config: SilasConfig, service: SettingsService, asked: AskedSettings) -> None:
        self._config = config
        self._service = service
        self._asked = asked

    async def rows(self) -> SettingRows:
        """See `SettingsRoom.rows`."""
        written = await asyncio.to_thread(self._service.saved_config)
        rows = tuple(_row(one, written, self._config) for one in SETTINGS)
        return SettingRows(file=str(self._service.file), rows=rows)

    async def show(self, changes: Mapping[str, SettingValue]) -> SettingsView:
        """See `SettingsRoom.show`."""
        planned = await asyncio.to_thread(self._service.plan, changes)
        return SettingsView(
            file=str(self._service.file),
            changes=tuple(
                SettingChangeView(words=change_words(one), widens=one.widens)
                for one in planned.changes
            ),
            asks=planned.widens,
        )

    async def save(self, changes: Mapping[str, SettingValue]) -> SettingsSaved:
        """See `SettingsRoom.save`."""
        planned = await asyncio.to_thread(self._service.plan, changes)
        if planned.widens:
            self._asked.ask(planned)
            return SettingsSaved(asks=True, words=tr("Your yes is asked for in Review."))
        await self._service.write(planned)
        return SettingsSaved(
            asks=False, words=tr("The settings are saved; they count from the next start on.")
        )

    async def close(self) -> None:
        """Ask nobody any more."""
        await self._asked.close()


def _row(setting: Setting, written: SilasConfig, started: SilasConfig) -> SettingRow:
    return SettingRow(
        name=setting.name,
        label=tr(setting.label),
        kind=setting.kind,
        value=value_of(written, setting.name),
        in_force=value_of(started, setting.name),
        choices=tuple(
            SettingChoice(value=one, words=_value_name(setting, one)) for one in setting.choices
        ),
        least=setting.least,
        most=setting.most,
        unit=setting.unit,
    )


def _value_name(setting: Setting, value: str | None) -> str:
    return {"en": "English", "de": "Deutsch"}.get(value or "", in_words(setting, value))
