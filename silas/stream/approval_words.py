"""Step 7 without a model: the owner's words about what Silas may do without asking.

They ask how it stands, or make it less, so no card asks; whoever else says them changes nothing.
"""

import re
from collections.abc import Callable
from typing import Final

from silas.audit import Audit
from silas.language import said_at, tr, tr_later
from silas.stream.goal_name_words import PAUSED, STAYS_PAUSED
from silas.stream.owner_words import Answered, OwnerWords
from silas.stream.ports import GoalControls, LooksAhead
from silas.stream.state import Turn
from silas.stream.turn_modes import TurnModes
from silas.work.authority.narrowing import ApprovalNarrowing

_APPROVAL: Final = r"(?:approval|freigabe|erlaubnis|genehmigung)"
_NAME: Final = r"[\"'“„«]?(?P<goal>[^\"'“”„«»]{1,200}?)[\"'”“»]?"
_OF: Final = (
    rf"(?:the |my |die |meine )?{_APPROVAL} (?:of|for|von|für) (?:(?:the |my |das |mein )?"
    rf"(?:goal|ziel) )?{_NAME}"
)

_NARROW: Final = (
    re.compile(rf"(?:narrow|limit|cut|reduce) {_OF} to (?P<uses>\d+)(?: uses?| times?)?"),
    re.compile(
        rf"(?:begrenze|beschränke|verkleinere|kürze|schränke) {_OF} auf (?P<uses>\d+)(?: ?mal)?"
        r"(?: ein)?"
    ),
)
_TAKE_BACK: Final = (
    re.compile(rf"(?:take back|revoke|withdraw) {_OF}"),
    re.compile(rf"(?:nimm|ziehe?) {_OF} zurück"),
    re.compile(rf"widerrufe? {_OF}"),
)
_ID: Final = r"(?P<goal>[A-Za-z0-9_.\-]+)"
_GOAL: Final = rf"(?:(?:the |my )?goal |(?=goal-)){_ID}"
_ZIEL: Final = rf"(?:(?:das |mein )?ziel |(?=goal-)){_ID}"
_PAUSE: Final = (re.compile(rf"pause {_GOAL}"), re.compile(rf"pausiere? {_ZIEL}"))
_RESUME: Final = (
    re.compile(rf"(?:resume|unpause) {_GOAL}"),
    re.compile(rf"setze? {_ZIEL} fort"),
    re.compile(rf"nimm {_ZIEL} wieder auf"),
)
_TIGHTEN: Final = (
    re.compile(r"tighten (?:all |my |the |all my )?approvals"),
    re.compile(r"verschärfe (?:alle |meine |die )?freigaben|(?:alle )?freigaben verschärfen"),
)
_ALONE: Final = (
    re.compile(
        r"what (?:may|can|do|will) (?:you|silas) do (?:on your own|by yourself|by itself|alone|"
        r"without asking(?: me)?)"
    ),
    re.compile(
        r"was (?:darfst|kannst|machst|tust) du (?:von selbst|von allein|allein|alleine|"
        r"ohne (?:mich )?zu fragen)(?: tun| machen)?"
    ),
    re.compile(
        r"was darf (?:silas )?(?:ohne (?:mich )?zu fragen|von selbst)(?: tun| machen| laufen)?"
    ),
    re.compile(
        r"(?:show|list|tell)(?: me)? (?:my|all|all my|the) goals|(?:what|which)(?: are my goals| "
        r"goals (?:do i have|are there))|(?:zeige?|liste|nenne?)(?: mir)? (?:meine|alle|die) "
        r"ziele(?: auf)?|welche ziele (?:habe ich|gibt es)|was sind meine ziele"
    ),
)
_SO_FAR: Final = r"(?: (?:so far|already|yet|until now|altogether|schon|bisher|insgesamt))?"
_NEXT: Final = r"(?: (?:das nächste mal|als nächstes|wieder|zuletzt))?"
_RUNS: Final = (
    re.compile(
        rf"(?:how often|how many times) (?:has|did|does) {_GOAL} (?:been )?(?:run|ran|started)"
        rf"{_SO_FAR}"
    ),
    re.compile(
        rf"when (?:does|will|is|did) {_GOAL} (?:run|due|last run|run last)(?: next| again)?"
    ),
    re.compile(rf"wie oft (?:ist|lief) {_ZIEL}{_SO_FAR}(?: gelaufen)?"),
    re.compile(rf"wann (?:läuft|lief) {_ZIEL}{_NEXT}"),
)
_RUNS_IT: Final = (
    re.compile(
        rf"(?:how often|how many times) (?:has|did|does) (?:it|my goal|the goal) (?:run|ran)"
        rf"{_SO_FAR}"
    ),
    re.compile(r"when (?:does|will) (?:it|my goal|the goal) run(?: next| again)?"),
    re.compile(rf"wie oft (?:ist|lief) (?:es|(?:das|mein) ziel){_SO_FAR}(?: gelaufen)?"),
    re.compile(rf"wann läuft (?:es|(?:das|mein) ziel){_NEXT}"),
)
"""Of the one goal that there is; where there are more, or none, a model knows what is meant."""
_STOPS: Final = r"(?:stop|stopped|stand still|pause|paused|do nothing|not run|wait|ask)"
_WHY: Final = (
    re.compile(rf"why (?:did|does|is|has|was) {_GOAL} (?:been )?{_STOPS}(?: now| me)?"),
    re.compile(rf"how does {_GOAL} stand"),
    re.compile(
        rf"warum (?:ist|hat|wurde|macht|tut|läuft|fragt|steht) {_ZIEL} (?:stehen ?geblieben|"
        r"angehalten|pausiert|gestoppt|aufgehört|nichts|nicht(?: mehr)?|jedes ?mal|still)"
    ),
    re.compile(rf"wie steht es um {_ZIEL}"),
)


class ApprovalWords(OwnerWords[str]):
    """Answers the owner's own messages that ask what may run without asking, how a goal stands and
    how often it ran, take approvals back, narrow or tighten them, or pause a goal.

    Args:
        ahead: Tells what may run without asking.
        narrowing: Makes approvals smaller.
        goals: What the clock checks.
        audit: Where the turn is recorded.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    reason = "approvals"
    owners_only = tr_later(
        "Only Silas's owner can say that: `silas approvals` narrows, tightens and takes back, "
        "`silas goals` pauses and resumes, and so does the cockpit. Nothing was changed. What a "
        "client may do, it does with `pause_goal` and `tighten_approvals`."
    )

    def __init__(
        self,
        ahead: Callable[[], LooksAhead],
        narrowing: Callable[[], ApprovalNarrowing],
        goals: Callable[[], GoalControls],
        audit: Audit,
        modes: TurnModes,
        profile: str,
    ) -> None:
        super().__init__(audit, modes, profile)
        self._ahead = ahead
        self._narrowing = narrowing
        self._goals = goals

    def _parse_request(self, text: str) -> str | None:
        said = " ".join(text.split()).rstrip(".!?")
        every = (
            *_NARROW,
            *_TAKE_BACK,
            *_PAUSE,
            *_RESUME,
            *_TIGHTEN,
            *_ALONE,
            *_WHY,
            *_RUNS,
            *_RUNS_IT,
        )
        return said if any(one.fullmatch(said.lower()) for one in every) else None

    async def _do(self, turn: Turn, asked: str) -> Answered | None:
        if _first(_RUNS_IT, asked):
            only = self._goals().only_goal()
            return (await self._ahead().runs(only), "answered") if only else None
        words = await self._describe_approval(asked) or await self._apply_goal_command(asked)
        return said_at(turn.door, words), "answered"

    async def _describe_approval(self, said: str) -> str:
        """How it stands; empty where the words ask for something to be done."""
        if _first(_ALONE, said):
            return await self._ahead().alone_words()
        if found := _first(_RUNS, said):
            return await self._ahead().runs(await self._goal_id(found["goal"]))
        found = _first(_WHY, said)
        return await self._ahead().why(await self._goal_id(found["goal"])) if found else ""

    async def _apply_goal_command(self, said: str) -> str:
        service = self._narrowing()
        if found := _first(_NARROW, said):
            goal_id = await self._goal_id(found["goal"])
            return (await service.narrow(goal_id, int(found["uses"][:9]), None)).words
        if found := _first(_TAKE_BACK, said):
            goal_id = await self._goal_id(found["goal"])
            await service.take_back(goal_id)
            name = await self._ahead().goal_name(goal_id)
            return tr("Taken back: nothing more of {goal} begins without asking you.", goal=name)
        if found := _first(_PAUSE, said):
            goal = self._goals().pause(await self._goal_id(found["goal"]))
            return tr(PAUSED, goal=await self._ahead().goal_name(goal.id))
        if found := _first(_RESUME, said):
            goal_id = await self._goal_id(found["goal"])
            return tr(STAYS_PAUSED, goal=await self._ahead().goal_name(goal_id))
        return service.tighten().words

    async def _goal_id(self, which: str) -> str:
        """The id of the goal that is meant; what was said where that is none.

        Raises:
            GoalRefused: Several are.
        """
        from silas.goals.goal_names import the_one  # noqa: PLC0415 - few messages are of goals

        one = the_one(which, await self._ahead().goals_named(which))
        return one.id if one else which


def _first(patterns: tuple[re.Pattern[str], ...], said: str) -> re.Match[str] | None:
    """The match in the words as they were said: ids keep their case."""
    found = (re.compile(one.pattern, re.IGNORECASE).fullmatch(said) for one in patterns)
    return next((one for one in found if one is not None), None)
