"""Answers without work that announce work, claim it, or only say the request again.

Small models call a request that needs work one that they can answer, and answer "I will rename it",
or even "Renamed.". Nobody then renames anything, and the owner waits or believes it. What is
recognised here goes to the planner, which plans, asks or says why not. Pure.
"""

import re
from typing import Final

_DO: Final = (
    "add|adjust|append|archive|back|call|change|check|clean|combine|compress|convert|copy|correct|"
    "count|create|cut|delete|do|download|draft|edit|email|execute|export|extract|fetch|fill|find|"
    "fix|format|generate|implement|insert|install|list|look|mail|make|merge|modify|move|open|"
    "organi[sz]e|process|produce|put|read|refactor|remove|rename|replace|run|save|search|send|"
    "sort|split|start|summari[sz]e|text|tidy|translate|turn|update|upload|write|zip"
)
_GOING: Final = (
    r"(?:i['\u2019]ll|i will|i shall|i['\u2019]m going to|i am going to|let me|i propose to)"
)
_BEGINNING: Final = (
    r"(?:(?:sure|okay|ok|certainly|of course|understood|all ?right|absolutely|got it|great|yes)"
    r"[^.!?\n]{0,60}[.,!:\s]+)?"
)
_ANNOUNCES: Final = re.compile(
    rf"{_BEGINNING}(?:{_GOING}|i can(?= help))\s+"
    rf"(?:now\s+|then\s+|help you\s+(?:to\s+)?)?(?:{_DO})\b",
    re.IGNORECASE,
)
_PLANS: Final = re.compile(
    r"(?:here (?:is|are)|i propose|to [a-z]+ .{1,80}, (?:i propose|i will|you can|follow))"
    r"[^.\n]{0,80}\b(?:steps|plan)\b",
    re.IGNORECASE,
)
_DONE: Final = (
    "added|adjusted|appended|applied|archived|backed up|called|changed|cleaned up|combined|"
    "compressed|converted|copied|corrected|created|deleted|downloaded|e-?mailed|edited|emptied|"
    "executed|exported|extracted|fixed|generated|implemented|inserted|installed|mailed|merged|"
    "modified|moved|organi[sz]ed|published|removed|renamed|replaced|saved|sent|switched off|"
    "switched on|tidied|translated|turned off|turned on|updated|uploaded|zipped"
)
_HOW: Final = r"(?:now\s+|just\s+|already\s+|been\s+|successfully\s+|all\s+)*"
_CLAIMS: Final = re.compile(
    rf"{_BEGINNING}(?:"
    rf"done\b[.!,]?|(?:{_DONE})\s+\S|"
    rf"(?:i['\u2019]ve|i have|i|we have)\s+{_HOW}(?:{_DONE})\b|"
    rf"(?:it|they|everything|(?:the|your|all|both)\s(?:[^.!?\n]|\.(?=\w)){{1,80}}?|\S+\.\w+)"
    rf"\s+(?:has|have|was|were)\s+{_HOW}(?:{_DONE})\b)",
    re.IGNORECASE,
)
_ABOUT_BEFORE: Final = re.compile(
    r"\?|^(?:what|who|whose|which|when|where|why|how|is|are|was|were|do|does|did|has|have|can)\b|"
    r"\b(?:did|done|happened|history|earlier|before|so far|already|yesterday|last time|status)\b",
    re.IGNORECASE,
)
"""Requests whose answer may well tell of work that was done."""
_POLITE: Final = r"(?:(?:please|silas|now|then|can you|could you|would you|bitte)\b,?\s+)*"
_CHANGE: Final = re.compile(
    rf"{_POLITE}(?:append|change|correct|copy|delete|edit|fix|insert|modify|move|refactor|remove|"
    r"rename|repair|replace)\s+\S",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    rf"{_POLITE}(?:add|collect|combine|convert|count|create|draft|export|extract|generate|give|"
    r"list|make|merge|put|save|sort|split|store|summari[sz]e|translate|write)\s+\S",
    re.IGNORECASE,
)
_INTO_FILE: Final = re.compile(
    r"\b(?:in|into|to|as|called|named|make|create|write)\s+(?:a\s+(?:new\s+)?file\s+)?"
    r"[`'\"]?[\w/-][\w./-]*\.\w{1,5}\b(?!\()",
    re.IGNORECASE,
)
_WHY_NOT: Final = re.compile(
    r"\b(?:can ?not|can['\u2019]t|could(?: not|n['\u2019]t)|un(?:able|clear)|not (?:able|possible|"
    r"clear|sure|found|there|allowed)|impossible|do(?:es)?(?: not|n['\u2019]t)|"
    r"wo(?:uld)?n['\u2019]t|will not|would not|no such|there (?:is|are) no|already|nothing|"
    r"only you|which one|no \w+ (?:is|are) (?:needed|necessary)|"
    r"kann (?:ich )?nicht|nicht möglich)\b",
    re.IGNORECASE,
)
"""Words of an answer that says why nothing is done."""
_ENDS: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD: Final = re.compile(r"\w+")
_MOST: Final = 3
"""Sentences of a mere announcement; what says more also says something."""


def only_announces(request: str, answer: str) -> bool:
    """Whether an answer tells what is going to happen, or repeats what was asked, and no more.

    Args:
        request: What was asked.
        answer: What was answered. A question to the owner is never an announcement.
    """
    told = answer.strip()
    if not told or "?" in told:
        return False
    if _repeats(request, told):
        return True
    sentences = [one for one in _ENDS.split(told) if one.strip()]
    announced = _ANNOUNCES.match(told) or _PLANS.match(told)
    return announced is not None and len(sentences) <= _MOST


def claims_work(request: str, answer: str) -> bool:
    """Whether a short answer says that something was done, to words that wanted it done.

    Args:
        request: What was asked; a question may be answered by what was done before.
        answer: What was answered in a turn in which nothing was done.
    """
    told = answer.strip()
    if _ABOUT_BEFORE.search(request.strip()):
        return False
    sentences = [one for one in _ENDS.split(told) if one.strip()]
    return len(sentences) <= _MOST and any(_CLAIMS.match(one) for one in sentences)


def owes_work(request: str, answer: str) -> bool:
    """Whether words came where a file is to be changed: the text of a summary, and no file.

    Args:
        request: What was asked. Only a sentence that begins as an order to change something counts,
            or an order that names the file its result belongs into.
        answer: What was answered. Who asks back, or says why not, owes nothing.
    """
    wanted = request.strip()
    if not answer.strip() or "?" in answer or "?" in wanted or _WHY_NOT.search(answer):
        return False
    if any(_CHANGE.match(one) for one in _ENDS.split(wanted)):
        return True
    return bool(_ORDER.match(wanted) and _INTO_FILE.search(wanted))


def says_why_not(answer: str) -> bool:
    """Whether an answer refuses, or says what stands in the way."""
    return _WHY_NOT.search(answer) is not None


def _repeats(request: str, answer: str) -> bool:
    """A sentence of several words, said again word for word; "hello" may well be answered so."""
    asked, told = _words(request), _words(answer)
    return len(told) > 2 and told == asked


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
