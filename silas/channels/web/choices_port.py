"""What the routes about who answers, who is shown what, and settings need, as ports."""

from collections.abc import Mapping
from typing import Literal, Protocol

from silas.channels.web.views import Done, SecretAsked
from silas.channels.web.views_connections import ConnectionRows, NewServer, ServerChange
from silas.channels.web.views_kept import ShowingRows
from silas.channels.web.views_models import AnsweringView, ChosenModels, OfferView
from silas.channels.web.views_settings import (
    SettingRows,
    SettingsSaved,
    SettingsView,
    SettingValue,
)


class AnsweringRoom(Protocol):
    """Who answers. Each raises where it cannot be changed, and nothing is changed then."""

    async def look(self) -> AnsweringView:
        """Who does now."""
        ...

    async def find(self) -> tuple[OfferView, ...]:
        """The models of servers on this machine."""
        ...

    async def choose(
        self, provider: Literal["openrouter", "local", "runbook"], name: str, server: str
    ) -> ChosenModels:
        """Try it, and ask the owner on a card; the built-in one is taken at once."""
        ...

    async def ask_key(self) -> SecretAsked:
        """Ask for the provider's key, which takes the place of the one that is there."""
        ...

    async def check_key(self) -> Done:
        """What the provider says of the key that is there."""
        ...


class ShowingRoom(Protocol):
    """What the owner answered about showing directories to models elsewhere."""

    async def look(self) -> ShowingRows:
        """Every directory that he was asked about."""
        ...

    async def ask_again(self, workspace: str) -> Done:
        """Take the answers about a directory back. Raises where there is none."""
        ...


class ConnectionRoom(Protocol):
    """Servers of tools and channels. What changes one raises where none has this name."""

    async def look(self) -> ConnectionRows:
        """Every one."""
        ...

    async def retry(self, name: str) -> Done:
        """Try a server now that is not there."""
        ...

    async def distrust(self, name: str) -> Done:
        """Trust a server no more, which ends it at once."""
        ...

    async def add(self, wanted: NewServer) -> Done:
        """Ask about a server on a card. Raises where it cannot be added."""
        ...

    async def change(self, wanted: ServerChange) -> Done:
        """Ask about another form of a server on a card. Raises where it cannot be changed so."""
        ...

    async def trust(self, name: str) -> Done:
        """Look at a server's tools, and ask about them on a card."""
        ...

    async def remove(self, name: str) -> Done:
        """End a server, and take it out of the configuration file."""
        ...


class SettingsRoom(Protocol):
    """Settings that can be changed here. Each raises where one is not known or does not fit."""

    async def rows(self) -> SettingRows:
        """Every one."""
        ...

    async def show(self, changes: Mapping[str, SettingValue]) -> SettingsView:
        """What these change; saves nothing."""
        ...

    async def save(self, changes: Mapping[str, SettingValue]) -> SettingsSaved:
        """Save them, or ask the owner on a card where one lets Silas do more."""
        ...
