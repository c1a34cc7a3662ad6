"""Requests that name a file or a folder as people do: `read me the notes`, `what is in photos`.

They are tried last, after every other sentence, plan and memory: where no file fits, the request
means something else. Nothing is ever changed by them.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import permutations
from types import MappingProxyType
from typing import Final

from silas.agents.runbook.folder.kinds import ALL_KINDS, KINDS, ORDERS
from silas.agents.runbook.folder.questions import LookRequest
from silas.plans.runbooks.sentences import matches, parse_request

_THE: Final = "the|my|our|this|that"
_DE_THE: Final = "der|die|das|den|dem|mein|meine|meinen|meiner|meinem"
_DE_IN: Final = "in|im|aus [dem|den|der|meinem|meinen|meiner] [ordner|verzeichnis]"
_SENTENCES: Final = (
    (
        "inside",
        (
            "list|show|give [me] everything|files|all_files|all in|inside|from|of [the|my] "
            "{folder} [folder|directory]",
            "what|which files are in|inside [the|my] {folder} [folder|directory]",
            "how many files are [there] in|inside [the|my] {folder} [folder|directory]",
            "how many {kind} are [there] in|inside [the|my] {folder} [folder|directory]",
            "list|show [me] [all] [the|my] {kind} in|inside|from [the|my] "
            "{folder} [folder|directory]",
            f"wie_viele|wieviele {{kind}} sind|liegen|gibt_es {_DE_IN} {{folder}}",
            f"zeig|zeige|liste|welche [mir] [alle] [die|meine] {{kind}} [sind|liegen] {_DE_IN} "
            "{folder} [auf]",
            f"was ist|liegt {_DE_IN} {{folder}}",
        ),
    ),
    (
        "ordered_inside",
        (
            f"what_is|what's|whats|which_is|what_are|which_are [{_THE}] {{order}} {{kind}} "
            f"[files] in|inside|of [{_THE}] {{folder}} [folder|directory]",
            f"[show|list|find|give] [me] [{_THE}] {{order}} {{kind}} [files] in|inside|from|of "
            f"[{_THE}] {{folder}} [folder|directory]",
            f"was_ist|was_sind|welche_ist|welche_sind|zeig_mir|zeige_mir [{_DE_THE}] {{order}} "
            f"{{kind}} {_DE_IN} {{folder}}",
            f"[{_DE_THE}] {{order}} {{kind}} {_DE_IN} {{folder}}",
        ),
    ),
    (
        "size_inside",
        (
            f"how much [disk] space does|do {_THE} {{folder}} [folder|directory] "
            "take|use|need|occupy [up]",
            f"how big|large is|are {_THE} {{folder}} [folder|directory]",
            f"wie_viel|wieviel platz braucht|brauchen|belegt|belegen {_DE_THE} [ordner] {{folder}}",
            f"wie groß ist|sind {_DE_THE} [ordner] {{folder}}",
        ),
    ),
    (
        "inside_or_show",
        (
            f"open|öffne [{_THE}|{_DE_THE}] {{folder}} [folder|directory]",
            "what_is|what's|whats|show_me_what_is|show_me_what's in|inside|on [the|my] "
            "{folder} [folder|directory]",
        ),
    ),
    (
        "show_loose",
        (
            f"show|open|read|print|cat|display|view [me|up|out] {_THE} {{loose...}}",
            "open|read|cat|view [me] {loose...}",
            f"what does {_THE} {{loose...}} say",
            f"what_is|what's|whats in|on {_THE} {{loose...}}",
            f"zeig|zeige|öffne|lies [mir] {_DE_THE} {{loose...}}",
            f"was steht in|auf {_DE_THE} {{loose...}}",
        ),
    ),
    (
        "extract_loose",
        (
            f"summarise|summarize|sum_up [me] {_THE} {{loose...}}",
            f"what is {_THE} {{loose...}} about",
        ),
    ),
    (
        "facts_loose",
        (
            f"how old is {_THE} {{loose...}} file",
            f"when did i last|recently edit|change|modify|save {_THE} {{loose...}}",
            f"when did i edit|change|modify|save {_THE} {{loose...}} last",
            f"when was|were {_THE} {{loose...}} last edited|changed|modified|saved",
            f"wann habe ich {_DE_THE} {{loose...}} zuletzt geändert|bearbeitet",
        ),
    ),
    (
        "holds_loose",
        (
            f"is|are {{text...}} [already] on {_THE} {{loose...}}",
            f"does|do {_THE} {{loose...}} mention|contain {{text...}}",
            f"steht|stehen|ist {{text...}} [schon] auf {_DE_THE} {{loose...}}",
        ),
    ),
    (
        "words_loose",
        (
            f"how many words|lines|characters are|in [there] [in] {_THE} {{loose...}}",
            f"count [the] words|lines|characters in|of {_THE} {{loose...}}",
            f"how long is {_THE} {{loose...}}",
            f"zähl|zähle [die|alle] wörter|zeilen|zeichen in|von {_DE_THE} {{loose...}}",
            f"wie_viele|wieviele wörter|zeilen|zeichen hat|haben {_DE_THE} {{loose...}}",
        ),
    ),
    (
        "named_loose",
        (
            f"find|locate|search [me] [for] {_THE} {{loose...}}",
            f"where_is|where's|wheres {_THE} {{loose...}}",
            f"do i have {_THE}|a|an {{loose...}}",
        ),
    ),
)
_FILLER_LIST: Final = """
a an about at by file files document for from i in list of on or our the to with
datei dateien dokument liste
"""
_FILLER: Final = frozenset(_FILLER_LIST.split())
_ELSEWHERE: Final = frozenset(
    ("alarm", "appointment", "calendar", "email", "e-mail", "inbox", "mail", "meeting", "message")
)
"""What by itself is no file: `summarise my mail` asks for mail, whatever files are called so."""
_ENGLISH: Final = MappingProxyType(
    {
        "aufgaben": "todo",
        "bericht": "report",
        "brief": "letter",
        "einkauf": "shopping",
        "einkäufe": "shopping",
        "einkaufsliste": "shopping",
        "notiz": "note",
        "notizen": "note",
        "preise": "price",
        "rechnung": "invoice",
        "rechnungen": "invoice",
        "rezept": "recipe",
        "rezepte": "recipe",
        "tagebuch": "diary",
        "vertrag": "contract",
    }
)
"""What a file may be called in English that its owner names in German: „die Notizen“, notes.txt."""
_MOST: Final = 3  # words of a name: in every order that makes six patterns


def loose_request(text: str) -> LookRequest | None:
    """What a message asks to be looked at by a name that is not a file's whole name."""
    said, place = parse_request(text)
    return next(_find_requests(said), None) if said and not place else None


def _find_requests(said: str) -> Iterator[LookRequest]:
    for kind, sentences in _SENTENCES:
        for slots in matches(sentences, said):
            names = _inside(slots) if "folder" in slots else _name_patterns(slots["loose"])
            if names:
                given = {"names": "\n".join(names), **_given_in(slots)}
                if "order" in slots and not given.get("order"):
                    continue
                if kind == "inside_or_show":
                    given["files"] = "\n".join(_name_patterns(slots["folder"]))
                yield LookRequest(kind, MappingProxyType(given))


def _given_in(slots: Mapping[str, str]) -> Mapping[str, str]:
    """What the answer needs besides the names: the order, or the text that is looked for."""
    order = ORDERS.get(slots.get("order", "").lower(), "")
    return {"order": order} if order else {"text": slots["text"]} if "text" in slots else {}


def _inside(slots: Mapping[str, str]) -> list[str]:
    folder, kind = slots["folder"], slots.get("kind", "").lower()
    endings = KINDS.get(kind, ()) if kind and kind not in ALL_KINDS else ("*",)
    if not re.fullmatch(r"[\w+(@~-][\w .+()@&#=~-]*", folder):
        return []
    return [f"{folder}/{ending}" for ending in endings]


def _name_patterns(said: str) -> list[str]:
    """Patterns of names that hold every word of what was said, in any order."""
    heard = re.sub(r"-(?:liste?|datei|file)\b", "", said.lower())  # the todo-list is todo.txt
    words = [one for one in re.findall(r"[\w-]+", heard) if one not in _FILLER]
    if not 0 < len(words) <= _MOST or any(len(one) < len("abc") for one in words):
        return []
    stems = [one[:-1] if len(one) > len("abc") and one.endswith("s") else one for one in words]
    if _ELSEWHERE.issuperset(stems):
        return []
    english = [_ENGLISH.get(stem, stem) for stem in stems]
    called = (stems, english) if english != stems else (stems,)
    return ["*" + "*".join(order) + "*" for one in called for order in permutations(one)]
