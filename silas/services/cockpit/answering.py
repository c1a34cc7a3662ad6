"""Who answers, for the cockpit: what is in force, and choosing another one (spec 1.5, 8.1)."""

import asyncio

from silas.agents.choice import PROVIDER_KEY, RUNBOOK
from silas.channels.web.views import Done, SecretAsked
from silas.channels.web.views_models import (
    AnsweringView,
    ChosenModels,
    KeyView,
    OfferView,
    RoleView,
)
from silas.language import tr
from silas.services.cockpit.facts import answering_name
from silas.services.cockpit.setup import SetupRoom
from silas.services.setup.who_answers import AnswerProvider, ModelSwitch, provider_of


class AnsweringDoor:
    """`silas.channels.web.port.AnsweringRoom` over what changes who answers."""

    def __init__(self, answering: ModelSwitch, setup: SetupRoom) -> None:
        self._answering = answering
        self._setup = setup

    async def look(self) -> AnsweringView:
        """See `AnsweringRoom.look`. No key is opened."""
        models = self._answering.in_force()
        key = await asyncio.to_thread(self._answering.key.standing)
        return AnsweringView(
            provider=provider_of(models),
            roles=tuple(
                RoleView(name=words, model=answering_name(choice.name), server=choice.base_url)
                for words, choice in (
                    (tr("talks with you"), models.proxy),
                    (tr("makes plans"), models.planner),
                    (tr("does approved work"), models.executor),
                )
            ),
            key=KeyView(
                place=key.place,
                ref_id=key.ref_id,
                checked_at=key.checked_at,
                refused=key.refused,
            ),
            file=str(self._answering.file),
            asks=self._answering.asks,
        )

    async def find(self) -> tuple[OfferView, ...]:
        """See `AnsweringRoom.find`."""
        return tuple(
            OfferView(name=one.choice.name, server=one.choice.base_url, words=one.words)
            for one in await self._answering.find()
        )

    async def choose(self, provider: AnswerProvider, name: str, server: str) -> ChosenModels:
        """See `AnsweringRoom.choose`. The built-in one shows nobody anything."""
        proposed = await self._answering.propose(provider, name, server)
        if provider == RUNBOOK:
            await self._answering.settle(proposed)
            return ChosenModels(
                asks=False, words=tr("From now on you get Silas's built-in answers.")
            )
        self._answering.ask(proposed)
        return ChosenModels(asks=True, words=tr("It was tried. Your yes is asked for in Review."))

    async def ask_key(self) -> SecretAsked:
        """See `AnsweringRoom.ask_key`."""
        self._answering.refuse_while_needed()
        return await self._setup.ask_secret(PROVIDER_KEY, replaces=True)

    async def check_key(self) -> Done:
        """See `AnsweringRoom.check_key`."""
        verdict = await self._answering.check_key()
        if verdict.fault:
            return Done(words=tr(verdict.fault))
        if verdict.checked:
            return Done(words=tr("OpenRouter knows this key."))
        return Done(words=tr("OpenRouter could not be asked, so the key is not checked."))
