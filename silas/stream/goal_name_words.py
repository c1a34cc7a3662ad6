"""Step 7 without a model: a goal that the owner names as a person does, by words of its title.

"Pause the pdf goal", "stop tidying my Downloads", "when do you move the pdfs?": none of it starts
work, so no card asks. Words that do not say "goal" count only where they fit one that there is.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from silas.audit import Audit
from silas.language import refusal_words, said_at, tr, tr_later
from silas.stream.owner_words import Answered, OwnerWords
from silas.stream.ports import GoalControls, LooksAhead
from silas.stream.state import Turn
from silas.stream.turn_modes import TurnModes

if TYPE_CHECKING:
    from silas.goals.goal_names import GoalName


class GoalWish(StrEnum):
    """What is asked of a goal."""

    pause = "pause"
    resume = "resume"
    runs = "runs"
    why = "why"


class GoalNaming(NamedTuple):
    """A message that names a goal by words.

    Attributes:
        wish: What is asked of it.
        words: How it is named.
        says_goal: Whether the message says that it is about a goal.
    """

    wish: GoalWish
    words: str
    says_goal: bool


PAUSED: Final = tr_later(
    "{goal} is paused: nothing of it begins until you resume it, on the page Ahead or with "
    "`silas goals resume` and words of its title."
)
STAYS_PAUSED: Final = tr_later(
    "Words only ever make it less, so {goal} stays as it is; “Resume” on the page Ahead, or "
    "`silas goals resume` with words of its title, has it run again."
)

_NAME: Final = r"[\"'“„«]?(?P<goal>[^\"'“”„«»]{1,200}?)[\"'”“»]?"
_THE: Final = r"(?:the |my |your |that |this )?"
_DAS: Final = r"(?:das |mein |dein |dieses )?"
_ENDS: Final = r"(?:pause|stop|end|cancel|delete|remove|halt|turn off|switch off|disable)"
_BEENDE: Final = r"(?:pausiere?|stopp?e?|beende|lösche?|entferne?|streiche?|halte?|brich|schalte?)"
_AWAY: Final = r"(?: (?:an|ab|aus))?"
_AGAIN: Final = r"(?:resume|unpause|continue|restart|turn on|switch on|enable)"
_NEXT: Final = r"(?: (?:next|again|run|due|next run|next due))*"
_STANDS: Final = r"(?:stop(?:ped)?|not run(?:ning)?|paused?|stand still|ask(?: me)?|do nothing)"
_SAYS_GOAL: Final = (
    (GoalWish.pause, rf"{_ENDS} {_THE}goal (?:called |named |about |to |of |for )?{_NAME}"),
    (GoalWish.pause, rf"{_ENDS} {_THE}{_NAME} goal"),
    (GoalWish.pause, rf"{_BEENDE} {_DAS}ziel {_NAME}{_AWAY}"),
    (GoalWish.resume, rf"{_AGAIN} {_THE}goal (?:called |named |about |to |of |for )?{_NAME}"),
    (GoalWish.resume, rf"{_AGAIN} {_THE}{_NAME} goal"),
    (GoalWish.resume, rf"setze? {_DAS}ziel {_NAME} fort"),
    (GoalWish.resume, rf"nimm {_DAS}ziel {_NAME} wieder auf"),
    (GoalWish.runs, rf"when (?:does|will|did|is) {_THE}goal {_NAME} (?:run|due|start){_NEXT}"),
    (GoalWish.runs, rf"when (?:does|will|did|is) {_THE}{_NAME} goal (?:run|due|start){_NEXT}"),
    (GoalWish.runs, rf"how often (?:has|did|does) {_THE}{_NAME} goal (?:been )?(?:run|ran)"),
    (GoalWish.runs, rf"(?:wann läuft|wann lief|wie oft lief) {_DAS}ziel {_NAME}(?: wieder)?"),
    (GoalWish.why, rf"how (?:is|does) {_THE}{_NAME} goal (?:doing|stand|going)"),
    (GoalWish.why, rf"how (?:is|does) {_THE}goal {_NAME} (?:doing|stand|going)"),
    (GoalWish.why, rf"why (?:did|does|is|has|was) {_THE}{_NAME} goal {_STANDS}"),
    (GoalWish.why, rf"wie steht es um {_DAS}ziel {_NAME}"),
)
_SAYS_WHAT_IT_DOES: Final = (
    (GoalWish.pause, r"(?:pause|stop|quit) (?P<goal>\w+ing\b[^\"“”„]{2,200}?)(?: any ?more)?"),
    (
        GoalWish.pause,
        r"(?:do not|don't|dont|never) (?P<goal>[^\"“”„]{4,200}?) (?:any ?more|any longer|again)",
    ),
    (GoalWish.pause, r"(?P<goal>\w{4,} [^\"“”„]{2,200}?) nicht (?:mehr|länger)(?: auf| ein| weg)?"),
    (GoalWish.pause, r"hör(?:e)? auf,? (?P<goal>[^\"“”„]{4,200}?)"),
    (GoalWish.runs, rf"when (?:do|will) you (?P<goal>[^\"“”„]{{4,200}}?){_NEXT}"),
    (GoalWish.runs, r"how often (?:do|did|have) you (?P<goal>[^\"“”„]{4,200}?)(?: so far)?"),
    (GoalWish.runs, r"wann (?P<goal>\w+st du [^\"“”„]{2,200}?)(?: wieder| das nächste mal)?"),
)


class GoalNameWords(OwnerWords[GoalNaming]):
    """Answers the owner's messages about a goal that is named by words of its title.

    Args:
        ahead: Tells which goal is meant, how it stands and when it runs.
        goals: What the clock checks.
        audit: Where the turn is recorded.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    reason = "goal_named"
    owners_only = tr_later(
        "Only Silas's owner can say that. Nothing was changed. A client pauses a goal by its id, "
        "with `pause_goal`."
    )

    def __init__(
        self,
        ahead: Callable[[], LooksAhead],
        goals: Callable[[], GoalControls],
        audit: Audit,
        modes: TurnModes,
        profile: str,
    ) -> None:
        super().__init__(audit, modes, profile)
        self._ahead = ahead
        self._goals = goals

    def _parse_request(self, text: str) -> GoalNaming | None:
        said = " ".join(text.split()).rstrip(".!?")
        for says_goal, forms in ((True, _SAYS_GOAL), (False, _SAYS_WHAT_IT_DOES)):
            for wish, form in forms:
                if found := re.fullmatch(form, said, re.IGNORECASE):
                    return GoalNaming(wish, found["goal"].strip(), says_goal)
        return None

    async def _answer_request(self, turn: Turn, asked: GoalNaming, *, owners: bool) -> bool:
        if not owners and not asked.says_goal:
            return False
        return await super()._answer_request(turn, asked, owners=owners)

    async def _do(self, turn: Turn, asked: GoalNaming) -> Answered | None:
        from silas.goals.goal_names import several_words  # noqa: PLC0415 - few messages are of goals

        found = await self._ahead().goals_named(asked.words)
        if len(found) == 1:
            return said_at(turn.door, await self._tell(asked.wish, found[0])), "answered"
        if not found and not asked.says_goal:
            return None
        words = (
            refusal_words(several_words(asked.words, found)) if found else _none_words(asked.words)
        )
        return said_at(turn.door, words), "answered"

    async def _tell(self, wish: GoalWish, goal: "GoalName") -> str:
        if wish is GoalWish.runs:
            return await self._ahead().runs(goal.id)
        if wish is GoalWish.why:
            return await self._ahead().why(goal.id)
        name = await self._ahead().goal_name(goal.id)
        if wish is GoalWish.resume:
            return tr(STAYS_PAUSED, goal=name)
        self._goals().pause(goal.id)
        return tr(PAUSED, goal=name)


def _none_words(words: str) -> str:
    return tr(
        "No goal that runs or is paused is called “{words}”. “Show my goals” lists them.",
        words=words,
    )
