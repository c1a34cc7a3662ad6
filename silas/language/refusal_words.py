"""Refusals with values in them, told in the owner's language (spec 0.5, 8.2).

An error keeps its English, which terminals, records and programs read.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from silas.language.calendar import retold_wall
from silas.language.catalogue import ENGLISH, spoken_language, tr, tr_later
from silas.language.config_refusals import (
    CONFIG_FAULTS,
    CONFIG_ORIGINS,
    CONFIG_PLACES,
    CONFIG_REFUSALS,
)
from silas.language.file_faults import FILE_REFUSALS, YAML_FAULTS
from silas.language.foreign_faults import BUNDLE_FAULTS, FOREIGN_FAULTS
from silas.language.model_faults import MODEL_FAULTS, MODEL_NAMES
from silas.language.plan_faults import PLACES, PLACES_IN_FILES, PLAN_FAULTS
from silas.language.plan_refusals import PLAN_REFUSALS
from silas.language.retranslation import retranslate
from silas.language.server_reasons import SERVER_REASONS
from silas.language.setting_faults import SETTING_FAULTS, WORKER_FAULTS, WORKER_FILES, WORKERS_NAMED

WITH_VALUES: Final = (
    *CONFIG_PLACES,
    tr_later("{wall} is past; say a time to come."),
    tr_later("{wall} is more than 50 years away; say an earlier date."),
    tr_later("It failed {failing} times in a row."),
    tr_later(
        "Silas cannot tell when “{words}” is; say it as “every second Friday” or “on the 5th of "
        "every month”."
    ),
    tr_later("The reminder “{text}” was told or cancelled meanwhile."),
    tr_later("{name} is {state} already."),
    tr_later("{name} is {state}; `silas goals resume {again}` first."),
    tr_later("The moment of {name} is past; give it a later `schedule`."),
    tr_later("{name} has no standing approval in force ({why}); nothing was changed."),
    tr_later("{why} `silas approvals revoke {name}` takes all of it back."),
    tr_later("It has {left} uses left, and narrowing adds none."),
    tr_later("It ends on {wall} ({zone}), and narrowing puts no end off."),
    tr_later("The approval was signed with a key that was replaced on {wall} ({zone}); ask again."),
    tr_later(
        "Of {samples} decisions about {kind} you corrected {corrections}; Silas could ask less."
    ),
    tr_later(
        "Of {samples} decisions about {kind} you corrected {corrections}; Silas could ask more."
    ),
    tr_later("the last {samples} decisions within {days} days"),
    tr_later("Silas is stopped since {wall} ({zone}); `silas resume` starts it again."),
    tr_later(
        "{path} cannot be tidied: {why}; give yourself the right to it, or name another folder."
    ),
    tr_later("There is no batch {which}; `silas batch list` has the ids."),
    tr_later("There is more than one batch {which}; `silas batch list` has the ids."),
    tr_later("{path} cannot be opened any more ({why}); nothing was moved."),
    tr_later("The task {name} was not undone, nor what came before it: {why}"),
    tr_later("Nothing was stored: {why}"),
    tr_later(
        "This pairing link was used already, by {device}; “Devices” under “More” on a paired "
        "browser makes a fresh one, and ends that pairing if it was not you. In a terminal: `silas "
        "devices link` and `silas devices revoke {name}`."
    ),
    tr_later("The runbook {path} cannot be used: {wrong}."),
    tr_later(
        "Nothing was undone: {named}. Move your own version aside and put back what the work left "
        "there; then undo again."
    ),
    tr_later("The changes could not be written ({why}); the directory is as before."),
    tr_later("{first} That it failed could not be recorded: {why}"),
    tr_later("It is done, and that could not be recorded: {why}"),
    *PLAN_REFUSALS,
)
"""Those made elsewhere than in a `raise`, or with a value that is told, too; the first that fits.
What a `raise` says as it stands is found by `make words` and listed in `refusals.json`.
"""

_STATES: Final = (tr_later("active"), tr_later("paused"), tr_later("ended"))
"""Of goals."""

_KINDS: Final = (tr_later("goal"), tr_later("project"))
"""Of plans that no project takes for a task."""


def refusal_words(message: str) -> str:
    """An error's sentence in the owner's language."""
    if spoken_language() == ENGLISH:
        return message
    told = tr(message)
    return told if told != message else retranslate(message, _sentences(), _VALUES)


@cache
def _sentences() -> Sequence[str]:
    """Read where the first refusal is told in another language; English needs none of them."""
    file = Path(__file__).with_name("refusals.json")
    raised = json.loads(file.read_text(encoding="utf-8"))
    places = *PLACES, *WORKERS_NAMED, *WITH_VALUES, *SERVER_REASONS, *PLACES_IN_FILES
    others = *FILE_REFUSALS, *BUNDLE_FAULTS, *WORKER_FILES, *MODEL_FAULTS
    return *places, *raised, *others, *CONFIG_REFUSALS, *FOREIGN_FAULTS


def _plan_fault(words: str) -> str:
    told = tr(words)
    return told if told != words else retranslate(words, (*WORKER_FAULTS, *_PLAN_OR_VALUE), _VALUES)


_PLAN_OR_VALUE: Final = (*PLAN_FAULTS, *CONFIG_FAULTS)


def _misfit(words: str) -> str:
    return retranslate(words, (*CONFIG_FAULTS, *SETTING_FAULTS), _VALUES)


def _yaml(words: str) -> str:
    return retranslate(words, YAML_FAULTS)


def _origin(words: str) -> str:
    return retranslate(words, CONFIG_ORIGINS)


def _model(words: str) -> str:
    return retranslate(words, MODEL_NAMES)


_VALUES: Final[Mapping[str, Callable[[str], str]]] = {
    "wall": retold_wall,
    "model": _model,
    "state": tr,
    "first": refusal_words,
    "why": refusal_words,
    "wrong": _plan_fault,
    "reason": refusal_words,
    "fault": refusal_words,
    "error": refusal_words,
    "message": refusal_words,
    "kind": tr,
    "misfit": _misfit,
    "origin": _origin,
    "place": refusal_words,
    "remedy": tr,
    "yaml": _yaml,
    "strerror": tr,
    "of_machine": tr,
    "other": tr,
    "foreign": tr,
}
"""Values of those that are words of Silas's own, too."""
