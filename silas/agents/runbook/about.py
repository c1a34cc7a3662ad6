"""What the built-in model says of itself: what it can do, and what it cannot."""

import re
from collections.abc import Sequence
from typing import Any, Final

from silas.agents.runbook.folder_questions import at_once
from silas.agents.runbook.library import Library, RunbookTemplate
from silas.plans.runbooks.request import words_of

_ABOUT: Final = re.compile(
    r"(?:(?:silas )?(?:help|hilfe)(?: me)?(?: please)?"
    r"|(?:silas )?(?:what (?:can|do) you do|what are you able to do|who are you|what are you"
    r"|how (?:can|do) i (?:begin|start|use (?:you|silas))|what can i (?:ask|say|do)(?: you)?"
    r"|what do you know how to do|how can you help(?: me)?|show me what you can do"
    r"|was kannst du|wer bist du|was bist du)(?: for me| here| in this folder)?)"
)
HOW_TO_CONFIGURE: Final = (
    "To use a language model, set OPENROUTER_API_KEY, or name a model under `models:` in the "
    "configuration (any PydanticAI name, or an OpenAI-compatible `base_url` such as Ollama)."
)
WHAT_I_AM: Final = (
    "No language model is configured. I am Silas's built-in runbook model: I find and follow "
    "prepared plans, and I cannot answer free questions or write new plans."
)
AT_ONCE: Final = (
    ("calculate", "what is 17 % of 240"),
    ("count days, tell date and time", "how many days until christmas"),
    ("convert units", "5 miles in km"),
    ("remember", "remember that my passport lies in the blue drawer"),
    ("tell what I remember", "where is my passport"),
)
"""What needs no plan and no card: what it is, and an example."""

_FIRST: Final = r"\A(?:(?:please|pls|can you|could you|would you|silas),? )*"
"""What a verb begins with that says what is wanted: `add call mum to todo.md` asks for no call."""

_CANNOT: Final = (
    (
        r"resize|smaller|crop|rotate|png to|jpg to|jpeg to|into a pdf|to pdf|to html|play",
        "I work on texts, tables and names of files, and cannot change or play media.",
    ),
    (r"disk|drive|storage", "I see this folder alone, and not how full the disk is."),
    (
        r"commit|push|pull|branch|rebase",
        "I look at a git repository, and change nothing in it.",
    ),
    (
        r"(?<!['’]s )e-?mails?|mails?|inbox|message|sms|whatsapp|nachricht",
        "I have no mail account connected.",
    ),
    (
        r"weather|news|web|internet|online|google|website|flight|hotel|wetter|nachrichten",
        "I cannot look into the web.",
    ),
    (
        r"calendar|appointments?|meetings?|remind|reminder|alarm|timer|termin|kalender|wecker",
        "I keep no calendar.",
    ),
    (rf"{_FIRST}(?:call|phone|ring) \w+|anrufen", "I cannot make calls."),
    (
        r"ip address|wi-?fi|wlan|battery|bluetooth|printer|cpu|ram|ip-adresse|akku|drucker",
        "I see the files of this folder alone, and nothing else of this machine.",
    ),
    (r"translate|translation|übersetzen?", "I cannot translate."),
    (
        rf"{_FIRST}(?:write|compose|draft)|poem|essay|story|joke|explain|schreibe?|erkläre?",
        "I write no texts of my own.",
    ),
    (
        r"usd|eur|gbp|chf|jpy|dollars?|euros?|currency|exchange rate",
        "I know no exchange rates, because I cannot look into the web.",
    ),
    (
        r"delete|remove|erase|wipe|trash|lösche?|entferne?",
        "I delete one file at a time, by its name.",
    ),
    (
        r"merge|upload|download|install|send|buy|pay|order|book",
        "No prepared plan does that.",
    ),
)
"""Words of a request, and what is missing for it."""

_OTHERWISE: Final = "I do not understand that: I know prepared plans only."
_SAME: Final = {"summarize": "summarise", "picture": "file", "document": "file", "email": "mail"}
_GENERAL: Final = frozenset(
    {"find", "show", "list", "what", "where", "how", "many", "days", "tell"}
)
"""Stems that say nothing about what is wanted."""

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
    listed = [f'- {plan.title} (say: "{plan.phrases[0]}")' for plan in plans]
    where = f" in {workspace}" if workspace else ""
    offer = f"I can run these plans{where}:\n" + "\n".join(listed)
    at_once = "\n".join(f'- {what} (say: "{example}")' for what, example in AT_ONCE)
    return (
        f"{WHAT_I_AM}\n\n{offer if plans else 'The library is empty.'}\n\n"
        f"At once, without a plan:\n{at_once}\n\n{HOW_TO_CONFIGURE}"
    )


_NAMED: Final = re.compile(r"\b[\w-]+\.(?P<ending>txt|csv|json)\b")
_LIKE: Final = {"txt": ("txt", "md"), "csv": ("csv",), "json": ("json",)}
"""Endings of files that stand in for one of an example."""

_KINDS: Final = {"pdf": "pdfs", "jpg": "pictures", "png": "pictures", "py": "python files"}


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
    looks = [f'- {plan.title} (say: "{said}")' for plan, said in plans if at_once(plan)]
    acts = [f'- {plan.title} (say: "{said}")' for plan, said in plans if not at_once(plan)]
    kinds = dict.fromkeys(_KINDS.get(one.rpartition(".")[2].lower(), "") for one in files)
    counts = [
        f'- Count files of a kind (say: "how many {kind} are there")' for kind in kinds if kind
    ]
    table = next((one for one in files if re.fullmatch(r"[\w./-]+\.csv", one)), None)
    rows = f'- Tell rows, figures and groups of a table (say: "how many rows are in {table}")'
    computed = [f'- {what} (say: "{example}")' for what, example in AT_ONCE]
    return "\n".join(
        [
            WHAT_I_AM,
            "",
            f"At once, by looking into {workspace}:",
            *looks,
            *counts[:2],
            *([rows] if table else []),
            '- Find what a text says (say: "when does the lease end")',
            '- Say what has changed (say: "which files changed today", or "git status")',
            "",
            "I can run these plans there, once you have seen and approved them:",
            *acts,
            "",
            "At once, without the folder:",
            *computed,
            "",
            HOW_TO_CONFIGURE,
        ]
    )


def _example(library: Library[Any], plan: RunbookTemplate, files: Sequence[str]) -> str:
    """A request for a runbook, with files of the folder in it where such are there."""
    phrase, left = plan.phrases[0], list(files)

    def there(found: re.Match[str]) -> str:
        fits = (one for one in left if one.rpartition(".")[2].lower() in _LIKE[found["ending"]])
        name = next((one for one in fits if re.fullmatch(r"[\w./-]+", one)), None)
        if name is None:
            return found[0]
        left.remove(name)
        return name

    said = _NAMED.sub(there, phrase)
    return said if library.find(said) == plan else phrase


def cannot(text: str, plans: Sequence[RunbookTemplate], otherwise: str = _OTHERWISE) -> str:
    """Two lines: what is missing for a request, and the nearest that can be done.

    Args:
        text: The request.
        plans: The runbooks.
        otherwise: What is missing where no word of the request tells it.
    """
    said = text.lower()
    why = next((why for words, why in _CANNOT if re.search(rf"\b(?:{words})\b", said)), otherwise)
    near = nearest(text, plans)
    what = (
        f'The nearest I can do: {near[0][:1].lower()}{near[0][1:]}, e.g. "{near[1]}". '
        if near
        else ""
    )
    return (
        f"{why} No language model is configured.\n"
        f'{what}Say "help" for all that I can do; `silas setup` connects a language model.'
    )


def nearest(text: str, plans: Sequence[RunbookTemplate]) -> tuple[str, str] | None:
    """What it can do that shares most words with a request, and an example; None for no word.

    Of equals the first: a runbook, or what is computed where a request has a number in it.
    """
    wanted = _stems(text) - _GENERAL
    known = [(plan.title, " ".join((plan.title, *plan.phrases)), plan.phrases[0]) for plan in plans]
    computed = [(what, f"{what} {example}", example) for what, example in AT_ONCE]
    known = [*computed, *known] if re.search(r"\d", text) else [*known, *computed]
    best = max(known, key=lambda one: len(wanted & _stems(one[1])), default=None)
    if best is None or not wanted & _stems(best[1]):
        return None
    return best[0], best[2]


def _stems(text: str) -> frozenset[str]:
    return frozenset(_SAME.get(word, word)[:_STEM] for word in words_of(text))
