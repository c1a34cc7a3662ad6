"""What the built-in model says to what needs no work: courtesies, `undo that`, `forget that`."""

import re
from collections.abc import Sequence
from typing import Final

from silas.agents.models import AgentResponse
from silas.agents.runbook import last_failure, undo_and_stop
from silas.agents.runbook.door_words import DoorWords, words_here
from silas.agents.runbook.everyday import about_itself
from silas.context import FramedSection
from silas.language import tr_later

_END: Final = r"(?: (?:silas|there|you|dir|euch|alle|zusammen))?"
_HELLO: Final = DoorWords(
    tr_later(
        "Hello. I am Silas, without a language model: I answer questions about this folder, "
        "calculate, remember, and do prepared work once you have said yes.\n"
        'Say "help" for examples of this folder; “Who answers” under “More” in the cockpit, or '
        "`silas setup`, connects a language model."
    ),
    tr_later(
        "Hello. I am Silas, without a language model: I answer questions about this folder, "
        "calculate, remember, and do prepared work once you have said yes.\n"
        'Say "help" for examples of this folder; “Who answers” under “More” connects a language '
        "model."
    ),
)
_FORGET: Final = DoorWords(
    tr_later(
        "I forget nothing by words alone. “Memory” under “More” in the cockpit, or `silas memory "
        "search WORDS`, finds a memory; there you can forget it, and `silas memory forget SOURCE` "
        "forgets it with all that was made of it."
    ),
    tr_later(
        "I forget nothing by words alone. “Memory” under “More” finds a memory; there you can "
        "forget it with all that was made of it."
    ),
)
_NOTHING_BEGUN: Final = DoorWords(
    tr_later(
        "All right: I begin nothing. What you approved before goes on; `silas status` shows what "
        "runs, `silas ahead` what is to come."
    ),
    tr_later(
        "All right: I begin nothing. What you approved before goes on; “Work” under “More” shows "
        "what runs, “Ahead” what is to come."
    ),
)
_NO_YES: Final = DoorWords(
    tr_later(
        "A word approves nothing: a plan is approved on its card. `silas approvals list` shows "
        "what waits for your yes."
    ),
    tr_later(
        "A word approves nothing: a plan is approved on its card. “Work” under “More” shows "
        "what waits for your yes."
    ),
)
_COMING: Final = DoorWords(
    tr_later("“Ahead” under “More” in the cockpit, or `silas ahead`, shows what is to come."),
    tr_later("“Ahead” under “More” shows what is to come."),
)

_NO_GOAL: Final = DoorWords(
    tr_later(
        "Nothing runs by itself: there is no goal. Say when, and I propose one, such as “back up "
        "this folder every evening”; `silas goals list` shows how each one runs."
    ),
    tr_later(
        "Nothing runs by itself: there is no goal. Say when, and I propose one, such as “back up "
        "this folder every evening”; “Ahead” under “More” shows what is to come."
    ),
)
_WHICH_GOAL: Final = DoorWords(
    tr_later(
        "There are several goals: say “how often has goal-… run?” with the id of one. `silas goals "
        "list` shows them."
    ),
    tr_later(
        "There are several goals: say “how often has goal-… run?” with the id of one. “Ahead” "
        "under “More” shows them."
    ),
)
_IT: Final = r"(?:it|that|this|my goal|the goal|es|das|das ziel|mein ziel)"
_RAN: Final = re.compile(
    rf"(?:how often|how many times) (?:has|did|does) {_IT} (?:already )?(?:run|ran)(?: so far)?"
    rf"|when (?:does|will|did) {_IT} (?:last )?run(?: next| again| last)?"
    rf"|wie oft (?:ist|lief) {_IT}(?: schon| bisher)?(?: gelaufen)?"
    rf"|wann (?:läuft|lief) {_IT}(?: das nächste mal| als nächstes| wieder| zuletzt)?"
)


def _everywhere(words: str) -> DoorWords:
    return DoorWords(words, words)


_AH: Final = "(?:ah|ach|oh|ok|okay|na|hm)"
_SAID: Final = tuple(
    (re.compile(form), said)
    for form, said in (
        (
            r"(?:hello|hi|hey|hallo|servus|moin|grüß gott|good (?:morning|day|afternoon|evening)"
            rf"|guten (?:morgen|tag|abend)){_END}|are you (?:there|awake)|bist du da",
            _HELLO,
        ),
        (
            r"(?:thanks|thank you|thx|cheers|danke|dankeschön|vielen dank|danke schön)"
            r"(?: (?:a lot|so much|very much|sehr|dir|euch|silas))?",
            _everywhere(tr_later("You are welcome.")),
        ),
        (
            r"(?:hi |hello |hey )?(?:how are you(?: doing)?(?: today)?|how is it going"
            r"|wie geht es dir|wie geht s)",
            _everywhere(tr_later("I am a program, and I run as I should. What shall I do?")),
        ),
        (
            r"(?:bye|goodbye|good bye|see you|good night|tschüss|auf wiedersehen|gute nacht)"
            r"(?: silas)?",
            _everywhere(tr_later("Goodbye.")),
        ),
        (
            r"what (?:s|is) (?:on|coming up|ahead|planned|due)"
            r"(?: (?:for )?(?:today|tomorrow|this week))?"
            r"|was (?:steht|kommt|ist)(?: (?:heute|morgen|diese woche|als nächstes|demnächst))?"
            r" (?:an|bevor|geplant|fällig)|was kommt(?: (?:heute|morgen|als nächstes))?",
            _COMING,
        ),
        (
            rf"(?:{_AH} )*(?:never ?mind|no|nope|no thanks|no thank you|not now|not any ?more"
            r"|no longer|leave it|don t bother|don t|nein|nein danke|nö|nicht mehr|jetzt nicht"
            r"|doch nicht|nicht jetzt|lass es|lass das|lass mal|lass gut sein|lass es gut sein"
            r"|egal|ist egal|schon gut|vergiss es|vergiss s|nicht nötig)(?: (?:then|danke|silas))?",
            _NOTHING_BEGUN,
        ),
        (
            r"(?:yes|yep|yes please|sure|klar|ja|ja bitte|ja gerne|ok|okay|go ahead|einverstanden)",
            _NO_YES,
        ),
        (
            r"(?:please |bitte )?(?:forget|vergiss) (?!nicht\b)(?:about )?"
            r"(?:it|that|this|everything|all of it|das|alles|(?:that|dass|daß) (?!and\b|und\b).+|"
            r"(?:my|our|the|mein|meine|meinen|unsere?|den|die) .+)",
            _FORGET,
        ),
    )
)
_UNANSWERED: Final = frozenset({_FORGET, _NO_YES})


def answer(text: str, shown: Sequence[FramedSection]) -> AgentResponse | None:
    """What is said to a courtesy, or how to undo, to stop or to forget; None for anything else.

    Args:
        text: The message.
        shown: What stands in view, the oldest first.
    """
    how = (
        undo_and_stop.answer(text, shown)
        or last_failure.answer(text, shown)
        or about_itself.answer(text)
    )
    if how is not None:
        return how
    plain = " ".join(re.findall(r"\w+", text.lower()))
    if _RAN.fullmatch(plain):
        goals = any(one.kind == "goals" for one in shown)
        return AgentResponse(message=words_here(_WHICH_GOAL if goals else _NO_GOAL))
    said = next((said for form, said in _SAID if form.fullmatch(plain)), None)
    return (
        None
        if said is None
        else AgentResponse(message=words_here(said), understood=said not in _UNANSWERED)
    )
