"""Long conversations with long messages, generated: facts, updates, contradictions, preferences.

A conversation has 1,000 messages, as with a model: the user writes 40 to 150 words, the answer
takes up the user's words and has 150 to 450. One theme runs through all of it and phases through
parts of it, so that most words of a question stand in hundreds of messages. Words are made of
syllables and distributed as in natural text (Zipf), with the function words of English between
them. Facts are told once, in the middle of a message; updates tell a new value later,
contradictions deny one, preferences say what is liked. A question has words of what it asks for,
some of them exchanged for others, and never the value.

The figure that counts is the difference from the plain channel: SQLite's own `bm25()` over the same
index, asked for any of the question's words. Evidence is every message in which the user told what
is asked for.
"""

import random
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

from benchmarks.memory import Conversation, Question
from silas.memory import MemoryItem, MemoryType
from silas.memory.english import FUNCTION_WORDS
from silas.types import TaintLevel

_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_BEFORE = [*"bcdfghklmnprstvwz", "br", "st", "pl", "tr"]
_VOWELS = [*"aeiou", "ai", "or", "en"]
_SYLLABLES = [consonant + vowel for consonant in _BEFORE for vowel in _VOWELS]
_GENERAL = 5_000
_THEME, _PHASE = 60, 40
_FUNCTION = sorted(FUNCTION_WORDS)


class Vocabulary:
    """Words of a conversation: general ones by Zipf, those of its theme, those of the phase."""

    def __init__(self, chance: random.Random, general: list[str]) -> None:
        self._chance = chance
        self.general = general
        self._weights = list(accumulate(1 / (rank + 8) for rank in range(len(general))))
        self.theme = chance.sample(general[60:1_500], _THEME)
        self.phase: list[str] = []
        self._theme_weights = list(accumulate(1 / (rank + 3) for rank in range(_THEME)))

    def new_phase(self) -> None:
        self.phase = self._chance.sample(self.general[200:3_000], _PHASE)

    def content(self) -> str:
        roll = self._chance.random()
        if roll < 0.22:
            return self._chance.choices(self.theme, cum_weights=self._theme_weights)[0]
        if roll < 0.40:
            return self._chance.choice(self.phase)
        return self._chance.choices(self.general, cum_weights=self._weights)[0]

    def text(self, words: int, echo: list[str]) -> list[str]:
        """So many words; some of them taken up from what is answered."""
        chance = self._chance
        made: list[str] = []
        while len(made) < words:
            if chance.random() < 0.42:
                made.append(chance.choice(_FUNCTION))
            elif echo and chance.random() < 0.25:
                made.append(chance.choice(echo))
            else:
                made.append(self.content())
        return made


class Fact(NamedTuple):
    """What a fact is about, what is said of it, and what it is."""

    about: list[str]
    of: list[str]


def _word(chance: random.Random) -> str:
    return "".join(chance.choice(_SYLLABLES) for _ in range(chance.choice((2, 2, 3, 3, 4))))


def vocabulary(seed: int) -> list[str]:
    chance = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < _GENERAL:
        words[_word(chance)] = None
    return list(words)


_KINDS = ("fact", "fact", "update", "contradiction", "preference", "several")
_TIMES = {"fact": 1, "update": 2, "contradiction": 2, "preference": 1, "several": 3}
"""How often each kind of fact is told."""


def _kind(number: int) -> str:
    return _KINDS[number % len(_KINDS)]


def generated(number: int, messages: int = 1_000, asked: int = 18) -> Conversation:
    """One conversation and its questions; the same for the same number."""
    chance = random.Random(f"long talk {number}")
    vocabulary_ = Vocabulary(chance, vocabulary(7))
    plan = _plan(chance, messages // 2, asked)
    texts: list[str] = []
    evidence: dict[int, list[str]] = {n: [] for n in range(asked)}
    facts: dict[int, Fact] = {}
    last_phase = -1
    for pair in range(messages // 2):
        if (phase := pair * 10 // (messages // 2)) != last_phase:
            vocabulary_.new_phase()
            last_phase = phase
        said = vocabulary_.text(chance.randint(40, 150), [])
        for fact_number in plan.get(pair, ()):
            fact = facts.setdefault(fact_number, _fact(chance, vocabulary_))
            told = _told(chance, fact)
            place = chance.randrange(len(said))
            said[place:place] = told
            evidence[fact_number].append(f"m{2 * pair}")
        content = [word for word in said if word not in FUNCTION_WORDS]
        texts += [" ".join(said), " ".join(vocabulary_.text(chance.randint(150, 450), content))]
    questions = [
        Question(_asked(chance, facts[n], vocabulary_), _kind(n), frozenset(evidence[n]))
        for n in range(asked)
    ]
    return Conversation(f"long-{number}", _items(texts), questions)


def _plan(chance: random.Random, pairs: int, asked: int) -> dict[int, list[int]]:
    """In which exchanges which fact is told."""
    plan: dict[int, list[int]] = {}
    for n in range(asked):
        for pair in chance.sample(range(pairs), _TIMES[_kind(n)]):
            plan.setdefault(pair, []).append(n)
    return plan


def _fact(chance: random.Random, words: Vocabulary) -> Fact:
    about = [
        chance.choice(words.theme),
        chance.choice(words.theme[20:]),
        chance.choice(words.phase),
    ]
    return Fact(about, [chance.choice(words.general[300:4_000]) for _ in range(2)])


def _told(chance: random.Random, fact: Fact) -> list[str]:
    words = [*fact.about, *fact.of]
    if chance.random() < 0.5:
        words.remove(chance.choice(words))
    chance.shuffle(words)
    value = str(chance.randint(2, 900))
    return [part for word in words for part in (chance.choice(_FUNCTION), word)] + ["to", value]


def _asked(chance: random.Random, fact: Fact, words: Vocabulary) -> str:
    kept = [word for word in fact.about if chance.random() > 0.3]
    kept += [word if chance.random() > 0.5 else words.content() for word in fact.of]
    kept += chance.choices(words.theme[:30], k=chance.randint(2, 5))
    text = ["how", "many"] + [part for word in kept for part in (word, chance.choice(_FUNCTION))]
    return " ".join(text) + "?"


def joined(conversation_store: list[Conversation], turns: int = 8) -> list[Conversation]:
    """All conversations as one, so many turns a memory."""
    items: list[MemoryItem] = []
    questions: list[Question] = []
    for talk in conversation_store:
        of: dict[str, str] = {}
        for start in range(0, len(talk.items), turns):
            some = talk.items[start : start + turns]
            name = f"{talk.name}-{start}"
            of |= {item.memory_id: name for item in some}
            changes = {
                "memory_id": name,
                "content": "\n".join(item.content for item in some),
                "session_id": f"{talk.name}-{some[0].session_id}",
                "temporal_prev": None,
                "temporal_next": None,
            }
            items.append(some[0].model_copy(update=changes))
        for asked in talk.questions:
            evidence = frozenset(of[turn] for turn in asked.evidence if turn in of)
            if evidence:
                questions.append(Question(asked.text, asked.kind, evidence))
    return [Conversation("joined", items, questions)]


def _items(texts: list[str]) -> list[MemoryItem]:
    made: list[MemoryItem] = []
    for n, text in enumerate(texts):
        moment = _BEGIN + timedelta(minutes=30 * n)
        made.append(
            MemoryItem(
                memory_id=f"m{n}",
                content=f"{'user' if n % 2 == 0 else 'assistant'}: {text}",
                memory_type=MemoryType.episode,
                taint=TaintLevel.owner,
                created_at=moment,
                updated_at=moment,
                session_id=f"session-{n * 10 // len(texts)}",
                temporal_prev=f"m{n - 1}" if n else None,
                temporal_next=f"m{n + 1}" if n + 1 < len(texts) else None,
                source_kind="conversation_raw",
            )
        )
    return made
