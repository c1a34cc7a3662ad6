"""The built-in model: deterministic, without a key, without a network, honest about both.

The same request makes the same plan. It follows fenced blocks and no prose, and nothing after the
headings that the runtime appends, because output may be quoted there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from silas.agents.models import (
    AgentResponse,
    PlanAction,
    PlanActionType,
    PlannerAdvice,
    RouteDecision,
    ScorerOutput,
)
from silas.agents.prompt import read_pairs
from silas.agents.runbook import (
    about,
    attached,
    calculator,
    courtesies,
    folder_questions,
    line_words,
    list_words,
    lookups,
    memory,
    named_files,
    plan_words,
    repeated_plan,
    unhandled,
)
from silas.agents.runbook.about import HOW_TO_CONFIGURE, WHAT_I_AM
from silas.agents.runbook.by_the_clock import RecurringRequest, goal_of, work_by_the_clock
from silas.agents.runbook.changes_by_the_clock import changes_plan, changes_values
from silas.agents.runbook.door_words import said_here, words_here
from silas.agents.runbook.everyday import spelling
from silas.agents.runbook.everyday.can_do import can_do
from silas.agents.runbook.execution import CALL_ID, answer, next_step
from silas.agents.runbook.folder import LookCall
from silas.agents.runbook.framed import all_framed, call_name
from silas.agents.runbook.library import Library, RequirementFinder, RunbookTemplate
from silas.agents.runbook.routes import at_its_times, direct, propose_tidying, to_planner
from silas.canonical import digest
from silas.errors import PlanFamilyError, SilasError
from silas.language import tr, tr_later
from silas.memory import MemoryType
from silas.plans.characters import show
from silas.plans.goals.standing import StandingCaps


class RunbookModel(Model):
    """Finds, fills and follows approved runbooks; it never pretends to be a language model.

    Which call it serves it reads from the name of the output that is asked for, and what to do
    from the framed sections of the request. It keeps nothing between requests: how far a briefing
    has been followed stands in the message history. Tokens and cost are zero.

    Args:
        library: The runbooks.
        equip: Looks for what a runbook needs of the machine.
        zone: The owner's time zone.
        caps: The most that one yes to a goal can be.
    """

    def __init__(
        self, library: Library[Any], equip: RequirementFinder, zone: ZoneInfo, caps: StandingCaps
    ) -> None:
        super().__init__(
            profile=ModelProfile(supports_json_schema_output=True, supports_json_object_output=True)
        )
        self._library = library
        self._equip = equip
        self._zone = zone
        self._caps = caps

    @property
    def model_name(self) -> str:
        """`runbook`."""
        return "runbook"

    @property
    def system(self) -> str:
        """Silas itself, not a provider."""
        return "silas"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The next tool call, or the answer, in whatever form was asked for."""
        _, asked = self.prepare_request(model_settings, model_request_parameters)
        framed = list_words.name_files(messages)
        match call_name(asked):
            case "proxy":
                part = self._proxy(framed, messages, asked)
            case "planner":
                look = self._look_for_named(framed, messages, asked)
                part = look or answer(await self._plan(framed, messages), asked)
            case "executor":
                part = next_step(framed.get("briefing", ""), messages, asked)
            case "advice":
                part = answer(PlannerAdvice(guidance=""), asked)  # it cannot advise
            case "scorer":
                part = answer(ScorerOutput(keep_groups=[], evict_groups=[]), asked)
            case _:
                part = TextPart(f"{tr(WHAT_I_AM)} {words_here(HOW_TO_CONFIGURE)}")
        return ModelResponse(
            parts=[part],
            model_name=self.model_name,
            provider_name=self.system,
            usage=RequestUsage(cost=Decimal(0)),
        )

    def _proxy(
        self,
        framed: Mapping[str, str],
        messages: Sequence[ModelMessage],
        asked: ModelRequestParameters,
    ) -> TextPart | ToolCallPart:
        """A search of memory where one is asked for, else the route."""
        if (by_the_clock := self._by_the_clock(framed)) is not None:
            return answer(at_its_times(by_the_clock), asked)
        question = self._asked_back(framed, messages)
        offered = {tool.name for tool in asked.function_tools}
        looks = offered >= folder_questions.LOOKING_TOOLS
        text = framed["message"]
        if question is None or memory.left_to_others(messages, text, lookups.fits(text)):
            route = self._early_route(framed, messages) or self._next_look(
                framed, messages, looks=looks
            )
            if isinstance(route, LookCall):
                return _look_call(route, messages)
            return answer(route or self._route(framed), asked)
        found = memory.recall_answer(messages, text, lookups.fits(text))
        if found is None and memory.SEARCH in offered:
            return ToolCallPart(memory.SEARCH, question.args, f"{CALL_ID}search")
        found, now = found or tr(lookups.NO_LOOK), read_pairs(framed.get("facts", "")).get("now")
        look = None
        files = attached.names_in_view(all_framed(messages))
        if now is not None and looks and (files or not lookups.enough(text, found)):
            look = folder_questions.look_up(
                text, self._library, messages, datetime.fromisoformat(now), self._zone, files
            )
        if isinstance(look, LookCall):
            return _look_call(look, messages)
        rest = unhandled.words(self._further(text), self._library_knows)
        said = lookups.answer(text, found, look, rest, lambda why: self._cannot(text, why))
        return answer(direct("asked what is remembered", said), asked)

    def _by_the_clock(self, framed: Mapping[str, str]) -> RecurringRequest | None:
        """Work of the library that is to be done again and again; None for everything else."""
        now = read_pairs(framed.get("facts", "")).get("now")
        text = framed.get("message", "")
        kept = memory.to_keep(text) is not None or memory.recall_question(text) is not None
        if now is None or kept:
            return None
        moment = datetime.fromisoformat(now)
        return work_by_the_clock(text, moment, self._zone, self._library, self._caps)

    def _asked_back(
        self, framed: Mapping[str, str], messages: Sequence[ModelMessage]
    ) -> memory.RecallQuestion | None:
        """What the memory is asked for; what can be done or computed goes first."""
        text = framed.get("message", "")
        if (question := memory.recall_question(text)) is not None:
            return question
        if memory.implied_recall(text) is None and self._early_route(framed, messages) is not None:
            return None
        other = (
            self._compute_answer(text, framed) is not None
            or self._library.find(text) is not None
            or folder_questions.wanted_look(text, self._library) is not None
        )
        return lookups.question(text, other=other)

    def _early_route(
        self, framed: Mapping[str, str], messages: Sequence[ModelMessage]
    ) -> RouteDecision | None:
        """What needs neither the folder nor a plan; None for everything else."""
        text = framed.get("message", "")
        if (op := memory.to_keep(text)) is not None:
            rule = op.memory_type is MemoryType.preference
            as_rule = tr("I keep this as a rule, in your words:")
            as_fact = tr("I keep this as a fact, in your words:")
            said = f"{as_rule if rule else as_fact} {op.content}"
            if orders := unhandled.orders_in(op.content or "", self._library_knows):
                said += "\n" + tr(
                    "I only keep it, and do nothing of: {orders}", orders="; ".join(orders)
                )
            response = AgentResponse(message=said, memory_ops=[op])
            return direct("asked to remember", response)
        shown = all_framed(messages)
        if (how := courtesies.answer(text, shown)) is not None:
            return direct("asked for nothing to be done", how)
        before = repeated_plan.goes_on(text, shown)
        if before is not None:
            return to_planner(f"goes on from {before}", continuation_of=before)
        if (computed := self._compute_answer(text, framed)) is not None:
            return direct("asked for what can be computed", AgentResponse(message=computed))
        return None

    def _next_look(
        self, framed: Mapping[str, str], messages: Sequence[ModelMessage], *, looks: bool
    ) -> LookCall | RouteDecision | None:
        """The next look at the folder, or what was seen; None where looking is not the answer."""
        text, facts = framed.get("message", ""), read_pairs(framed.get("facts", ""))
        if not looks or "now" not in facts:
            return None
        if about.asks_about_silas(text):
            files = folder_questions.for_help(messages)
            if isinstance(files, LookCall):
                return files
            said = about.abilities_here(self._library, facts.get("workspace", ""), files)
            return direct("asked what it can do", AgentResponse(message=said))
        now = datetime.fromisoformat(facts["now"])
        found = folder_questions.step(text, self._library, messages, now, self._zone)
        if found is None or isinstance(found, LookCall):
            return found
        response = AgentResponse(message=found.text, understood=found.understood)
        return direct("asked about the folder", response)

    def _route(self, framed: Mapping[str, str]) -> RouteDecision:
        """To the planner where the library has a plan, else what is missing for it."""
        text = framed.get("message", "")
        facts = read_pairs(framed.get("facts", ""))
        plan = self._find(text)
        if plan is not None:
            return to_planner(f"the plan library has a plan for this: {plan.title}")
        return direct(
            "no plan of the library fits, and no language model is configured",
            self._what_i_can_do(text, facts.get("workspace", "")),
        )

    def _compute_answer(self, text: str, framed: Mapping[str, str]) -> str | None:
        """A calculation, a date or a conversion, at the moment of the turn."""
        now = read_pairs(framed.get("facts", "")).get("now")
        return (
            None
            if now is None
            else calculator.answer(text, datetime.fromisoformat(now), self._zone)
        )

    def _look_for_named(
        self,
        framed: Mapping[str, str],
        messages: Sequence[ModelMessage],
        asked: ModelRequestParameters,
    ) -> ToolCallPart | None:
        """The look for a file that a plan acts on, where it is named without its folder."""
        offered = {tool.name for tool in asked.function_tools}
        seen = folder_questions.look_results(messages)
        if seen or not offered >= folder_questions.LOOKING_TOOLS:
            return None
        again = self._by_the_clock(framed)
        text = framed.get("message", "") if again is None else again.request
        plan = self._find(text)
        if plan is None:
            return None
        look = named_files.look_for(
            plan, self._library.parameters_from(plan, text), list_words.names_in(framed)
        )
        return None if look is None else _look_call(look, messages)

    async def _plan(
        self, framed: Mapping[str, str], messages: Sequence[ModelMessage]
    ) -> AgentResponse:
        text = framed.get("message", "")
        facts = read_pairs(framed.get("facts", ""))
        # one turn, one id: the same request always makes the same plan
        item_id = f"task-{digest(dict(framed))[:16]}"
        again = self._by_the_clock(framed)
        text = text if again is None else again.request
        if again is not None and again.place:
            return propose_tidying(again, item_id, facts.get("workspace", ""))
        plan = self._find(text)
        if plan is None and (before := facts.get("continuation_of")):
            return repeated_plan.repeat_plan(before, item_id, all_framed(messages))
        if plan is None:
            return self._what_i_can_do(text, facts.get("workspace", ""))
        title = plan.title
        plan = changes_plan(plan, again, self._library)
        known = {name: value for name, value in facts.items() if name in plan.parameters}
        said = self._library.parameters_from(plan, text)
        values = {**known, **said, **changes_values(plan, again)}
        missing = self._library.missing(plan, values)
        if missing:
            return _refusal_response(plan_words.describe_missing(plan, missing))
        try:
            seen = folder_questions.look_results(messages)
            values = named_files.find_named(plan, values, seen, list_words.names_in(framed))
            plan, values, why = await self._equip_plan(plan, values, once=again is None)
            filled = self._library.fill(plan, values, item_id)
            if again is not None:
                goal_id, folder = item_id.replace("task-", "goal-", 1), values.get("workspace", "/")
                filled = goal_of(filled, goal_id, again, folder)
        except SilasError as error:
            return _refusal_response(
                tr(
                    "The library's plan {title!r} does not fit: {message}",
                    title=plan.shown_title,
                    message=error.message,
                )
            )
        clock = "" if again is None else tr(", by the clock")
        notes = () if again is None else again.notes
        rest = unhandled.sentence(
            line_words.in_quotes(self._library, plan, text), self._library.find, title
        )
        proposal = tr("I propose {plan}{clock}.", plan=plan_words.name_plan(plan, why), clock=clock)
        return AgentResponse(
            message=" ".join(filter(None, (*notes, f"{why}{proposal}", rest))),
            plan_action=PlanAction(
                action=PlanActionType.propose,
                plan_markdown=filled,
                continuation_of=facts.get("continuation_of"),
            ),
        )

    async def _equip_plan(
        self, plan: Any, values: dict[str, str], *, once: bool
    ) -> tuple[Any, dict[str, str], str]:
        """The plan with what it needs, or the one that it names for where that is missing."""
        try:
            return plan, await self._equip(plan, values, once=once), ""
        except PlanFamilyError as error:
            other = self._library.plan_named(plan.otherwise)
            if other is None:
                raise
            known = {name: value for name, value in values.items() if name in other.parameters}
            equipped = await self._equip(other, known, once=once)
            return other, equipped, f"{error.message.split(';')[0]}; "

    def _what_i_can_do(self, text: str, workspace: str) -> AgentResponse:
        """All of it where that is asked; else what is missing, and the nearest to it."""
        plans = self._library.plans()
        if about.asks_about_silas(text):
            return AgentResponse(message=about.abilities(plans, workspace))
        mended = spelling.did_you_mean(text, lambda one: can_do(one, self._library))
        said = line_words.ask_for_quotes(text) or mended or self._cannot(text)
        return AgentResponse(message=said, understood=False)

    def _cannot(self, text: str, found: str = "") -> str:
        """What is missing, and that nothing of a request for several things was done."""
        plans = self._library.plans()
        said = [about.cannot(text, plans, found) if found else about.cannot(text, plans)]
        said += [tr(_SEVERAL)] if self._further(text) else []
        left_out = [show(file) for file in self._library.faults]
        said += [said_here(tr(_LEFT_OUT, file=file), file) for file in left_out]
        return "\n".join(said)

    def _further(self, text: str) -> Sequence[str]:
        return unhandled.further_parts(text, self._library_knows)

    def _find(self, text: str) -> RunbookTemplate | None:
        """The plan for a request; none for one of several things that it does nothing of."""
        find = self._library.find
        found = find(text)
        said = "" if found is None else line_words.in_quotes(self._library, found, text)
        return None if found and unhandled.fits_no_part(said, find, found.title) else found

    def _library_knows(self, part: str) -> bool:
        return self._library.find(part) is not None


_SEVERAL = tr_later(
    "You asked for more than one thing, and none of it was done: say one at a time."
)

_LEFT_OUT = tr_later(
    "The runbook {file} cannot be used, so it is left out: `silas doctor` says why."
)  # whoever asked, so neither its place nor a word of it


def _look_call(look: LookCall, messages: Sequence[ModelMessage]) -> ToolCallPart:
    number = len(folder_questions.look_results(messages)) + 1
    return ToolCallPart(look.tool, look.args, f"{CALL_ID}look-{number}")


def _refusal_response(words: str) -> AgentResponse:
    """A plan that cannot be proposed, or not yet: nobody is asked about it, nothing is run."""
    return AgentResponse(message=words, plan_action=PlanAction(action=PlanActionType.abort))
