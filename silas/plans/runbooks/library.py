"""The plan library: runbooks that are found by what was asked, then filled in.

A library file is a plan in markdown with one more block in its front matter, `runbook:`, that has
`phrases` (what a request sounds like) and `parameters` (a mapping from name to `Parameter`). With
`sentences` it is found by those alone, and its phrases are examples of them.
`$workspace` then stands for the value anywhere in the plan. Values are inserted into parsed
scalars, and the front matter is written anew, so that no value can add a key or a line.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from pydantic import Field, ValidationError

from silas.errors import PlanFamilyError, misfits, reason
from silas.language import ENGLISH, spoken_language
from silas.patterns import PatternRefused, check_pattern
from silas.plans.characters import first_hidden
from silas.plans.envelope import open_envelope
from silas.plans.errors import PlanError
from silas.plans.markdown import PlanParser, item_from
from silas.plans.runbooks.fill import blanks, emit, fill_body, fill_data, without_blank_items
from silas.plans.runbooks.move_places import MovePlaces, names_outside, plain_folder
from silas.plans.runbooks.parameter import Parameter
from silas.plans.runbooks.request import best_score, fits, parts_of, words_wanted
from silas.plans.runbooks.requirements import Requirement, commands
from silas.plans.runbooks.seen_files import RemovedLine
from silas.plans.runbooks.sentences import (
    SentenceError,
    compile_sentence,
    matches,
    parse_request,
    slots,
    without_courtesies,
)
from silas.plans.runbooks.unquoted import is_plain
from silas.plans.yaml_tree import FrontMatterTree, YamlPosition, read_tree
from silas.types import FrozenModel

MAX_VALUE = 1000
"""Characters of a parameter's value: a path or a name, not a document."""

_RESERVED = frozenset({"failed_checks"})


class GermanWords(FrozenModel):
    """How a runbook is shown to an owner whose language is German.

    Attributes:
        title: What it does; the title of a plan that is made of it.
        say: A request that it is for; empty where only an English one is understood.
    """

    title: str = Field(min_length=1)
    say: str = ""


class LibraryPlan(FrozenModel):
    """A runbook: its name (the file's), when to use it, its blanks, and the template.

    Attributes:
        in_german: How it is shown in German.
        sentences: Whole requests that it is for (`sentences.py`); where it has them, its
            phrases are examples and no request is compared with them.
        words: What a request that finds it by single words may say besides those of its phrases.
        requires: What it needs of the machine, looked for before anybody is asked.
        moves: Which parameters name the folders between which it moves files.
        removes: Which parameters are of the line that it takes out of a file; None for most.
        installs: The parameter that takes the Python installations which `$python` and the
            environment of `$workspace` need to be read.
        otherwise: The runbook to take where something that this one requires is missing.
    """

    name: str
    title: str
    phrases: tuple[str, ...] = Field(min_length=1)
    sentences: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    parameters: dict[str, Parameter]
    requires: tuple[Requirement, ...] = ()
    moves: MovePlaces | None = None
    removes: RemovedLine | None = None
    installs: str = ""
    otherwise: str = ""
    in_german: GermanWords | None = None
    front: dict[str, Any]
    body: str

    @property
    def shown_title(self) -> str:
        """Its title in the owner's language."""
        return (self.in_german if spoken_language() != ENGLISH and self.in_german else self).title

    @property
    def wants_values(self) -> bool:
        """Whether a request has to say more than the folder that it is about."""
        return any(
            one.default is None and not one.form_of
            for name, one in self.parameters.items()
            if name != "workspace"
        )

    @property
    def example(self) -> str:
        """A request that it is for, in the owner's language where one is understood."""
        said = "" if spoken_language() == ENGLISH or not self.in_german else self.in_german.say
        return said or self.phrases[0]


class PlanLibrary:
    """The runbooks of some directories; of two with the same name, the first wins.

    `faults` says of each file that is left out why, by the file's name.
    """

    def __init__(self, directories: Sequence[Path], *, leave_out: bool = False) -> None:
        """Read every `*.md` there; a directory that does not exist has none.

        Args:
            directories: Where.
            leave_out: Go on without a file that cannot be used, and without another of its name,
                which it was meant to take the place of.

        Raises:
            PlanError: A file is not a plan; the message names it.
            PlanFamilyError: `E_PLAN_LIBRARY`: a runbook block is wrong or a file is unreadable.
        """
        found: dict[str, LibraryPlan | None] = {}
        faults = dict[str, str]()
        for path in (path for directory in directories for path in sorted(directory.glob("*.md"))):
            try:
                found[path.stem] = found[path.stem] if path.stem in found else _load(path)
            except PlanFamilyError as error:
                if not leave_out:
                    raise
                found[path.stem] = None
                faults[path.name] = error.message
        self._plans = tuple(plan for _, plan in sorted(found.items()) if plan is not None)
        self.faults: Mapping[str, str] = faults

    @classmethod
    def of_owner(cls, own: Sequence[Path]) -> "PlanLibrary":
        """The owner's runbooks before the shipped ones; a wrong one of his stops no other."""
        return cls([*own, shipped_plans()], leave_out=True)

    def plans(self) -> tuple[LibraryPlan, ...]:
        """All runbooks, by name."""
        return self._plans

    def find(self, text: str) -> LibraryPlan | None:
        """The runbook that fits a request best, or None where none fits.

        Deterministic: a runbook's score is its best phrase's, or its title's, by the words shared
        with the request. At least three fifths of a phrase's words must be there. What wins is the
        number of shared words times their share of the phrase; of equals, the first by name. A
        runbook with sentences is found by a request that is one of them, and then it wins.
        """
        whole = next((plan for plan in self._plans if _values_said(plan, text) is not None), None)
        if whole is not None:
            return whole
        wanted = words_wanted(text)
        scored = [
            (best_score((*plan.phrases, plan.title), plan.words, wanted), plan)
            for plan in self._plans
            if not plan.sentences
        ]
        best = max(scored, key=lambda one: one[0], default=None)  # the first of equals
        return best[1] if best is not None and best[0] > 0 else None

    def plan_named(self, name: str) -> LibraryPlan | None:
        """The runbook of this name."""
        return next((plan for plan in self._plans if plan.name == name), None)

    def plan_titled(self, title: str) -> LibraryPlan | None:
        """The runbook that gave a plan this title, in whichever language."""
        return next(
            (
                plan
                for plan in self._plans
                if title == plan.title or (plan.in_german and title == plan.in_german.title)
            ),
            None,
        )

    def parameters_from(self, plan: LibraryPlan, text: str) -> dict[str, str]:
        """The values a request names, by pattern, in the order the parameters are declared.

        What one parameter took is not offered to the next. A parameter that two different parts of
        the request fit is left out: it has to be asked for. One that takes several values is never
        taken from a request. A runbook with sentences takes what stands in their slots, and the
        place at the end of the request.
        """
        if plan.sentences:
            return _values_said(plan, text) or {}
        values: dict[str, str] = {}
        parts = parts_of(text)
        for name, parameter in plan.parameters.items():
            if parameter.many or not parameter.pattern:
                continue
            found = {part for part in parts if fits(parameter.pattern, part)}
            if len(found) == 1:
                values[name] = found.pop()
                parts = [part for part in parts if part != values[name]]
        return values

    def missing(self, plan: LibraryPlan, values: Mapping[str, str]) -> tuple[str, ...]:
        """The parameters that have neither a value nor a default."""
        return tuple(
            name
            for name, parameter in plan.parameters.items()
            if name not in values and parameter.default is None and not parameter.form_of
        )

    def fill(self, plan: LibraryPlan, values: Mapping[str, str], item_id: str) -> str:
        """The plan with its blanks filled in, as markdown that `PlanParser` reads.

        In shell commands (`run`, `check_command`, fenced `sh` blocks) a value is quoted for the
        shell, in fenced `python` blocks it is a literal, elsewhere it stands as it is.

        Raises:
            PlanFamilyError: `E_PLAN_PARAMETER`: a value is missing, unknown or does not fit.
            PlanError: The filled plan is not a valid plan.
        """
        required = {one.name for one in plan.requires}
        given = _check_values(plan, {n: v for n, v in values.items() if n not in required})
        given |= commands(plan.requires, values, given)
        front = {**plan.front, "title": plan.shown_title}
        data = fill_data(front, given, _many(plan))
        if isinstance(data.get("writes"), list):  # forms of one value may be alike
            data["writes"] = list(dict.fromkeys(cast("list[str]", data["writes"])))
        text = emit({**data, "id": item_id}, fill_body(plan.body, given))
        PlanParser().parse(text)
        return text


def _values_said(plan: LibraryPlan, text: str) -> dict[str, str] | None:
    """What a request says in the slots of a runbook's sentences; None where it is none of them."""
    if not plan.sentences:
        return None
    said, place = parse_request(text)
    if place and "workspace" not in plan.parameters:
        return None
    named = {"workspace": place} if place else {}
    folders = {plan.moves.source, plan.moves.folder} if plan.moves else set[str]()
    heard = [(said, named)]
    if place and folders:  # the folder that they go to is named in full
        heard.append((without_courtesies(text), dict[str, str]()))
    found_in = ((one, end) for words, end in heard for one in matches(plan.sentences, words))
    for found, at_the_end in found_in:
        plain = {name: plain_folder(found[name]) for name in folders & found.keys()}
        values = {**found, **plain, **at_the_end}
        # a folder elsewhere is understood, and refused with the reason before anybody is asked
        asked = {n: v for n, v in values.items() if n not in folders or not names_outside(v)}
        fit = all(fits(plan.parameters[name].pattern, value) for name, value in asked.items())
        if fit and is_plain(plan.parameters, found, said):
            return values
    return None


def shipped_plans() -> Path:
    """The directory of the runbooks that come with Silas."""
    return Path(__file__).parent.parent / "library"


def _load(path: Path) -> LibraryPlan:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(path, f"it cannot be read: {reason(error)}") from error
    try:
        return _library_plan(path, text)
    except PlanError as error:
        raise PlanError(
            error.line, error.column, f"{error.reason} (in {path})", code=error.code
        ) from error


@lru_cache(maxsize=256)  # the shipped ones cost 0.1 s, and are read once for each role
def _library_plan(path: Path, text: str) -> LibraryPlan:
    envelope = open_envelope(text)
    tree = read_tree(envelope)
    runbook = tree.data.get("runbook")
    if not isinstance(runbook, dict):
        raise _wrong(path, "it has no `runbook:` block with `phrases`")
    front = {key: value for key, value in tree.data.items() if key != "runbook"}
    fields: dict[str, Any] = {"parameters": {}, **cast(dict[str, Any], runbook)}
    fixed = {"name": path.stem, "title": front.get("title"), "front": front, "body": envelope.body}
    try:
        plan = LibraryPlan.model_validate({**fields, **fixed})
    except ValidationError as error:
        first = misfits(error)[0]
        raise _wrong(path, f"`runbook.{first.place}`: {first.words}") from error
    _refuse_blanks(plan, path)
    # the template must be a plan once it is filled; errors point into the template
    sample = {
        name: one.example if one.default is None else one.default
        for name, one in plan.parameters.items()
    }
    try:
        given = _check_values(plan, sample)
    except PlanFamilyError as error:
        raise _wrong(
            path, f"its own default or example is refused: {error.message.rstrip('.')}"
        ) from error
    given |= commands(plan.requires, {}, given)
    filled = FrontMatterTree(fill_data(front, given, _many(plan)), tree.values, tree.keys)
    item_from(filled, fill_body(plan.body, given), YamlPosition(envelope.closing, 1))
    return plan


def _refuse_blanks(plan: LibraryPlan, path: Path) -> None:
    """Names, patterns and the use of several values, so that filling in has no surprises."""
    used = blanks(str(plan.front)) | blanks(plan.body) | blanks(str(plan.requires))
    if plan.installs and plan.installs not in _many(plan):
        raise _wrong(path, "`installs` must name a parameter that takes several values")
    for key, named in (("moves", plan.moves), ("removes", plan.removes)):
        if named and (unknown := sorted(named.parameters - plan.parameters.keys())):
            raise _wrong(path, f"`{key}`: `{unknown[0]}` is no parameter")
    for one in plan.requires:
        if not one.name.isidentifier() or one.name in plan.parameters or one.name not in used:
            raise _wrong(path, f"`{one.name}` cannot be a requirement's name, or is not used")
    for name, parameter in plan.parameters.items():
        if not name.isidentifier() or name in _RESERVED:
            raise _wrong(path, f"`{name}` cannot be a parameter's name")
        if name not in used:
            raise _wrong(path, f"the parameter `{name}` is not used")
        earlier = list(plan.parameters)[: list(plan.parameters).index(name)]
        if parameter.form_of and parameter.form_of not in earlier:
            raise _wrong(path, f"`{name}` must come after the parameter that it is a form of")
        try:
            check_pattern(parameter.pattern)
            check_pattern(parameter.unquoted)
        except PatternRefused as error:
            raise _wrong(path, f"the pattern of `{name}`: {error}") from error
    _refuse_sentences(plan, path)
    several = _many(plan)
    if several & blanks(plan.body) or several & blanks(str(without_blank_items(plan.front))):
        raise _wrong(path, "a parameter with several values stands only for whole items of a list")


def _refuse_sentences(plan: LibraryPlan, path: Path) -> None:
    """Slots without a parameter, what cannot be read, and examples that would not be understood."""
    for sentence in plan.sentences:
        try:
            compile_sentence(sentence)
        except SentenceError as error:
            raise _wrong(path, f"`runbook.sentences`: {error}") from error
        if strange := sorted(slots(sentence) - set(plan.parameters)):
            raise _wrong(path, f"`runbook.sentences`: `{strange[0]}` is no parameter")
    for phrase in plan.phrases if plan.sentences else ():
        if _values_said(plan, phrase) is None:
            raise _wrong(path, f"the phrase {phrase!r} is none of its sentences")


def _many(plan: LibraryPlan) -> frozenset[str]:
    return frozenset(name for name, one in plan.parameters.items() if one.many)


def _check_values(plan: LibraryPlan, values: Mapping[str, str]) -> dict[str, str]:
    """All values, defaults included, each one line and fitting its pattern."""
    for name in values:
        if name not in plan.parameters:
            raise _misfit(plan, name, "it has no such parameter")
    given: dict[str, str] = {}
    for name, parameter in plan.parameters.items():
        value = values.get(name, parameter.default)
        if other := given.get(parameter.form_of):
            form = parameter.make_form(other)
            if value not in (None, form):
                raise _misfit(plan, name, f"it is another form of {parameter.form_of}")
            value = form
        if value is None:
            raise _misfit(plan, name, f"it is not given; {parameter.description}")
        if len(value) > MAX_VALUE or first_hidden(value) >= 0:
            raise _misfit(plan, name, "the value must be one line of visible characters")
        parts = [part for part in value.split(":") if part] if parameter.many else [value]
        if not all(fits(parameter.pattern, part) for part in parts):
            raise _misfit(plan, name, f"the value does not fit; {parameter.description}")
        given[name] = value
    return given


def _wrong(path: Path, what: str) -> PlanFamilyError:
    return PlanFamilyError(f"The runbook {path} cannot be used: {what}.", code="E_PLAN_LIBRARY")


def _misfit(plan: LibraryPlan, name: str, what: str) -> PlanFamilyError:
    return PlanFamilyError(
        f"The runbook {plan.name} needs `{name}`: {what}.", code="E_PLAN_PARAMETER"
    )
