"""Who answers: tried, asked about, written to the configuration file, in force at once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol
from urllib.parse import urlsplit

from silas.agents.choice import RUNBOOK, ModelChoice, ModelsConfig, default_models
from silas.audit import Audit
from silas.audit.intent import ChangeEvents, record_change
from silas.cards import Action, Detail
from silas.cards.models import DecisionCard
from silas.clock import Clock
from silas.config.edit import ModelsEdit, plan_models, write_models
from silas.config.firstrun import FirstRun, keep_first_run, read_first_run
from silas.config.load import load_config
from silas.config.place import ConfigPlace
from silas.errors import ConfigError
from silas.language import tr, tr_later
from silas.services.doctor.reachability import try_made
from silas.services.setup.model_servers import USUAL, find_servers, is_model_name
from silas.services.setup.models import ModelOffer, offers_of
from silas.services.setup.one_question import NO, YES, OneQuestion
from silas.services.setup.provider_key import KeyVerdict, ProviderKey
from silas.services.tools.look_tools import describe_viewers
from silas.stream.owner import Owner
from silas.types import Risk

if TYPE_CHECKING:
    from pydantic_ai.models import Model

AnswerProvider = Literal["openrouter", "local", "runbook"]

_SECONDS: Final = 600.0
_CODE: Final = "E_CFG_MODEL"
_CHOICE: Final = ChangeEvents("models_choosing", "models_chosen", "models_not_chosen")
_LONGEST: Final = 200  # characters of an address


class ModelsInForce(Protocol):
    """The models that answer now."""

    def choices(self) -> ModelsConfig:
        """Which model serves which role."""
        ...

    async def take(self, choices: ModelsConfig, busy: Callable[[], bool]) -> None:
        """Put others in force: all of them, or none. Raises `ConfigError` where it cannot be."""
        ...


class ModelListener(Protocol):
    """Who is told that others answer."""

    def other_models(self, *, runbook: bool) -> None:
        """Others answer from now on; whether the built-in one does."""
        ...


class ProposedModel(NamedTuple):
    """Who is to answer, tried and not in force yet.

    Attributes:
        answered: How the try went; empty where none was needed.
        edit: What becomes of the configuration file.
    """

    provider: AnswerProvider
    models: ModelsConfig
    answered: str
    edit: ModelsEdit


class ModelSwitch:
    """Changes who answers. The file and what is in force say the same afterwards.

    Args:
        place: The configuration file, which is written.
        folder: The data directory, with the choices of the first run.
        models: What is in force.
        busy: Whether something is under way.
        key: The hosted provider's key.
        make: Makes a model of a choice.
        owner: Whom it is asked.
        announce: Told when another one answers.
        audit, clock: As everywhere.
    """

    def __init__(
        self,
        place: ConfigPlace,
        folder: Path,
        models: ModelsInForce,
        busy: Callable[[], bool],
        key: ProviderKey,
        make: "Callable[[ModelChoice], Model]",
        owner: Owner,
        announce: ModelListener,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._place = place
        self._folder = folder
        self._models = models
        self._busy = busy
        self.key = key
        self._make = make
        self._question = OneQuestion(owner, "who answers", "E_CFG_MODEL_BUSY")
        self._announce = announce
        self._audit = audit
        self._clock = clock

    @property
    def file(self) -> Path:
        """The configuration file."""
        return self._place.file

    @property
    def asks(self) -> bool:
        """Whether the owner is being asked about another one."""
        return self._question.waits

    def in_force(self) -> ModelsConfig:
        """Which model serves which role now."""
        return self._models.choices()

    async def find(self) -> tuple[ModelOffer, ...]:
        """The models of the servers on this machine's loopback; nothing else is asked."""
        return tuple(offers_of(await find_servers(USUAL)))

    async def propose(self, provider: AnswerProvider, name: str, base_url: str) -> ProposedModel:
        """Try who is to answer, and work out what the file will say; nothing is changed.

        Raises:
            ConfigError: It does not answer, has no key, or the file cannot be written.
        """
        models, answered = await self._try_model(provider, name.strip(), base_url.strip())
        edit = await asyncio.to_thread(plan_models, self._place.file, dict(models))
        return ProposedModel(provider, models, answered, edit)

    def ask(self, proposed: ProposedModel) -> None:
        """Ask the owner on a card; on the yes of a device of his it is put in force.

        Raises:
            ConfigError: He is being asked already.
        """
        failed = tr_later("Nothing was changed about who answers: {why}")
        self._question.ask(answering_card(proposed), partial(self._settle_model, proposed), failed)

    async def settle(self, proposed: ProposedModel) -> None:
        """Put it in force and write it down: both, or neither.

        Raises:
            ConfigError: Something is under way, or the file cannot be written.
        """
        before = self._models.choices()
        self._audit.require_whole()
        if self._busy():
            raise busy_error()
        facts = {
            "provider": proposed.provider,
            "models": sorted({one.name for _, one in proposed.models}),
            "servers": sorted({one.base_url for _, one in proposed.models if one.base_url}),
        }
        async with record_change(self._audit, _CHOICE, **facts):
            await self._models.take(proposed.models, self._busy)
            try:
                await asyncio.to_thread(write_models, proposed.edit, self._place.environ)
            except ConfigError:
                await self._models.take(before, lambda: False)
                raise
        await asyncio.to_thread(self._keep, proposed.provider)
        self._tell(proposed.models)

    async def refresh(self) -> bool:
        """Put in force what the next start would; whether anything is otherwise now.

        Raises:
            ConfigError: The file cannot be read, a model not made, or something is under way.
        """
        wanted = await asyncio.to_thread(self._as_written)
        if wanted == self._models.choices():
            return False
        await self._models.take(wanted, self._busy)
        self._tell(wanted)
        return True

    async def new_key(self) -> bool:
        """Let the models that use the key be made anew with the one that is kept now.

        Raises:
            ConfigError: Something is under way; they are made anew at the next start.
        """
        now = self._models.choices()
        if not uses_key(now):
            return await self.refresh()
        await self._models.take(now, self._busy)
        return True

    def refuse_while_needed(self) -> None:
        """Raises `ConfigError` while something is under way with models that use the key."""
        if uses_key(self._models.choices()) and self._busy():
            raise busy_error()

    async def without_key(self) -> None:
        """Let the built-in one answer where those that did have no key any more."""
        if uses_key(self._models.choices()) and self.key.standing().place == "none":
            await self.settle(await self.propose("runbook", "", ""))

    async def check_key(self) -> KeyVerdict:
        """Ask the provider about the key that is there."""
        return await self.key.check()

    async def close(self) -> None:
        """Ask nobody any more."""
        await self._question.close()

    async def _try_model(
        self, provider: AnswerProvider, name: str, base_url: str
    ) -> tuple[ModelsConfig, str]:
        if provider == RUNBOOK:
            return ModelsConfig(), ""
        if provider == "openrouter":
            if self.key.standing().place == "none":
                raise ConfigError("OpenRouter needs a key; enter it first.", code="E_CFG_SECRET")
            return default_models({}, key_stored=True), ""
        choice = server_choice(name, base_url)
        tried = await try_made(self._make, choice, self._clock)
        if not tried.ok:
            fault = tried.words.rstrip(".")
            raise ConfigError(f"Nothing was changed: {fault}.", code=_CODE)
        return ModelsConfig(
            proxy=choice, planner=choice, executor=choice, scorer=choice
        ), tried.words

    async def _settle_model(self, proposed: ProposedModel) -> str:
        await self.settle(proposed)
        return tr("{model} answers from now on.", model=model_words(proposed.models))

    def _as_written(self) -> ModelsConfig:
        file = self._place.file
        return load_config(file if file.exists() else None, self._place.environ).models

    def _tell(self, models: ModelsConfig) -> None:
        self._announce.other_models(runbook=models.proxy.name == RUNBOOK)

    def _keep(self, provider: AnswerProvider) -> None:
        """The first run has its answer; who the owner is stays as he said."""
        chosen = read_first_run(self._folder) or FirstRun(provider=provider)
        stored = self.key.standing().place == "stored"
        with suppress(ConfigError):  # the configuration file says it already
            keep_first_run(
                self._folder, chosen.model_copy(update={"provider": provider, "key": stored})
            )


def server_choice(name: str, base_url: str) -> ModelChoice:
    """A model at a server of the owner's.

    Raises:
        ConfigError: The name or the address cannot be used.
    """
    if not is_model_name(name) or name == RUNBOOK or name.startswith("python:"):
        words = "Name the model: one short line, as its server names it."
        raise ConfigError(words, code=_CODE, field="name")
    if not _is_address(base_url):
        raise ConfigError(
            "Write the server's address like http://127.0.0.1:8080/v1, without a user or password.",
            code=_CODE,
            field="server",
        )
    return ModelChoice(name=name, base_url=base_url)


def _is_address(text: str) -> bool:
    if not text.startswith(("http://", "https://")) or len(text) > _LONGEST:
        return False
    try:
        parts = urlsplit(text)
        plain = text.isprintable() and " " not in text and "${" not in text
        return plain and bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        return False


def uses_key(models: ModelsConfig) -> bool:
    """Whether a model of these is asked with the hosted provider's key."""
    every = [one for _, choice in models for one in (choice, choice.fallback) if one is not None]
    return any(one.name.startswith("openrouter:") and not one.api_key_env for one in every)


def provider_of(models: ModelsConfig) -> str:
    """Which of the page's choices these come from; `other` where from none."""
    choices: Sequence[ModelChoice] = [choice for _, choice in models]
    if all(one.name == RUNBOOK for one in choices):
        return "runbook"
    if all(one.name.startswith("openrouter:") for one in choices):
        return "openrouter"
    return "local" if all(one.base_url for one in choices) else "other"


def model_words(models: ModelsConfig) -> str:
    """Which models these are, and at which server."""
    named: Mapping[str, str] = {one.name: one.base_url for _, one in models}
    return ", ".join(f"{name} ({url})" if url else name for name, url in named.items())


def busy_error() -> ConfigError:
    """What is said where something is under way."""
    return ConfigError(
        "Something is under way with the model that answers now; choose another one when it has "
        "ended, or stop it.",
        code="E_CFG_MODEL_BUSY",
    )


def answering_card(proposed: ProposedModel) -> DecisionCard:
    """Whether these are to answer, with who is shown what and what the file will say."""
    outside = describe_viewers(proposed.models)
    gone = (
        (tr("the section `models:` that is there goes away; the former file is kept beside it"),)
        if proposed.edit.replaces
        else ()
    )
    return DecisionCard(
        intent=tr("Let {model} answer from now on", model=model_words(proposed.models)),
        risk=Risk.high if outside else Risk.medium,
        rationale=tr(
            "Your messages, and the files and outputs that models are shown, go to {whom}.",
            whom=outside,
        )
        if outside
        else tr("Nothing leaves this machine by it, unless the server itself passes it on."),
        details=(
            Detail(
                heading=tr("What {file} will say", file=str(proposed.edit.file)),
                lines=(*(line.strip() for line in proposed.edit.lines), *gone),
                open=True,
            ),
            *(
                (Detail(heading=tr("It was tried"), lines=(proposed.answered,)),)
                if proposed.answered
                else ()
            ),
        ),
        actions=(
            Action(label=tr("Let it answer"), value=YES, role="recommended"),
            Action(label=tr("Leave it as it is"), value=NO, role="decline"),
        ),
        safe=NO,
        timeout_seconds=_SECONDS,
    )
