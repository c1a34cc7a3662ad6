"""What the built-in model does about memory: keeps what it is told, word for word, and recalls."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from silas.agents.models import MemoryOp, MemoryOpType
from silas.agents.runbook.everyday import owners_facts
from silas.context import content_of
from silas.language import tr, tr_later
from silas.memory import MemoryType
from silas.types import TaintLevel

SEARCH: Final = "memory_search"
NOTHING: Final = tr_later("I remember nothing that fits.")
NOTHING_YET: Final = tr_later(
    "I remember nothing yet. Say “remember that ...”, and I keep it in your words."
)
_MOST: Final = 8
_MOST_NOTED: Final = 20  # of all that was kept, the newest
_STEM: Final = 5  # characters in which words of one family agree
_OWNERS: Final = frozenset(
    {"our", "mein", "meine", "meinen", "unser", "unsere", "the", "der", "die", "das"}
)
_EXTERNAL: Final = TaintLevel.external.value
_LONGEST: Final = 400  # characters of a question that names what it is about without "remember"

_POLITE = r"(?:(?:hi|hello|hey|ok|okay|silas|please)[,!.]?\s+)*"
_KEEP: Final = re.compile(
    rf"\A\s*{_POLITE}(?:(?P<rule>from now on)|remember|keep in mind|note|don['’]t forget|"
    r"do not forget|never forget)(?:\s+that\b|\s+this\b)?\s*[:,]?\s+(?P<what>\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_KEEP_GERMAN: Final = re.compile(
    r"\A\s*(?:(?:bitte|silas|hallo)[,!]?\s+)*(?:(?P<rule>ab jetzt|von nun an)|"
    r"merk(?:e)? dir(?: bitte)?|vergiss nicht|denk(?:e)? daran|notier(?:e)?(?: (?:dir|bitte))*|"
    r"schreib(?:e)? dir(?: bitte)? auf)"
    r"(?:\s*[:,])?\s+(?P<what>\S.*)\Z",  # with its "dass", without which it is no sentence
    re.IGNORECASE | re.DOTALL,
)
_RULE: Final = re.compile(
    r"\A(?:immer|nie|niemals|always|never|do not|don['’]t|i prefer|i['’]d rather)\b", re.I
)
_ASKED_GERMAN: Final = re.compile(
    r"\A\s*(?:was (?:weißt du|habe ich dir gesagt)|erinnerst du dich|weißt du (?:noch )?was)\s+"
    r"(?:über|von|zu|an)\s+(?!mi(?:ch|r)\W*\Z)(?P<what>.+?)[\s?!.]*\Z",
    re.IGNORECASE | re.DOTALL,
)
_ASKED: Final = re.compile(
    rf"\A\s*{_POLITE}(?:what\s+(?:do\s+you\s+(?:remember|know)|did\s+i\s+(?P<said>say|tell\s+you))"
    r"|do\s+you\s+remember)\s+(?!(?:about\s+)?me\W*\Z)(?:(?:about|of|on)\s+)?(?P<what>.+?)[\s?!.]*\Z",
    re.IGNORECASE | re.DOTALL,
)
_ABOUT: Final = r"(?:\s+(?:about|of|on)\s+(?P<what>.+?))?"
_ABOUT_GERMAN: Final = r"(?:\s+(?:über|von|zu|zum|zur)\s+(?P<what>.+?))?"
_NOTED: Final = tuple(
    re.compile(
        rf"\A\s*{_POLITE}(?:(?:bitte|hallo)[,!]?\s+)*(?:{form})[\s?!.]*\Z",
        re.IGNORECASE | re.DOTALL,
    )
    for form in (
        r"what\s+(?:did|have)\s+(?:i|we)\s+(?:noted?|write|written|jot(?:ted)?)(?:\s+down)?"
        + _ABOUT,
        r"(?:(?:can\s+you\s+)?(?:show|list|read|tell|give)(?:\s+me)?\s+|what(?:['’]s|\s+is|\s+are)\s+"
        r"|do\s+(?:i|we)\s+have\s+)?(?:all\s+)?(?:of\s+)?(?:my|our|any)\s+notes?" + _ABOUT,
        rf"was\s+(?:habe?|haben)\s+(?:ich|wir)(?:\s+(?:mir|uns))?{_ABOUT_GERMAN}"
        r"\s+(?:notiert|aufgeschrieben)",
        r"(?:welche\s+notizen\s+(?:habe?|haben|gibt)\s+(?:ich|wir|es))" + _ABOUT_GERMAN,
        r"(?:(?:zeige?|liste|lies)(?:\s+mir)?\s+|was\s+sind\s+)?(?:alle\s+)?(?:meine|unsere)n?"
        r"\s+notiz(?:en)?" + _ABOUT_GERMAN,
        r"what\s+(?:all\s+)?(?:do|can)\s+you\s+(?:still\s+)?(?:know|remember)"
        r"(?:\s+(?:about|of)\s+me)?(?:\s+so\s+far)?(?P<what>)",
        r"what\s+(?:have|did)\s+you\s+(?:remember(?:ed)?|learn(?:ed)?)"
        r"(?:\s+(?:about|of)\s+me)?(?:\s+so\s+far)?(?P<what>)",
        r"(?:tell\s+me\s+)?(?:everything|all)\s+(?:that\s+)?you\s+(?:know|remember)"
        r"(?:\s+(?:about|of)\s+me)?(?P<what>)",
        r"was\s+weißt\s+du(?:\s+(?:alles|noch))?(?:\s+(?:über|von)\s+mi(?:ch|r))?(?P<what>)",
        r"was\s+hast\s+du\s+dir(?:\s+(?:alles|bisher))?(?:\s+(?:über|von)\s+mi(?:ch|r))?"
        r"\s+gemerkt(?P<what>)",
    )
)
"""Questions for what was noted; without what it is about they are for all of it."""

_OWN: Final = r"(?:my|our|mine)\b"
_WHOSE: Final = rf"(?:{_OWN}|\w+['’]s\s)"
_LOOSE: Final = tuple(
    re.compile(rf"\A\s*{_POLITE}(?:(?:can\s+you\s+)?tell\s+me\s+)?(?:{form})[\s?!.]*\Z", re.I)
    for form in (
        rf"(?:when|where|who|what)(?:['’]s|\s+(?:is|are|was|were))\s+(?P<what>{_WHOSE}.+?)"
        r"(?:\s+(?:called|named|again))*",
        r"(?:when|where|who|what)(?:['’]s|\s+(?:is|are|was|were))\s+the\s+(?P<what>\w+['’]s\s.+?)"
        r"(?:\s+again)?",
        r"what(?:['’]s|\s+(?:is|are|was|were))\s+the\s+(?P<what>\w[\w\s'’-]{0,60}?)\s+(?:called|named)"
        r"(?:\s+again)?",
        r"what(?:['’]s|\s+(?:is|was))\s+the\s+name\s+of\s+(?P<what>"
        r"(?!.*\b(?:file|folder|director|branch|column|table)).+?)(?:\s+again)?",
        rf"(?:tell|give)\s+me\s+(?P<what>{_WHOSE}.+?)(?:\s+again)?",
        rf"(?:when|where|who|what)\s+(?P<what>{_OWN}.+?)\s+(?:is|are|was|were)",
        r"where\s+did\s+(?:i|we)\s+(?:put|leave|park|hide|store)\s+(?P<what>.+?)",
        r"what\s+did\s+i\s+(?:say|tell\s+you)\s+(?:that\s+)?(?P<what>.+?)\s+(?:is|are|was|were)",
        rf"do\s+you\s+(?:still\s+)?(?:know|remember)\s+(?:who|what|where|when|how|which)\s+"
        rf"(?P<what>{_WHOSE}.+?)(?:\s+(?:is|are|was|were))?(?:\s+called)?",
        rf"do\s+you\s+(?:still\s+)?(?:know|remember)\s+(?:who|what|where|when)\s+"
        rf"(?:is|are|was|were)\s+(?P<what>{_WHOSE}.+?)",
        rf"do\s+you\s+(?:still\s+)?know\s+(?P<what>{_OWN}.+?)",
        r"(?:did|have)\s+i\s+(?:ever\s+)?(?:tell|told|mention|mentioned)(?:\s+(?:to\s+)?you)?\s+"
        r"(?:about\s+)?(?P<what>.+?)",
        r"remind\s+me\s+(?:of\s+|about\s+)?(?:who|what|where|when)\s+(?P<what>.+?)\s+(?:is|are|was)",
        r"(?:wo|wann|wer|was|wie)\s+(?:ist|sind|war|liegt|liegen|heißt|hat|habe ich)\s+"
        r"(?P<what>(?:mein|unser)(?:e|en|em|er|es)?\b.+?)(?:\s+(?:noch\s?mal|gelassen|hingelegt))?",
        r"weißt\s+du(?:\s+noch)?,?\s+(?:wo|wann|wer|was|wie)\s+"
        r"(?P<what>(?:mein|unser)(?:e|en|em|er|es)?\b.+?)\s+(?:ist|sind|liegt|liegen|heißt|hat)",
        r"remind\s+me\s+(?:of|what\s+i\s+(?:said|told\s+you)\s+about)\s+(?P<what>.+?)",
    )
)

_THING: Final = tuple(
    re.compile(rf"\A\s*{_POLITE}(?:{form})[\s?!.]*\Z", re.IGNORECASE)
    for form in (
        r"where(?:['’]s|\s+(?:is|are))\s+the\s+(?P<what>"
        r"(?!.*\b(?:files?|folders?|director|branch|column|table)\b)\w[\w\s'’-]{0,60}?)",
        r"wo\s+(?:ist|sind|liegt|liegen)\s+(?:der|die|das)\s+(?P<what>"
        r"(?!.*\b(?:dateien?|ordner|spalte|tabelle)\b)\w[\w\s-]{0,60}?)",
    )
)
"""Questions that a file of that name may answer as well."""


class RecallQuestion(NamedTuple):
    """What somebody wants to have recalled; whether every word said counts."""

    about: str  # empty for all that was kept
    everything: bool

    @property
    def args(self) -> dict[str, Any]:
        """Arguments of the search."""
        return {
            "query": self.about[:1000],
            "max_results": _MOST if self.about else _MOST_NOTED,
            "everything_said": self.everything,
        }


def to_keep(text: str) -> MemoryOp | None:
    """What a message asks to be remembered, in its own words; None where it does not."""
    found = _KEEP.match(text) or _KEEP_GERMAN.match(text)
    if found is None and (stated := owners_facts.stated_fact(text)):
        return MemoryOp(op=MemoryOpType.store, content=stated, memory_type=MemoryType.fact)
    if found is None:
        return None
    what = found["what"].strip()
    rule = found["rule"] is not None or _RULE.match(what) is not None
    kind = MemoryType.preference if rule else MemoryType.fact
    return MemoryOp(op=MemoryOpType.store, content=what, memory_type=kind)


def recall_question(text: str) -> RecallQuestion | None:
    """What a message asks about what is remembered, in so many words; None where it does not."""
    if (noted := next((match for form in _NOTED if (match := form.match(text))), None)) is not None:
        return RecallQuestion((noted["what"] or "").strip(), everything=False)
    if (german := _ASKED_GERMAN.match(text)) is not None:
        return RecallQuestion(german["what"].strip(), everything=False)
    found = _ASKED.match(text)
    return (
        None if found is None else RecallQuestion(found["what"].strip(), found["said"] is not None)
    )


def implied_recall(text: str) -> RecallQuestion | None:
    """What a message asks that only the memory could know: `where is my passport`.

    Such words may be meant for a runbook as well, which is looked for first.
    """
    if len(text) > _LONGEST:
        return None
    if of_owner := owner_question(text):
        return of_owner
    forms = (*_LOOSE, *_THING)
    found = next((match for form in forms if (match := form.match(text))), None)
    return None if found is None else RecallQuestion(found["what"].strip(), everything=False)


def owner_question(text: str) -> RecallQuestion | None:
    """The same of who asks, which no folder and no runbook answers: `what is my name`."""
    words = owners_facts.words_asked_for(text)
    return RecallQuestion(words, everything=False) if words else None


def left_to_others(
    messages: Sequence[ModelMessage], text: str, fits: Callable[[str], bool] | None
) -> bool:
    """Whether a thing was asked for that the memory does not know, and a file may be."""
    asked = any(form.match(text) for form in _THING)
    return asked and recall_answer(messages, text, fits) == tr(NOTHING)


def recall_answer(
    messages: Sequence[ModelMessage], text: str, fits: Callable[[str], bool] | None = None
) -> str | None:
    """What the search brought, in a sentence and a list; None where nothing was searched yet.

    Args:
        messages: The run so far.
        text: The question, which is no answer to itself.
        fits: Which memories may answer it; all that were found, where that is not said.
    """
    results = [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.tool_name == SEARCH
    ]
    if not results:
        return None
    if results[-1].outcome != "success":
        return tr("I could not look into my memory.")
    # a question that only sounds like one is not answered with what stood in some file
    loose = recall_question(text) is None
    shown = content_of(results[-1].model_response_str())
    found = _about(text, _memories(shown, told=loose))
    found = found if fits is None else [one for one in found if fits(one)]
    lines = [f"- {one}" for one in found if one.strip() != text.strip() and not _is_question(one)]
    if lines:
        return "\n".join([tr("I remember:"), *lines])
    asked = recall_question(text)
    return tr(NOTHING if asked is None or asked.about else NOTHING_YET)


def close(text: str, found: str) -> bool:
    """Whether what was found shares a word with a question that only the memory could know."""
    question = implied_recall(text)
    return question is not None and not _stems(question.about).isdisjoint(_stems(found))


def _is_question(text: str) -> bool:
    return recall_question(text) is not None or implied_recall(text) is not None


def _about(text: str, found: Sequence[str]) -> Sequence[str]:
    """Of what was found what shares a word with the question, where any does."""
    question = recall_question(text) or implied_recall(text)
    wanted: set[str] = set() if question is None else _stems(question.about)
    close = [one for one in found if wanted & _stems(one)]
    return close or found


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in re.findall(r"\w{3,}", text.lower()) if word not in _OWNERS}


def _memories(shown: str, *, told: bool) -> list[str]:
    """The texts of a search's answer: one memory a line, as JSON; those alone that were told."""
    rows = [json.loads(line) for line in shown.split("\n") if line.startswith("{")]
    return [str(row["text"]) for row in rows if not told or row.get("taint") != _EXTERNAL]
