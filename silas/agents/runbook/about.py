"""What the built-in model says of itself: what it can do, and what it cannot."""

import re
from collections.abc import Sequence
from typing import Any, Final

from silas.agents.runbook.door_words import DoorWords, words_here
from silas.agents.runbook.folder_questions import is_direct_look
from silas.agents.runbook.library import Library, RunbookTemplate
from silas.agents.runbook.unhandled import VERBS
from silas.language import as_part, tr, tr_later
from silas.plans.runbooks.request import words_of

_ABOUT: Final = re.compile(
    r"(?:(?:silas )?(?:help|hilfe)(?: me)?(?: please)?"
    r"|(?:silas )?(?:what (?:can|do) you do|what are you able to do|who are you|what are you"
    r"|how (?:can|do) i (?:begin|start|use (?:you|silas))|what can i (?:ask|say|do)(?: you)?"
    r"|what do you know how to do|how can you help(?: me)?|show me what you can do"
    r"|was kannst du|wer bist du|was bist du)(?: for me| here| in this folder)?)"
)
HOW_TO_CONFIGURE: Final = DoorWords(
    tr_later(
        "To use a language model, set OPENROUTER_API_KEY, or name a model under "
        "`models:` in the configuration (any PydanticAI name, or an OpenAI-compatible "
        "`base_url` such as Ollama)."
    ),
    tr_later("“Who answers” under “More” connects a language model."),
)
WHAT_I_AM: Final = tr_later(
    "No language model is configured. I am Silas's built-in runbook model: I find "
    "and follow prepared plans, and I cannot answer free questions or write new "
    "plans."
)
AT_ONCE: Final = (
    (tr_later("calculate"), tr_later("what is 17 % of 240")),
    (tr_later("count days, tell date and time"), tr_later("how many days until christmas")),
    (tr_later("convert units"), tr_later("5 miles in km")),
    (tr_later("remember"), tr_later("remember that my passport lies in the blue drawer")),
    (tr_later("tell what I remember"), tr_later("where is my passport")),
)
"""What needs no plan and no card: what it is, and an example, which is understood as it is told."""

BY_THE_CLOCK: Final = (
    (tr_later("remind you"), tr_later("remind me tomorrow at nine to call the dentist")),
    (tr_later("do such work again and again"), tr_later("back up this folder every evening")),
    (tr_later("tell what is to come"), tr_later("what's on tomorrow?")),
)
"""What comes at its time; the same."""

_FIRST: Final = r"\A(?:(?:please|pls|can you|could you|would you|silas),? )*"
"""What a verb begins with that says what is wanted: `add call mum to todo.md` asks for no call."""

_REMINDERS: Final = tr_later(
    "No reminder that waits fits that, and none was made: I understand “remind me tomorrow at nine "
    "to call the dentist”, “what reminders do I have?” and “cancel the dentist reminder”."
)

_FOLDER: Final = r"(?:folder|directory|ordner|verzeichnis)\b"
_ARTICLE: Final = "(?:the|my|this|that|a|den|das|die|meinen?|diesen?|dieses)"
_FILES: Final = (
    r"(?:files?|dateien?|photos?|pictures?|bilder|fotos|all|alles?|every|every\w+|in|of)\b"
)
_CANNOT: Final = (
    (
        rf"(?:rename|benenne?) (?:{_ARTICLE} )?(?:(?!{_FILES})\S+ )?{_FOLDER}",
        tr_later(
            "I rename files and no folders: say “move everything from Downloads to Archive”, which "
            "makes the folder that is missing."
        ),
    ),
    (
        rf"(?:delete|remove|erase|wipe|trash|lösche?|entferne?)\b(?!.*\b(?:empty|leeren?)\b)(?:"
        rf" (?:{_ARTICLE} )?(?:(?!{_FILES})\S+ )?{_FOLDER}"
        r"|.*\b(?:everything in it|mit (?:allem )?inhalt)\b)",
        tr_later(
            "I delete no folder together with its files: say “move everything from Downloads to "
            "Archive”, and then “delete empty folders in Downloads”."
        ),
    ),
    (
        r"(?:check|watch|tell|let|prüfe?|pruefe?|sag|sage|melde?|beobachte?)\b.*"
        r"\b(?:whether|if|when|ob|wenn|sobald)\b.*\b(?:chang\w*|geändert|ändert|aendert)",
        tr_later(
            "I watch whole folders and no single file: say “tell me every hour what changed in "
            "this folder”."
        ),
    ),
    (
        r"resize|smaller|crop|rotate|png to|jpg to|jpeg to|into a pdf|to pdf|to html|play",
        tr_later("I work on texts, tables and names of files, and cannot change or play media."),
    ),
    (r"disk|drive|storage", tr_later("I see this folder alone, and not how full the disk is.")),
    (
        r"commit|push|pull|branch|rebase",
        tr_later("I look at a git repository, and change nothing in it."),
    ),
    (
        r"passwords?|passwor[dt]e?|passwörtern?|credentials|api[ -]?keys?|zugangsdaten|pins?",
        tr_later(
            "I show and send no password or key: one that Silas keeps goes to the tool that you "
            "approved for it, and to no conversation."
        ),
    ),
    (
        r"(?<!['’]s )e-?mails?|mails?|inbox|message|sms|whatsapp|nachricht",
        tr_later("I have no mail account connected."),
    ),
    (
        r"weather|news|web|internet|online|google|website|flight|hotel|wetter|nachrichten",
        tr_later("I cannot look into the web."),
    ),
    (r"remind(?:ers?|ing)?|erinner\w*", _REMINDERS),
    (
        r"alarm|timer|wecker",
        tr_later(
            "That says no time that I understand: say “set a timer for 10 minutes” or “wake me at "
            "7 tomorrow”."
        ),
    ),
    (
        r"calendar|appointments?|meetings?|termin|kalender",
        tr_later(
            "I keep no calendar, and remind you: say “remind me on Friday at nine of the meeting”."
        ),
    ),
    (rf"{_FIRST}(?:call|phone|ring) \w+|anrufen", tr_later("I cannot make calls.")),
    (
        r"ip address|wi-?fi|wlan|battery|bluetooth|printer|cpu|ram|ip-adresse|akku|drucker",
        tr_later("I see the files of this folder alone, and nothing else of this machine."),
    ),
    (r"translate|translation|übersetzen?", tr_later("I cannot translate.")),
    (
        rf"{_FIRST}(?:write|compose|draft)|poem|essay|story|joke|explain|schreibe?|erkläre?",
        tr_later("I write no texts of my own."),
    ),
    (
        r"usd|eur|gbp|chf|jpy|dollars?|euros?|currency|exchange rate",
        tr_later("I know no exchange rates, because I cannot look into the web."),
    ),
    (
        r"delete|remove|erase|wipe|trash|lösche?|entferne?",
        tr_later("I delete one file at a time, by its name."),
    ),
    (
        r"merge|upload|download|install|send|buy|pay|order|book",
        tr_later("No prepared plan does that."),
    ),
)
"""Words of a request, and what is missing for it."""

_NONE_CONFIGURED: Final = DoorWords(
    tr_later(
        "{why} No language model is configured.\n"
        '{what}Say "help" for all that I can do; “Who answers” under “More” in the '
        "cockpit, or `silas setup`, connects a language model."
    ),
    tr_later(
        "{why} No language model is configured.\n"
        '{what}Say "help" for all that I can do; “Who answers” under “More” connects a language '
        "model."
    ),
)
_ERRANDS: Final = re.compile(
    r"(?:buy|pay|order|book|fetch|call|phone|ring|kaufe?|bezahle?|bestelle?|buche?|hole?)\b"
)
"""What the owner does, and may be reminded of where a time is said: `buy milk tomorrow`."""
_OTHERWISE: Final = tr_later("I do not understand that: I know prepared plans only.")
_SAME: Final = {"summarize": "summarise", "picture": "file", "document": "file", "email": "mail"}
_GENERAL_LIST: Final = """
check days did does find have how list many show since tell than that there this
what where
alle auf das dass dem den der die du eine einen einer ein finde fuer gut habe haben hat ich im ist
lass mach mein meine mit nach sein sind und viel viele von was welch wie zeig zeige zum zur
"""
_GENERAL: Final = frozenset(_GENERAL_LIST.split())
"""Stems that say nothing about what is wanted."""

_FOLDED: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_STEM: Final = 5  # characters in which words of one family agree


def asks_about_silas(text: str) -> bool:
    """Whether a message asks what Silas can do, and nothing else."""
    return _ABOUT.fullmatch(" ".join(re.findall(r"\w+", text.lower()))) is not None


def abilities(plans: Sequence[RunbookTemplate], workspace: str) -> str:
    """All that it can do, each with an example.

    Args:
        plans: The runbooks.
        workspace: The folder that is asked about; empty for none.
    """
    listed = [_offer_line(plan.shown_title, plan.example) for plan in plans]
    where = tr(" in {workspace}", workspace=workspace) if workspace else ""
    offer = tr("I can run these plans{where}:\n", where=where) + "\n".join(listed)
    at_once = "\n".join(_offer_line(tr(what), tr(example)) for what, example in AT_ONCE)
    parts = [
        tr(WHAT_I_AM),
        offer if plans else tr("The library is empty."),
        tr("At once, without a plan:") + "\n" + at_once,
        "\n".join(_clock_lines()),
        words_here(HOW_TO_CONFIGURE),
    ]
    return "\n\n".join(parts)


def _clock_lines() -> list[str]:
    lines = [_offer_line(tr(what), tr(example)) for what, example in BY_THE_CLOCK]
    return [tr("By the clock; what acts is shown to you first:"), *lines]


_NAMED: Final = re.compile(r"\b[\w-]+\.(?P<ending>txt|csv|json)\b")
_LIKE: Final = {"txt": ("txt", "md"), "csv": ("csv",), "json": ("json",)}
"""Endings of files that stand in for one of an example."""

_READS: Final = frozenset({"copy-file", "csv-to-json", "json-to-csv"})
"""Runbooks with effects that only read the file that is named first."""

_PICTURES: Final = tr_later("pictures")
_KINDS: Final = {
    "pdf": tr_later("pdfs"),
    "jpg": _PICTURES,
    "png": _PICTURES,
    "py": tr_later("python files"),
}


def _offer_line(what: str, example: str) -> str:
    """One ability and a request for it; a request is understood as it stands here."""
    return tr('- {what} (say: "{example}")', what=what, example=example)


def abilities_here(library: Library[Any], workspace: str, files: Sequence[str]) -> str:
    """All that it can do in a folder, each with an example of that folder where there is one.

    Args:
        library: The runbooks.
        workspace: The folder.
        files: Paths of files that lie there, the newest first.
    """
    python = any(one.endswith(".py") for one in files)
    fitting = (plan for plan in library.plans() if python or "python" not in plan.parameters)
    plans = [(plan, _example(library, plan, files)) for plan in fitting]
    looks = [_offer_line(plan.shown_title, said) for plan, said in plans if is_direct_look(plan)]
    acts = [_offer_line(plan.shown_title, said) for plan, said in plans if not is_direct_look(plan)]
    kinds = dict.fromkeys(_KINDS.get(one.rpartition(".")[2].lower(), "") for one in files)
    counts = [
        tr('- Count files of a kind (say: "how many {kind} are there")', kind=tr(kind))
        for kind in kinds
        if kind
    ]
    table = next((one for one in files if re.fullmatch(r"[\w./-]+\.csv", one)), None)
    rows = tr(
        '- Tell rows, figures and groups of a table (say: "how many rows are in {table}")',
        table=table,
    )
    computed = [_offer_line(tr(what), tr(example)) for what, example in AT_ONCE]
    return "\n".join(
        [
            tr(WHAT_I_AM),
            "",
            tr("At once, by looking into {workspace}:", workspace=workspace),
            *looks,
            *counts[:2],
            *([rows] if table else []),
            tr('- Find what a text says (say: "when does the lease end")'),
            tr('- Say what has changed (say: "which files changed today", or "git status")'),
            "",
            tr(
                "I can run these plans there, once you have seen and approved them. A file that an "
                "example changes is made up: put one of yours in its place."
            ),
            *acts,
            "",
            tr("At once, without the folder:"),
            *computed,
            "",
            *_clock_lines(),
            "",
            words_here(HOW_TO_CONFIGURE),
        ]
    )


def _example(library: Library[Any], plan: RunbookTemplate, files: Sequence[str]) -> str:
    """A request for a runbook, with files of the folder in it where it only reads them.

    What an example would change or make is no file of the folder: nobody loses one by trying it.
    """
    phrase, left = plan.example, list(files)
    reads = is_direct_look(plan) or plan.name in _READS

    def there(found: re.Match[str]) -> str:
        if not reads or (plan.name in _READS and len(left) < len(files)):
            return _free_name(found[0], found["ending"], files)
        fits = (one for one in left if one.rpartition(".")[2].lower() in _LIKE[found["ending"]])
        name = next((one for one in fits if re.fullmatch(r"[\w./-]+", one)), None)
        if name is None:
            return found[0]
        left.remove(name)
        return name

    said = _NAMED.sub(there, phrase)
    return said if library.find(said) == plan else phrase


def _free_name(name: str, ending: str, files: Sequence[str]) -> str:
    """A name like this one that no file of the folder has."""
    stem, free, number = name.removesuffix(f".{ending}"), name, 2
    while free in files:
        free, number = f"{stem}-{number}.{ending}", number + 1
    return free


def cannot(text: str, plans: Sequence[RunbookTemplate], otherwise: str = _OTHERWISE) -> str:
    """Two lines: what is missing for a request, and the nearest that can be done.

    Args:
        text: The request.
        plans: The runbooks.
        otherwise: What is missing where no word of the request tells it.
    """
    said = text.lower()
    why = next((why for words, why in _CANNOT if re.search(rf"\b(?:{words})\b", said)), otherwise)
    errand = _ERRANDS.match(said) is not None
    if errand or why == _OTHERWISE:
        from silas.agents.runbook.time_words import (  # noqa: PLC0415 - few turns load reminders
            ask_to_remind,
        )

        if how := ask_to_remind(text, frozenset() if errand else VERBS):
            return f"{tr(why)} {how}"
    near = None if why == _REMINDERS else nearest(text, plans)
    what = (
        tr(
            'The nearest I can do: {what}, e.g. "{example}". ',
            what=as_part(near[0][:1]) + near[0][1:],
            example=near[1],
        )
        if near
        else ""
    )
    return words_here(_NONE_CONFIGURED, why=tr(why), what=what)


def nearest(text: str, plans: Sequence[RunbookTemplate]) -> tuple[str, str] | None:
    """What it can do that shares most words with a request, and an example; None for no word.

    Of equals the first: a runbook, or what is computed where a request has a number in it.
    """
    wanted = _stems(text) - _GENERAL
    known = [
        (one.shown_title, " ".join((one.title, one.shown_title, *one.phrases)), one.example)
        for one in plans
    ]
    computed = [
        (tr(what), f"{what} {example} {tr(what)} {tr(example)}", tr(example))
        for what, example in AT_ONCE
    ]
    known = [*computed, *known] if re.search(r"\d", text) else [*known, *computed]
    best = max(known, key=lambda one: len(wanted & _stems(one[1])), default=None)
    if best is None or not wanted & _stems(best[1]):
        return None
    return best[0], best[2]


def _stems(text: str) -> frozenset[str]:
    folded = text.lower().translate(_FOLDED)  # words are of plain letters: else `lösche` is two
    return frozenset(_SAME.get(word, word)[:_STEM] for word in words_of(folded))
