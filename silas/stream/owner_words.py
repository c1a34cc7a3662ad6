"""Step 7 without a model: what the owner's own words ask for is done by code, and answered at once.

Nobody else's words, and none that a model wrote, do anything here. An MCP client is told so. Where
a model says how a message of the owner's is to be read, `silas.stream.reminding` has the rule.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from silas.agents import AgentResponse, PlanAction, PlanActionType, RouteDecision
from silas.audit import Audit
from silas.errors import SilasError
from silas.language import refusal_words, said_at, tr
from silas.stream.models import MCP_CLIENT, Outcome
from silas.stream.plan_review import ReviewPlans
from silas.stream.state import Turn, need
from silas.stream.turn_modes import TurnModes
from silas.types import InteractionMode, InteractionRegister, TaintLevel

RequestT = TypeVar("RequestT")
SourceT = TypeVar("SourceT")

Answered = tuple[str, Outcome]
"""What is answered, and how the turn ends with it."""


class OwnerWords(ABC, Generic[RequestT]):
    """Answers the owner's own messages of one kind.

    Args:
        audit: Where the turn is recorded.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.

    Attributes:
        reason: Why such a turn needs no model.
        owners_only: What an MCP client that says it is told.
        register: How it is spoken of.
        interaction: How far one goes by it.
    """

    reason: ClassVar[str]
    owners_only: ClassVar[str]
    register: ClassVar[InteractionRegister] = InteractionRegister.status
    interaction: ClassVar[InteractionMode] = InteractionMode.confirm_only_when_required

    def __init__(self, audit: Audit, modes: TurnModes, profile: str) -> None:
        self._audit = audit
        self._modes = modes
        self._profile = profile

    async def answer(self, turn: Turn) -> bool:
        """Fill in route and response; False where it is no such message of the owner's."""
        owners = turn.message.taint is TaintLevel.owner
        if not owners and turn.message.incoming.connection_id != MCP_CLIENT:
            return False
        asked = self._parse_request(turn.message.text)
        if asked is None:
            return False
        if not await self._answer_request(turn, asked, owners=owners):
            return False
        route = need(turn.answer.route, "the answer")
        await self._audit.log(
            "turn_routed",
            turn_id=turn.id,
            route="direct",
            register=self.register.value,
            mode=need(turn.answer.mode, "the answer").value,
            profile=route.context_profile,
            **self._facts(asked),
        )
        return True

    async def _answer_request(self, turn: Turn, asked: RequestT, *, owners: bool) -> bool:
        plan = ""
        try:
            answered = await self._do(turn, asked) if owners else (tr(self.owners_only), "answered")
            plan = await self._plan(asked) if owners and answered is not None else ""
        except SilasError as error:
            words = said_at(turn.door, refusal_words(error.message))
            answered = (self._describe_refusal(words), "answered")
        if answered is None:
            return False
        words, turn.answer.outcome = answered
        turn.answer.speaker, turn.proposal.returned = "silas", 0
        turn.answer.response = _response(words, plan)
        turn.answer.route = RouteDecision(
            route="direct",
            reason=self.reason,
            response=turn.answer.response,
            interaction_register=self.register,
            interaction_mode=self.interaction,
            context_profile=self._profile,
        )
        turn.answer.mode = self._modes.mode(turn, None)
        return True

    @abstractmethod
    def _parse_request(self, text: str) -> RequestT | None:
        """What a message asks for; None where it is of another kind."""

    @abstractmethod
    async def _do(self, turn: Turn, asked: RequestT) -> Answered | None:
        """Do it; None where it turns out to be of another kind after all."""

    async def _plan(self, asked: RequestT) -> str:
        """The plan that the owner is asked about next; empty where there is none."""
        del asked
        return ""

    def _describe_refusal(self, words: str) -> str:
        """What is answered where it cannot be done: why, in the owner's language at his door."""
        return words

    def _facts(self, asked: RequestT) -> dict[str, str]:
        """What the record says of it besides."""
        del asked
        return {}


class LookupWords(OwnerWords[RequestT], Generic[RequestT, SourceT]):
    """Answers a question of the owner's from what Silas keeps.

    Args:
        source: What is asked.
        plans: Whether a language model plans, and so answers what code does not.
        audit: Where the turn is recorded.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    def __init__(
        self,
        source: Callable[[], SourceT],
        plans: ReviewPlans,
        audit: Audit,
        modes: TurnModes,
        profile: str,
    ) -> None:
        super().__init__(audit, modes, profile)
        self._source = source
        self._plans = plans

    def _parse_request(self, text: str) -> RequestT | None:
        return self._parse_question(" ".join(text.lower().replace("’", "'").split()).rstrip(" ?.!"))

    @abstractmethod
    def _parse_question(self, said: str) -> RequestT | None:
        """As `_parse_request`, of a message in small letters without its mark at the end."""

    async def _do(self, turn: Turn, asked: RequestT) -> Answered:
        return said_at(turn.door, await self._look_up(asked)), "answered"

    @abstractmethod
    async def _look_up(self, asked: RequestT) -> str:
        """What is answered."""


def _response(words: str, plan: str) -> AgentResponse:
    if not plan:
        return AgentResponse(message=words)
    action = PlanAction(action=PlanActionType.propose, plan_markdown=plan)
    return AgentResponse(message=words, plan_action=action, needs_approval=True)
