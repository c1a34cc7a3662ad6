"""A long conversation in a small window: rules hold, facts are found again, cost stays flat.

`python -m benchmarks.soak [TURNS [PLANTED]]`; with nothing given 1,000 turns, 100 rules and 100
facts in a window of 8,000 tokens. The owner plants rules and facts, talks at length about the same
people and things, and asks for every fact once, long after he told it. The model is a stub that
remembers what it is told to; everything else is the product.
"""

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from silas.agents import AgentResponse, RouteDecision
from silas.agents.calls import CALLS, PROXY
from silas.agents.models import MemoryOp, MemoryOpType
from silas.context import TokenCounter
from silas.memory import MemoryType
from silas.testing import Harness
from silas.types import OWNER, InteractionMode, InteractionRegister

WINDOW = 8_000
FORBIDDEN = "synergy"

_PEOPLE = (
    "Hanna Weber", "Omar Farouk", "Lucia Rossi", "Piotr Nowak", "Mei Tanaka", "Sven Larsen",
    "Aisha Bello", "Diego Vargas", "Ruth Klein", "Ivan Petrov", "Noor Rahman", "Tom Baker",
    "Elif Demir", "Jonas Berg", "Carla Mendes", "Yuki Sato", "Paul Dubois", "Greta Holm",
    "Kofi Mensah", "Anna Lind", "Rosa Pinto", "Emil Novak", "Sara Cohen", "Liam Byrne", "Ada Hill",
)  # fmt: skip
_THINGS = ("locker number", "favourite bakery", "train to the office", "code for the archive")
_PLACES = ("Oak", "Mill", "Harbour", "Castle", "River", "Garden", "Station", "Bridge")
_WHEN = ("mails", "reports", "invoices", "calendars", "backups", "photos", "notes", "tickets")
_HOW = (
    "in plain words", "before noon", "with a date", "by hand", "in one place", "without pictures",
    "on two pages", "with a summary", "in the local time", "after a second look", "by name",
    "in metric units", "with sources",
)  # fmt: skip
_TALK = (
    "yesterday we spoke about the plan for the summer and nobody was quite sure about the costs",
    "the meeting was long and the coffee was cold but the numbers looked better than last month",
    "I walked along the river and thought about the garden and the new windows in the kitchen",
    "there was a delay again and half of the team worked from home because of the weather",
    "the archive has moved to the second floor and the lockers by the entrance were painted",
    "somebody left the bakery bag on the train and the code on a note which is not allowed",
)


class Planted(NamedTuple):
    """Something the owner wants remembered: the sentence, and for a fact what asks for it."""

    text: str
    question: str = ""
    answer: str = ""


class Step(NamedTuple):
    """One turn: what is said, and what was planted or is asked for in it."""

    text: str
    rule: Planted | None = None
    fact: Planted | None = None
    asked: Planted | None = None


@dataclass
class Soak:
    """What a conversation showed.

    Attributes:
        rules_in_force: Rules that were missing in no prompt after they were planted.
        prompts, rules_missing: Prompts of models, and rules missing in any of them, counted singly.
        facts_in_prompt: Facts that stood in the prompt of the turn that asked for them.
        facts_recalled: Facts that the retriever found among five.
        longest_prompt: Tokens, by the product's own counter.
        forbidden_said, forbidden_sent: How often the stub used a word that a gate forbids, and how
            often it came through.
        cpu: Seconds of each turn.
    """

    rules_in_force: int = 0
    prompts: int = 0
    rules_missing: int = 0
    facts_in_prompt: int = 0
    facts_recalled: int = 0
    longest_prompt: int = 0
    forbidden_said: int = 0
    forbidden_sent: int = 0
    cpu: list[float] = field(default_factory=list[float])


def rules(count: int) -> list[Planted]:
    every = [f"Always write {when} {how}." for how in _HOW for when in _WHEN]
    return [Planted(text) for text in every[:count]]


def facts(count: int, chance: random.Random) -> list[Planted]:
    every = [(thing, person) for thing in _THINGS for person in _PEOPLE]
    chance.shuffle(every)
    found: list[Planted] = []
    for number, (thing, person) in enumerate(every[:count]):
        answer = f"{chance.choice(_PLACES)}-{1000 + number * 7}"
        text = f"The {thing} of {person} is {answer}."
        found.append(Planted(text, f"What is the {thing} of {person}?", answer))
    return found


def conversation(turns: int, planted: int, chance: random.Random) -> list[Step]:
    """Plants first, questions long after, talk about the same people and things in between."""
    told = [Step(f"Remember: {rule.text}", rule=rule) for rule in rules(planted)]
    known = facts(planted, chance)
    told += [Step(f"Please remember: {fact.text}", fact=fact) for fact in known]
    asked = [Step(fact.question, asked=fact) for fact in known]
    chance.shuffle(told)
    chance.shuffle(asked)
    talk = [Step(_talk(chance)) for _ in range(turns - len(told) - len(asked))]
    half = len(talk) // 2
    early, late = [*told, *talk[:half]], [*asked, *talk[half:]]
    chance.shuffle(early)
    chance.shuffle(late)
    return [*early, *late]


def _talk(chance: random.Random) -> str:
    said: list[str] = []
    for _ in range(chance.randint(3, 8)):
        person, thing = chance.choice(_PEOPLE), chance.choice(_THINGS)
        said.append(f"{chance.choice(_TALK)}, and {person} asked about the {thing}")
    return ". ".join(said) + "."


def _in_prompt(messages: Sequence[ModelMessage]) -> str:
    def parts() -> Iterator[str]:
        for message in messages:
            if isinstance(message, ModelRequest):
                yield message.instructions or ""
            yield from (str(getattr(part, "content", "")) for part in message.parts)

    return "\n".join(parts())


class _Secretary:
    """The stubbed model: remembers what it is told to, chats at length, sometimes misbehaves."""

    def __init__(self, soak: Soak, chance: random.Random) -> None:
        self.model = FunctionModel(self._answer)
        self.step = Step("")
        self.planted: list[Planted] = []
        self.missed: set[str] = set()
        self._soak = soak
        self._chance = chance
        self._count = TokenCounter().count

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self._look(_in_prompt(messages), info)
        tool = info.output_tools[0].name
        if tool == PROXY.form:
            output = self._route()
        else:  # which groups to let go of: whoever asks takes the fixed order
            call = next(call for call in CALLS.values() if call.form == tool)
            output = call.fallback("conversation", "scorer").model_dump(mode="json")
        return ModelResponse(parts=[ToolCallPart(tool, output)])

    def _look(self, prompt: str, info: AgentInfo) -> None:
        schemas = [t.parameters_json_schema for t in (*info.function_tools, *info.output_tools)]
        tokens = self._count(prompt) + sum(self._count(str(schema)) for schema in schemas)
        soak = self._soak
        soak.prompts += 1
        soak.longest_prompt = max(soak.longest_prompt, tokens)
        missing = [rule.text for rule in self.planted if rule.text not in prompt]
        soak.rules_missing += len(missing)
        self.missed.update(missing)
        if self.step.asked is not None:
            soak.facts_in_prompt += self.step.asked.answer in prompt

    def _route(self) -> dict[str, object]:
        wanted, ops = self.step.rule or self.step.fact, list[MemoryOp]()
        if wanted is not None:
            kind = MemoryType.preference if self.step.rule else MemoryType.fact
            ops = [MemoryOp(op=MemoryOpType.store, content=wanted.text, memory_type=kind)]
        words = "Noted." if wanted else _talk(self._chance)
        if wanted is None and self.step.asked is None and self._chance.random() < 0.1:
            self._soak.forbidden_said += 1
            words = f"That has {FORBIDDEN}."
        response = AgentResponse(message=words, memory_ops=ops)
        return RouteDecision(
            route="direct",
            reason="talk",
            response=response,
            interaction_register=InteractionRegister.status,
            interaction_mode=InteractionMode.default_and_offer,
            context_profile="conversation",
        ).model_dump(mode="json")


_SETTINGS = {
    "context": {"total_tokens": WINDOW},
    "gates": {
        "system": [
            {
                "name": "no-hollow-words",
                "on": "every_agent_response",
                "type": "regex",
                "config": {"pattern": rf"(?s)\A(?!.*{FORBIDDEN})"},
                "on_block": "polite_redirect",
            }
        ]
    },
}


async def soak(turns: int, planted: int, seed: int = 7) -> Soak:
    """Hold the conversation once."""
    chance, found = random.Random(seed), Soak()
    secretary = _Secretary(found, random.Random(seed + 1))
    models = {"proxy": secretary.model}
    async with Harness(models=models, settings=_SETTINGS) as harness:
        steps = conversation(turns, planted, chance)
        for step in steps:
            harness.clock.advance(60)
            secretary.step = step
            started = time.process_time()
            reply = await harness.silas.ask(step.text)
            found.cpu.append(time.process_time() - started)
            found.forbidden_sent += FORBIDDEN in reply.text
            if step.rule is not None:
                secretary.planted.append(step.rule)
        for step in steps:
            if step.asked is not None:
                recalled = await harness.ports["retriever"].recall(step.asked.question, OWNER, 5)
                found.facts_recalled += any(step.asked.answer in one.content for one, _ in recalled)
        verdict = await harness.audit.verify_chain()
        assert verdict.valid
    found.rules_in_force = len(secretary.planted) - len(secretary.missed)
    return found


def figures(found: Soak) -> dict[str, float]:
    """Shares, and the cost of the last quarter of turns against that of the second."""
    quarter = len(found.cpu) // 4
    early, late = found.cpu[quarter : 2 * quarter], found.cpu[-quarter:]
    return {
        "prompts": found.prompts,
        "rules in force": found.rules_in_force,
        "rules missing in a prompt": found.rules_missing,
        "facts in the prompt that asked": found.facts_in_prompt,
        "facts the retriever found": found.facts_recalled,
        "longest prompt, tokens": found.longest_prompt,
        "forbidden word said by the model": found.forbidden_said,
        "forbidden word sent": found.forbidden_sent,
        "turn, ms CPU": statistics.median(found.cpu) * 1000,
        "last quarter / second quarter": statistics.median(late) / statistics.median(early),
    }


def main(arguments: Sequence[str]) -> int:
    turns, planted = (*map(int, arguments), *(1000, 100)[len(arguments) :])
    for name, value in figures(asyncio.run(soak(turns, planted))).items():
        print(f"  {name:44} {value:12,.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
