"""What a worker's `toolsets:` give it: which tools, and its own policy about their calls.

Pure: names and settings in, an offer out. The built-in toolsets by alias; what else can be named
comes from a loader above. A setting nobody knows is an error, and its way is kept for the reader.

A worker chooses among the tools of the house and loads no code. Where it asks, the plan's approval
is no answer: a person looks at that call.
"""

from collections.abc import Collection, Mapping
from functools import reduce
from typing import Annotated, Any, Final, NamedTuple, Protocol, Self, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from silas.errors import misfits
from silas.tools.builtin.files import FILE_TOOL_NAMES
from silas.tools.models import Stance, WorkerApprovalPolicy
from silas.tools.shell_rules import ShellDefault, ShellRule, ShellRules
from silas.types import FrozenModel

Way = tuple[str | int, ...]
"""Keys and indexes that lead to a setting."""

Toolsets = Mapping[str, Mapping[str, Any]]
"""Toolsets by name, each with its settings."""

DEFAULTS: Final = "_defaults"
APPROVAL: Final = "_approval_config"


class ToolsetConfigError(ValueError):
    """A toolset that cannot be offered as it is written: where, and why in one sentence."""

    def __init__(self, way: Way, reason: str) -> None:
        super().__init__(reason)
        self.way = way
        self.reason = reason


class ApprovalSetting(FrozenModel):
    """What a worker's file says about the calls of one tool; nothing said is no opinion.

    Attributes:
        blocked: It is never called.
        approval_required: True asks about each call; False answers the toolset's own question.
        pre_approved: The same the other way round.
    """

    blocked: bool = False
    approval_required: bool | None = None
    pre_approved: bool | None = None

    @model_validator(mode="after")
    def _one_word(self) -> Self:
        if self.pre_approved is not None and self.pre_approved is self.approval_required:
            raise ValueError("says both yes and no; keep one of pre_approved, approval_required")
        return self

    @property
    def stance(self) -> Stance:
        """Strictest first."""
        if self.blocked:
            return Stance.blocked
        if self.approval_required or self.pre_approved is False:
            return Stance.ask
        return Stance.silent if self.says_nothing else Stance.pre_approved

    @property
    def says_nothing(self) -> bool:
        """Whether it has no opinion."""
        return not self.blocked and self.approval_required is None and self.pre_approved is None


class ToolOffer(NamedTuple):
    """What a worker is shown, and its own policy.

    Attributes:
        tools: Tools by name.
        mounted: Toolsets of the configuration: every tool of theirs.
        policy: The worker's word on single calls.
    """

    tools: frozenset[str] = frozenset()
    mounted: frozenset[str] = frozenset()
    policy: WorkerApprovalPolicy = WorkerApprovalPolicy()


class Offers(Protocol):
    """Whoever knows toolsets by name."""

    def __call__(self, toolsets: Toolsets) -> ToolOffer:
        """What these toolsets offer together. Raises `ToolsetConfigError`."""
        ...


_STRICT: Final = (Stance.blocked, Stance.ask, Stance.silent, Stance.pre_approved)


def stricter(
    one: WorkerApprovalPolicy, settings: Mapping[str, ApprovalSetting]
) -> WorkerApprovalPolicy:
    """The policy with further settings; of two opinions about a tool the stricter stays."""
    tools = dict(one.tools)
    for name, setting in settings.items():
        known, said = tools.get(name), setting.stance
        if said is not Stance.silent:
            tools[name] = said if known is None else min(known, said, key=_STRICT.index)
    return one.model_copy(update={"tools": tools})


def _per_tool(value: object) -> object:
    """Settings for the whole toolset are settings of `*`."""
    if not isinstance(value, Mapping):
        return value
    given = cast(Mapping[str, object], value)
    whole = bool(given) and not any(isinstance(one, Mapping) for one in given.values())
    return {"*": given} if whole else given


Approval = Annotated[dict[str, ApprovalSetting], BeforeValidator(_per_tool)]


class PlainSettings(FrozenModel):
    """The settings that every built-in toolset takes."""

    approval: Approval = Field(default_factory=dict[str, ApprovalSetting], alias=APPROVAL)


class ShellSettings(PlainSettings):
    """The shell's: rules in order, and what happens with all else."""

    rules: tuple[ShellRule, ...] = ()
    default: ShellDefault | None = None

    @property
    def shell(self) -> dict[str, ShellRules]:
        """Its rules by the tool they are for; none where none are written at all."""
        if not self.model_fields_set & {"rules", "default"}:
            return {}
        return {"shell_exec": ShellRules(rules=self.rules, default=self.default)}


SettingsT = TypeVar("SettingsT", bound=PlainSettings)


class BuiltIn(NamedTuple):
    """A built-in toolset: its tools and the settings it takes."""

    tools: frozenset[str]
    settings: type[PlainSettings]


BUILT_IN: Final[Mapping[str, BuiltIn]] = {
    "shell": BuiltIn(frozenset({"shell_exec"}), ShellSettings),
    "python": BuiltIn(frozenset({"python_exec"}), PlainSettings),
    "files": BuiltIn(FILE_TOOL_NAMES, PlainSettings),
}


class ToolOffers(NamedTuple):
    """The built-in toolsets, and those that the configuration mounts, by name."""

    mounted: frozenset[str]

    def __call__(self, toolsets: Toolsets) -> ToolOffer:
        """What toolsets offer together.

        Raises:
            Misconfigured: A name or a setting that is not known.
        """
        offers = [
            _offer_mounted(name, given)
            if name in self.mounted
            else _offer_named(name, given, self.mounted)
            for name, given in toolsets.items()
        ]
        return reduce(_join_offers, offers, ToolOffer())


built_in_offer: Final = ToolOffers(frozenset())
"""Nothing but what every Silas has."""


def _join_offers(one: ToolOffer, other: ToolOffer) -> ToolOffer:
    return ToolOffer(
        one.tools | other.tools,
        one.mounted | other.mounted,
        WorkerApprovalPolicy(
            tools={**one.policy.tools, **other.policy.tools},
            rules={**one.policy.rules, **other.policy.rules},
        ),
    )


def _offer_mounted(name: str, given: Mapping[str, Any]) -> ToolOffer:
    """A toolset that the configuration sets up; a worker says only what it may do with it."""
    for key in given:
        if key != APPROVAL:
            raise ToolsetConfigError(
                (name, key),
                f"`{name}` is set up in the configuration; here it takes only `{APPROVAL}`",
            )
    settings = _settings(PlainSettings, name, given)
    if "*" in settings.approval:
        raise ToolsetConfigError((name, APPROVAL), f"say it for each tool of `{name}` by its name")
    policy = stricter(WorkerApprovalPolicy(), settings.approval)
    return ToolOffer(mounted=frozenset({name}), policy=policy)


def _settings(model: type[SettingsT], name: str, given: Mapping[str, Any]) -> SettingsT:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise find_misconfigured((name,), error, model) from error


def _offer_named(name: str, given: Mapping[str, Any], mounted: Collection[str]) -> ToolOffer:
    known = BUILT_IN.get(name)
    if known is None:
        names = ", ".join(sorted({*BUILT_IN, *mounted}))
        raise ToolsetConfigError(
            (name,),
            f"there is no toolset {name!r}; known are {names}, and others are set up under "
            "`toolsets` in the configuration first",
        )
    settings = _settings(known.settings, name, given)
    rules = settings.shell if isinstance(settings, ShellSettings) else {}
    whole = settings.approval.get("*")
    spread = {} if whole is None else dict.fromkeys(known.tools, whole)
    foreign = sorted(settings.approval.keys() - known.tools - {"*"})
    if foreign:
        tools = ", ".join(sorted(known.tools))
        raise ToolsetConfigError(
            (name, APPROVAL, foreign[0]), f"`{name}` has no tool {foreign[0]!r}; it has {tools}"
        )
    named = {tool: one for tool, one in settings.approval.items() if tool != "*"}
    policy = stricter(WorkerApprovalPolicy(rules=rules), {**spread, **named})
    return ToolOffer(known.tools, policy=policy)


def find_misconfigured(
    before: Way, error: ValidationError, model: type[BaseModel]
) -> ToolsetConfigError:
    """The first thing that is wrong with settings, where it is, in words."""
    first = misfits(error)[0]
    way = tuple(part for part in first.loc if part != "*")
    if first.kind == "extra_forbidden":
        top = [field.alias or name for name, field in model.model_fields.items()]
        hint = f"; known are {', '.join(top)}" if len(way) == 1 else ""
        return ToolsetConfigError((*before, *way), f"unknown setting `{way[-1]}`{hint}")
    name = ".".join(str(part) for part in way) or str(before[-1])
    return ToolsetConfigError((*before, *way), f"`{name}`: {first.words}")
