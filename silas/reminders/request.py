"""What somebody wants of reminders, recognised by code: no model is asked for any of this."""

import re
from typing import Final, Literal, NamedTuple

from silas.reminders.models import ReminderRefused
from silas.reminders.phrase import Phrase, chosen_phrase, is_at_end, phrases_in

ReminderAction = Literal["make", "again", "list", "cancel", "cancel_all", "move"]


class ReminderRequest(NamedTuple):
    """What is wanted.

    Attributes:
        wanted: What to do.
        text: What to say then, or words that name the reminder; of `again`, which is about what
            was told last, nothing.
        phrase: The words that say when; None where there are none.
    """

    wanted: ReminderAction
    text: str = ""
    phrase: Phrase | None = None


MOST_CHARACTERS: Final = 500
"""Longer messages are no reminders."""

_POLITE: Final = (
    r"(?:(?:hi|hey|hello|hallo|ok(?:ay)?|so|and|und|please|bitte|silas)[\s,:!]+)*"
    r"(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|i(?:\s+want|['’]d\s+like)\s+you\s+to\s+|"
    r"(?:don['’]t|do\s+not)\s+forget\s+to\s+|ich\s+möchte,?\s+dass\s+du\s+)?"
)
_MAKE: Final = re.compile(
    rf"{_POLITE}(?:"
    r"remind\s+me\b(?:\s+please)?|(?:don['’]?t|do\s+not)\s+let\s+me\s+forget\b|"
    r"(?:set|create|make|add|schedule)\s+(?:me\s+)?(?:a\s+|another\s+)?reminder\b|"
    r"reminder\s*:|erinnerung\s*:|"
    r"erinner(?:e|st)?\s+(?:du\s+)?mich\b(?:\s+bitte)?|"
    r"(?:stell(?:e)?|mach(?:e)?|setz(?:e)?)\s+(?:mir\s+)?eine\s+erinnerung\b)\s*[:,]?\s*",
    re.IGNORECASE,
)
_GERMAN_END: Final = re.compile(
    r"(?:(?:kannst|könntest|würdest|willst)\s+du\s+mich|bitte\s+mich)\s+(?:bitte\s+)?(?P<rest>.+?)"
    r"\s+erinnern\s*[?.!]*",
    re.IGNORECASE | re.DOTALL,
)
_TIME_FIRST: Final = re.compile(
    rf"{_POLITE}(?P<when>\S.{{0,60}}?)[\s,:]+(?:please\s+|bitte\s+)?"
    r"(?:remind\s+me|erinner(?:e|st\s+du)?\s+mich)\b[\s,]*(?:please\s+|bitte\s+)?(?P<rest>\S.*)",
    re.IGNORECASE,
)
"""“every day at 8 remind me to take my pills”: the words before it say when, and nothing else."""
_SETS: Final = (
    r"(?:(?:set|start|make|create|stell(?:e)?|starte?|mach(?:e)?)\s+(?:me\s+|mir\s+)?"
    r"(?:(?:an?|the|my|einen|den|meinen)\s+)?)?"
)
_TIMER: Final = re.compile(
    rf"{_POLITE}{_SETS}(?:timer\b\s*(?:(?:for|of|to|auf|für|über|von)\s+)?(?P<after>.+?)|"
    r"(?P<before>.+?)[\s-]+timer)(?:\s+(?:please|bitte))?[\s.!]*",
    re.IGNORECASE,
)
_ALARM: Final = re.compile(
    rf"{_POLITE}(?:{_SETS}(?P<alarm>alarm|wecker)\b\s*(?:(?:for|to|auf|für)\s+)?|"
    r"(?P<wake>wake\s+me(?:\s+up)?|wecke?\s+mich)\s+(?:please\s+|bitte\s+)?)(?P<when>\S.*?)(?:\s+(?:please|bitte))?[\s.!]*",
    re.IGNORECASE,
)
"""What rings: a length from now on, or a time; no word of it says what for."""

_BARE_HOUR: Final = re.compile(
    r"(?<![\d:])(?P<hour>[1-9])(?P<minutes>:\d\d)?"
    r"(?=$|\s+(?:tomorrow|today|on|every|morgen|heute|jeden|am\s+\w+tag)\b)",
    re.IGNORECASE,
)
"""An hour by itself: who wants to be woken at six means the morning."""

_SILENCE: Final = re.compile(
    rf"{_POLITE}(?:stop|cancel|delete|turn\s+off|lösche?|streiche?|stoppe?|beende)\s+"
    r"(?:(?:the|my|den|meinen)\s+)?(?P<what>timer|alarm|wecker)(?:\s+(?:please|bitte))?[\s.!]*",
    re.IGNORECASE,
)

_ONCE_MORE: Final = r"(?:nochmals?|noch\s+(?:ein)?mal|wieder|erneut)"
_AGAIN: Final = re.compile(
    rf"{_POLITE}(?:snooze(?:\s+(?:it|that|(?:(?:this|that|the)\s+)?(?:reminder|alarm|timer)))?"
    r"(?:\s+(?:for\s+)?(?P<snooze>\S.*?))?|"
    r"remind\s+me\s+again\s+(?P<english>\S.*?)|remind\s+me\s+(?P<first>\S.*?)\s+again|"
    rf"erinnere?\s+mich\s+(?:(?:daran|bitte)\s+)*{_ONCE_MORE}\s+(?:daran\s+)?(?P<german>\S.*?)|"
    rf"erinnere?\s+mich\s+(?:(?:daran|bitte)\s+)*(?P<erst>\S.*?)\s+{_ONCE_MORE}(?:\s+daran)?)"
    r"(?:\s+(?:please|bitte))?[\s.!]*",
    re.IGNORECASE,
)
"""What was told last, once more: all of the other words say when."""

_SNOOZE: Final = "in 10 minutes"
"""Where nobody says how long."""

_RECALL: Final = re.compile(
    r"(?:again\s+)?(?:of\s+)?(?:what|how|who|whom|whose|why|where|which|when|whether|if|was|wie|wer|"
    r"warum|wo|welche[rnsm]?|wann|ob)\b",
    re.IGNORECASE,
)
_LIST: Final = re.compile(
    rf"{_POLITE}(?:(?:list|show(?:\s+me)?|tell\s+me|what|which|do\s+i\s+have|are\s+there|"
    r"zeig(?:e|st)?(?:\s+mir)?|liste|nenne(?:\s+mir)?|welche|habe\s+ich|gibt\s+es)\b[^.:;\n]{0,40}?)?"
    r"\b(?:my\s+|all\s+|meine\s+|alle\s+)?(?:reminders|erinnerungen)\b"
    r"(?:\s+(?:do|are|have|did|there|i|set|waiting|open|left|habe|ich|gibt|es|stehen|an|offen|auf))*"
    r"\s*[?.!]*|"
    rf"{_POLITE}(?:when|what)(?:['’]s|\s+is)\s+(?:my|the)\s+next\s+reminder\s*[?.!]*|"
    rf"{_POLITE}(?:wann|was)\s+ist\s+(?:meine|die)\s+nächste\s+erinnerung\s*[?.!]*",
    re.IGNORECASE,
)
_CANCEL_VERB: Final = (
    r"(?:cancel|delete|remove|drop|clear|lösche?|streiche?|storniere?|entferne?)\s+"
)
_CANCEL_ALL: Final = re.compile(
    rf"{_POLITE}{_CANCEL_VERB}(?:(?:all|every|of|the|my|alle|jede|die|meine|bitte)\s+)*"
    r"(?:reminders|erinnerungen|(?<=every\s)reminder|(?<=jede\s)erinnerung)[\s.!]*(?:(?:please|bitte)[\s.!]*)?",
    re.IGNORECASE,
)
_CANCEL: Final = re.compile(
    rf"{_POLITE}{_CANCEL_VERB}"
    r"(?:(?:the|my|die|meine)\s+)?(?:(?P<before>.{1,80}?)[\s-]+)?"
    r"(?:reminder|erinnerung)\b\s*(?:(?:about|to|for|of|that|number|no\.?|an|für|zu|nummer|nr\.?)\s+)?"
    r"(?P<after>.*?)[\s.!?]*",
    re.IGNORECASE | re.DOTALL,
)
_MOVE: Final = re.compile(
    rf"{_POLITE}(?:move|reschedule|postpone|shift|change|verschiebe?|verlege?|ändere?)\s+"
    r"(?:(?:the|my|die|meine)\s+)?(?:(?P<before>.{1,80}?)[\s-]+)?"
    r"(?:reminder|erinnerung)\b\s*(?:(?:about|for|of|that|number|no\.?|an|für|zu|nummer|nr\.?)\s+)?"
    r"(?P<after>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LEADING: Final = re.compile(
    r"[\s,:;–-]*(?:(?:to|that|about|of|for|please|bitte|daran|an|dass|zu|für)\b[\s,:]*)*",
    re.IGNORECASE,
)
_TRAILING: Final = re.compile(
    r"[\s,;:–-]*(?:\b(?:please|bitte|on|at|for|to|um|am|auf|erinnern))?[\s,;:?–-]*$", re.IGNORECASE
)
_ME: Final = re.compile(r"(?:me|mich)\s+(?!(?:and|und|&|\+)\s)", re.IGNORECASE)
_TO: Final = re.compile(r"\s*\b(?:to|for|until|till|on|auf|bis|by)\s*$", re.IGNORECASE)


HINTS: Final = (
    "snooze",
    "remind",
    "erinner",
    "timer",
    "alarm",
    "wecke",
    "weck ",
    "wake me",
    "me forget",
)
"""Words of which every wish has one."""


def may_be_request(said: str) -> bool:
    """Whether it is worth a closer look; costs next to nothing."""
    lower = said.lower()
    return len(said) <= MOST_CHARACTERS and any(hint in lower for hint in HINTS)


def request_of(said: str) -> ReminderRequest | None:
    """What is wanted; None where it is nothing about reminders, for a model to answer."""
    text = said.strip()
    if not may_be_request(text) or "\n" in text:
        return None
    if _LIST.fullmatch(text):
        return ReminderRequest("list")
    if found := _MOVE.fullmatch(text):
        return _move_request(found)
    if _CANCEL_ALL.fullmatch(text):
        return ReminderRequest("cancel_all")
    if found := _CANCEL.fullmatch(text):
        return ReminderRequest("cancel", (found["before"] or found["after"]).strip(' .!?"“”'))
    if again := _again_request(text):
        return again
    if found := _GERMAN_END.fullmatch(text):
        return _make_request(found["rest"])
    if found := _MAKE.match(text):
        # “add a reminder to the app” without a time is no wish to be reminded
        me = re.search(r"\b(?:me|mich)\b", found.group(), re.IGNORECASE) is not None
        return _make_request(text[found.end() :], asks=me)
    if found := _TIME_FIRST.fullmatch(text):
        return _make_time_first(found)
    return _ring_request(text)


def _again_request(text: str) -> ReminderRequest | None:
    found = _AGAIN.fullmatch(text)
    if found is None:
        return None
    length = next(filter(None, found.groups()), _SNOOZE)
    for when in (length, f"in {length}"):
        phrase = chosen_phrase(when)
        if phrase is not None and not phrase.start and is_at_end(when, phrase):
            return ReminderRequest("again", phrase=phrase)
    return None


def _ring_request(text: str) -> ReminderRequest | None:
    """A timer, an alarm: all of it but the words for it says when."""
    if found := _SILENCE.fullmatch(text):
        return ReminderRequest("cancel", found["what"])
    if found := _TIMER.fullmatch(text):
        length = (found["after"] or found["before"]).replace("-", " ").strip()
        said = f"timer {length}"
        whens = (length, f"in {length}")
    elif found := _ALARM.fullmatch(text):
        said = found["alarm"] or ("wake up" if "wake" in found["wake"].lower() else "aufstehen")
        when = _BARE_HOUR.sub(lambda one: f"0{one['hour']}{one['minutes'] or ':00'}", found["when"])
        whens = (when, f"at {when}", f"um {when}")
    else:
        return None
    for when in whens:
        phrase = chosen_phrase(when)
        if phrase is not None and not phrase.start and is_at_end(when, phrase):
            return ReminderRequest("make", said, phrase)
    return None


def _make_request(rest: str, *, asks: bool = True) -> ReminderRequest | None:
    if _RECALL.match(rest):
        return None  # “remind me what we said”
    phrase = chosen_phrase(rest)
    if phrase is None:
        to_do = re.match(r"(?:to|that|daran|dass)\b", rest, re.IGNORECASE)
        # “remind me about X” without a time asks what was said of it
        return ReminderRequest("make", said_text(rest)) if asks and to_do else None
    return ReminderRequest("make", said_text(rest, phrase), phrase)


def _make_time_first(found: re.Match[str]) -> ReminderRequest | None:
    phrase = chosen_phrase(found["when"])
    if phrase is None or phrase.start or not is_at_end(found["when"], phrase):
        return None
    rest = found["rest"]
    if _RECALL.match(rest) or phrases_in(rest):
        return None  # two times: which one is meant is asked
    return ReminderRequest("make", said_text(rest), phrase)


def _move_request(found: re.Match[str]) -> ReminderRequest:
    rest = found["after"]
    phrases = phrases_in(rest)
    last = phrases[-1] if phrases and is_at_end(rest, phrases[-1]) else None
    name = rest if last is None else _TO.sub("", rest[: last.start])
    which = found["before"] or re.sub(r"^(?:to|zu)\s+", "", name, flags=re.IGNORECASE)
    return ReminderRequest("move", which.strip(' .!?"“”'), last)


def said_text(rest: str, phrase: Phrase | None = None) -> str:
    """What is to be said: the sentence without the words that say when."""
    if phrase is None:
        return _TRAILING.sub("", _LEADING.sub("", rest, count=1)).strip().rstrip(".!")
    before, after = rest[: phrase.start], rest[phrase.end :]
    head = _TRAILING.sub("", _LEADING.sub("", before, count=1)).strip()
    tail = after if head else _LEADING.sub("", after, count=1)
    tail = _TRAILING.sub("", tail).strip().rstrip(".!")
    if head and tail and re.fullmatch(r"[\W_]*(?:please|bitte)?[\W_]*", tail, re.IGNORECASE):
        tail = ""
    return " ".join(filter(None, (head, tail.lstrip(" ,")))).rstrip(".!")


def read_request(said: str) -> ReminderRequest:
    """What `silas remind "TEXT"` wants: a reminder, with or without “remind me” before it.

    Raises:
        ReminderRefused: It says no time, or nothing else.
    """
    text = " ".join(said.split())
    if len(text) > MOST_CHARACTERS:
        raise ReminderRefused(
            f"A reminder has {MOST_CHARACTERS} characters at most.", code="E_REMINDER_TEXT"
        )
    asked = request_of(text)
    if asked is not None:
        return asked
    if found := _ME.match(text):  # the command is called as the word before it
        text = text[found.end() :]
    return _make_request(text) or ReminderRequest("make", text)
