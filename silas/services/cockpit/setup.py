"""The first run for the cockpit, and secrets on a path outside the agent (spec 0.5, 1.5, 8.1)."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from silas.agents.choice import PROVIDER_KEY, RUNBOOK
from silas.audit import Audit
from silas.audit.intent import ChangeEvents, record_change
from silas.cards import Action, CardChannel
from silas.cards.models import SecureInputAnswer, SecureInputCard
from silas.channels.web.views import Choice, Done, Onboarding, SecretAsked
from silas.channels.web.views_kept import SecretRow, SecretRows
from silas.clock import Clock
from silas.config.firstrun import FirstRun, keep_first_run, read_first_run
from silas.errors import ConfigError, SilasError
from silas.keys.secret_inputs import SecretInputs
from silas.keys.secret_registry import SecretRegistry
from silas.keys.secrets import SecretVault
from silas.language import tr, tr_later
from silas.services.cockpit.announcements import Announcer
from silas.services.mcp_servers.running import RunningServers
from silas.services.secrets import SecretsService, needed_words
from silas.services.setup.provider_key import KeyVerdict, note_provider_key
from silas.services.setup.who_answers import ModelSwitch
from silas.stream.owner import Owner
from silas.types import Risk

_STORING: Final = ChangeEvents("secret.adding", "secret_stored", "secret.not_changed")

KeyState = Literal["needed", "stored", "none"]

_READY = tr_later("I'm ready. Tell me what to connect first, or I'll figure it out.")
_AGAIN = tr_later("Start Silas again to let it answer.")
_LOCAL = tr_later("Name your server under More, Who answers.")
_KEY = tr_later("Enter the key on the card that is open.")


class SetupRoom:
    """`silas.channels.web.port.Setup` over the vault, the first-run file and the channel."""

    def __init__(
        self,
        folder: Path,
        answering: ModelSwitch,
        vault: SecretVault,
        servers: RunningServers,
        secrecy: SecretRegistry,
        channel: CardChannel,
        announce: Announcer,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._folder = folder
        self._answering = answering
        self._vault = vault
        self._servers = servers
        self._inputs = SecretInputs(vault, clock)
        self._secrecy = secrecy
        self._owner = Owner(channel, audit, clock)
        self._announce = announce
        self._audit = audit
        self._clock = clock
        self._asked: set[asyncio.Task[None]] = set()

    @property
    def _in_force(self) -> str:
        return self._answering.in_force().proxy.name

    @property
    def first_run(self) -> bool:
        """Whether nobody has said yet who is to answer, neither here nor in the configuration."""
        return self._in_force == RUNBOOK and read_first_run(self._folder) is None

    async def onboarding(self) -> Onboarding:
        """See `Setup.onboarding`."""
        chosen = await asyncio.to_thread(read_first_run, self._folder)
        if chosen is None:
            return Onboarding(
                needed=self._in_force == RUNBOOK,
                provider="",
                providers=_choices(),
                in_force=self._in_force,
                key="none",
                restart=False,
            )
        key = await self._key(chosen)
        return Onboarding(
            needed=False,
            provider=chosen.provider,
            providers=_choices(),
            in_force=self._in_force,
            key=key,
            restart=self._restarts(chosen, key),
            name=chosen.name,
            email=chosen.email,
            phone=chosen.phone,
            words=self._words(chosen, key),
        )

    async def onboard(self, provider: str, name: str, email: str, phone: str) -> Onboarding:
        """See `Setup.onboard`. On record stands the provider alone."""
        said = {"provider": provider, "name": name, "email": email, "phone": phone}
        chosen = FirstRun.model_validate(said)
        key = await self._key(chosen)
        await self._keep(chosen.model_copy(update={"key": key == "stored"}))
        await self._audit.log("onboarded", provider=chosen.provider)
        if key == "needed" and not self._inputs.awaits(PROVIDER_KEY):
            await self.ask_secret(PROVIDER_KEY)
        return await self.onboarding()

    async def ask_secret(self, label: str, *, replaces: bool = False) -> SecretAsked:
        """See `Setup.ask_secret`. It waits as long as its card does.

        Args:
            label: Its name.
            replaces: Whether it takes the place of the one of that name.
        """
        ref_id = await asyncio.to_thread(self._inputs.open, label, replaces=replaces)
        task = asyncio.create_task(self._show_card(secret_card(ref_id, label)))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        return SecretAsked(ref_id=ref_id, label=label)

    async def secrets(self) -> SecretRows:
        """See `Setup.secrets`. Nothing is opened."""
        found = await asyncio.to_thread(self._vault.facts)
        return SecretRows(
            secrets=tuple(
                SecretRow(**one._asdict(), servers=self._servers.users_of(one.name))
                for one in found
            )
        )

    async def remove_secret(self, ref_id: str) -> Done:
        """See `Setup.remove_secret`."""
        if ref_id not in await asyncio.to_thread(self._vault.refs):
            raise ConfigError(
                tr_later("This secret is no longer in the key store."), code="E_CFG_SECRET_UNKNOWN"
            )
        providers = ref_id == (await asyncio.to_thread(self._answering.key.standing)).ref_id
        if providers:
            self._answering.refuse_while_needed()
        service = SecretsService(self._folder, self._vault, self._audit, self._clock)
        removed = await service.remove(ref_id)
        if providers:
            await self._answering.without_key()
        users = self._servers.users_of(removed.name)
        await self._servers.follow()
        words = tr("{name} is no longer in the key store.", name=removed.name)
        return Done(words=" ".join((words, *needed_words(users))))

    async def _show_card(self, card: SecureInputCard) -> None:
        try:
            await self._owner.ask(card)
        finally:
            self._inputs.close(card.ref_id)

    async def store_secret(self, ref_id: str, value: str) -> None:
        """See `Setup.store_secret`; what cannot be recorded is not kept (decision B5)."""
        key, verdict = self._answering.key, KeyVerdict("", checked=False)
        if self._inputs.label(ref_id) == PROVIDER_KEY:
            verdict = await key.try_new(value)
            if verdict.fault:
                words = f"Nothing was stored: {verdict.fault}"
                raise ConfigError(words, code="E_CFG_SECRET", field="value")
        async with record_change(self._audit, _STORING, ref_id=ref_id):
            facts = await self._inputs.store(ref_id, value)
            await asyncio.to_thread(self._secrecy.refresh)  # from now on nothing shows it
        if facts.name == PROVIDER_KEY:
            await asyncio.to_thread(key.note, ref_id, verdict)
            await asyncio.to_thread(note_provider_key, self._folder, stored=True)
            with suppress(SilasError):  # what is under way ends first; the next start has it
                await self._answering.new_key()
        self._announce.secret_stored(ref_id)

    async def _keep(self, chosen: FirstRun) -> None:
        await asyncio.to_thread(keep_first_run, self._folder, chosen)

    async def close(self) -> None:
        """Wait for no secret any more."""
        for task in tuple(self._asked):
            task.cancel()
        if self._asked:
            await asyncio.wait(set(self._asked))
        await self._answering.close()

    async def _key(self, chosen: FirstRun) -> KeyState:
        if chosen.provider != "openrouter":
            return "none"
        standing = await asyncio.to_thread(self._answering.key.standing)
        return "needed" if standing.place == "none" else "stored"

    def _restarts(self, chosen: FirstRun, key: KeyState) -> bool:
        """Whether another model answers from the next start on."""
        if chosen.provider == "openrouter":
            return key == "stored" and self._in_force == RUNBOOK
        return False

    def _words(self, chosen: FirstRun, key: KeyState) -> str:
        if key == "needed":
            return tr(_KEY)
        if self._restarts(chosen, key):
            return tr(_AGAIN)
        local = chosen.provider == "local" and self._in_force == RUNBOOK
        return tr(_LOCAL if local else _READY)


def secret_card(ref_id: str, label: str) -> SecureInputCard:
    """The card that asks for a secret; its form goes to `POST /secrets/{ref_id}`."""
    no = SecureInputAnswer(ref_id=ref_id, success=False)
    yes = SecureInputAnswer(ref_id=ref_id, success=True)
    return SecureInputCard(
        intent=tr("Store the secret {label}", label=label),
        risk=Risk.low,
        rationale=tr("It goes straight into your key store: no model, message or record sees it."),
        actions=(
            Action(label=tr("Store it"), value=yes, role="recommended"),
            Action(label=tr("Not now, store nothing"), value=no, role="decline"),
        ),
        safe=no,
        ref_id=ref_id,
        label=label,
    )


def _choices() -> tuple[Choice, ...]:
    """Who could answer, as the first step offers it."""
    return (
        Choice(
            value="openrouter",
            label=tr("Use OpenRouter"),
            words=tr(
                "A language model of your choice; needs a key, which goes into your key store."
            ),
        ),
        Choice(
            value="local",
            label=tr("Use a model on this machine"),
            words=tr("A server such as Ollama; nothing leaves this machine."),
        ),
        Choice(
            value="runbook",
            label=tr("Start without a model"),
            words=tr("Silas follows runbooks, needs no key and no network."),
        ),
    )
