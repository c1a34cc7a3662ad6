"""What proxy and planner are told: the conversation in turns, the rest in blocks (3.5, D427)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from silas.context import (
    NOTHING,
    ConversationSide,
    RenderedContext,
    flatten_line,
    frame,
    frame_text,
    scrub,
    scrub_output,
    visible_text,
)
from silas.skills import SkillText
from silas.types import Origin, OriginKind, TaintLevel

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@cache
def load_prompt(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    return files("silas.agents").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def instructions(role: str, own: str = "") -> str:
    """What a role is told before anything else: the constitution, its prompt, a worker's own."""
    told = (load_prompt("constitution"), load_prompt(role), own)
    return "\n\n".join(filter(None, told))


class TurnPrompt(NamedTuple):
    """One turn as it is asked.

    Attributes:
        earlier: The conversation before it, the user's side first and Silas's last.
        text: The turn itself.
    """

    earlier: tuple[ConversationSide, ...]
    text: str


class EarlierLook(NamedTuple):
    """A call of the same turn that was answered before the planner is asked.

    Attributes:
        call: Tool and arguments, in one line.
        block: The answer as whoever called was shown it: framed, and marked where it is another's.
    """

    call: str
    block: str


class PlanningBrief(NamedTuple):
    """What the planner is told beyond what the proxy was.

    Attributes:
        reason: Why the proxy routed the turn to the planner.
        continuation_of: The work item that is deepened or corrected.
        interaction_mode: The mode that was resolved for the turn.
        skill_texts: What the skills of the work say that the turn goes on from.
        looked: What was looked up in the turn before it is asked, the oldest first.
        former_plan: The framed plan of what the turn goes on from, where that is one line in view.
    """

    reason: str = ""
    continuation_of: str = ""
    interaction_mode: str = ""
    skill_texts: tuple[SkillText, ...] = ()
    looked: "tuple[EarlierLook, ...]" = ()
    former_plan: str = ""


class ReturnedPlan(NamedTuple):
    """What goes back to the planner.

    Attributes:
        text: The plan, or the words, as the planner wrote them; empty for none.
        mistakes: All that is wrong with it, one sentence each, in Silas's words.
        owed: What goes back are words where work is wanted: a plan or a question is to come.
    """

    text: str = ""
    mistakes: tuple[str, ...] = ()
    owed: bool = False


class FailedPlan(NamedTuple):
    """The plan that another one is asked for.

    Attributes:
        markdown: As its planner wrote it; empty for none.
        failures: Why its work ended without success, with what that printed and reported:
            anybody's words.
    """

    markdown: str = ""
    failures: str = ""


_NO_BRIEF = PlanningBrief()
_NOTHING_RETURNED = ReturnedPlan()
_NOTHING_FAILED = FailedPlan()


@dataclass(frozen=True)
class TurnRequest:
    """Everything proxy and planner are told about one turn.

    Attributes:
        text: What was said.
        now: The moment of the turn, in the owner's time zone.
        taint: Where the text came from.
        profiles: Names of the context profiles to choose from, the default first.
        workspace: The directory the turn is about, empty for none.
        facts: Further facts of the surroundings by name, such as `interpreter`.
        context: What the context manager rendered; the kinds of its blocks are not those of
            this request, and nothing in it can pass for framing.
        skills: Name and description of each skill on offer.
        access_level: Whose turn it is.
        brief: What the planner is told besides.
        returned: What goes back to the planner.
        failed: The planner's plan whose work ended without success.
    """

    text: str
    now: datetime
    taint: TaintLevel = TaintLevel.external
    profiles: tuple[str, ...] = ("conversation",)
    workspace: str = ""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    context: RenderedContext = NOTHING
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    access_level: str = "public"
    brief: PlanningBrief = _NO_BRIEF
    returned: ReturnedPlan = _NOTHING_RETURNED
    failed: FailedPlan = _NOTHING_FAILED

    def render(self) -> "TurnPrompt":
        """What is asked: what changes least comes first, so that providers can reuse the prefix."""
        turn = {
            "workspace": self.workspace,
            **self.facts,
            "continuation_of": self.brief.continuation_of,
            "interaction_mode": self.brief.interaction_mode,
            "route_reason": self.brief.reason,
            "now": self.now.isoformat(timespec="seconds"),
            "today": f"{_DAYS[self.now.weekday()]} in {self.now.tzinfo}",
        }
        lasting = _together(
            _lasting("skills", _pairs(self.skills)),
            _lasting("access_level", self.access_level),
            self.context.lasting,
        )
        changing = (_block("facts", _pairs(turn)), self._message())
        after = (*self._looked_up(), *self._failed_plan_blocks(), *self._sent_back())
        before = (self.brief.former_plan, *skill_blocks(self.brief.skill_texts))
        present = (self.context.present, *before, *changing, *after)
        return _in_turns(lasting, self.context.said, _together(*present))

    def with_plan_tools(self, tools: str) -> "TurnRequest":
        """The same with tools of others that a plan can call, told in words of theirs.

        Args:
            tools: Their names and what they say that they do; empty for none.
        """
        if not tools:
            return self
        origin = Origin(kind=OriginKind.tool)
        block = frame_text(scrub(tools), origin, "tools that a plan can call")
        present = _together(self.context.present, block)
        return replace(self, context=self.context._replace(present=present))

    def _looked_up(self) -> tuple[str, ...]:
        """What need not be looked up again; all before it is what the first request said."""
        looked = self.brief.looked
        if not looked:
            return ()
        calls = "\n".join(f"- {flatten_line(visible_text(one.call))}" for one in looked)
        return frame("looked_up", f"{_LOOKED}\n{calls}"), *(one.block for one in looked)

    def _failed_plan_blocks(self) -> tuple[str, ...]:
        """The plan that another one is asked for, and what became of it."""
        if not self.failed.markdown:
            return ()
        found = frame_text(scrub_output(self.failed.failures), _WORK, "failures")
        return (
            _block("failed_plan", visible_text(self.failed.markdown)),
            found,
            frame("task", _REPLACE),
        )

    def _sent_back(self) -> tuple[str, ...]:
        """The plan and its mistakes, last: all before it is what the first request said."""
        if not self.returned.mistakes:
            return ()
        listed = "\n".join(
            f"- {flatten_line(visible_text(mistake))}" for mistake in self.returned.mistakes
        )
        return _block("returned_plan", visible_text(self.returned.text)), frame(
            "mistakes", f"{_CORRECT}\n{listed}"
        )

    def _message(self) -> str:
        if self.taint is TaintLevel.external:
            return frame_text(scrub(self.text), Origin(kind=OriginKind.message))
        return frame("message", visible_text(self.text), taint=self.taint.value)


def _together(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


_LEFT_OUT = "(What was said before is left out.)"


def _in_turns(lasting: str, said: Sequence[ConversationSide], present: str) -> TurnPrompt:
    """Sides that alternate, the user's first and last: servers refuse anything else."""
    if not said:
        return TurnPrompt((), _together(lasting, present))
    first, *rest = said
    if first.side == "user":
        first = ConversationSide("user", _together(lasting, first.text))
    else:
        rest, first = [first, *rest], ConversationSide("user", lasting or _LEFT_OUT)
    *earlier, last = first, *rest
    if last.side == "user":
        return TurnPrompt(tuple(earlier), _together(last.text, present))
    return TurnPrompt((*earlier, last), present)


_LOOKED = "These calls were answered in this turn, as shown below; look up only what is missing:"

_CORRECT = (
    "Silas read the plan above before showing it to the owner, and it cannot be used. Answer "
    "again in the same form, with the whole plan corrected in every point, or say what stands in "
    "the way:"
)


_WORK = Origin(kind=OriginKind.tool, name="work")
_REPLACE = (
    "The owner approved the plan above, and its work ended without success; nothing of it was "
    "applied. Propose another plan for the same request, whole and with another id (`revise`); say "
    "in `message`, in one or two sentences, what was wrong with the first and what is different. "
    "Never weaken a check to make it pass. Where no plan can do it, `answer` why."
)


def skill_blocks(skills: Sequence[SkillText]) -> list[str]:
    """What skills say, each in a block of its own; they advise and grant nothing."""
    return [frame("skill", visible_text(skill.text), name=skill.name) for skill in skills]


@lru_cache(maxsize=64)
def _lasting(kind: str, text: str) -> str:
    """A block that is the same in turn after turn."""
    return _block(kind, text)


def _block(kind: str, text: str) -> str:
    return frame(kind, visible_text(text)) if text else ""


def _pairs(values: Mapping[str, str]) -> str:
    return "\n".join(f"{flatten_line(k)}: {flatten_line(v)}" for k, v in values.items() if v)


def read_pairs(text: str) -> dict[str, str]:
    """The `name: value` lines of a framed section."""
    return dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)
