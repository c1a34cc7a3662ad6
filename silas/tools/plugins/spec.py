"""What a `toolsets:` mapping says, read without importing anything (`toolset-plugins.md`).

A key that begins with `_` inside a toolset's settings is the owner's word about its tools; every
other key is the toolset's own configuration.

Risk, whether a call changes something and how far results are trusted are said beside the
settings, with the worst as default. A tool's definition is fixed when it is loaded.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, cast

from pydantic import ConfigDict, Field, ValidationError, model_validator

from silas.errors import ConfigError, misfits
from silas.tools.models import RiskLevel
from silas.tools.offers import ApprovalSetting
from silas.tools.plugins.names import CODE, is_name, nearest
from silas.types import FrozenModel, TaintLevel

DEFAULTS: Final = "_defaults"
EXTENDS: Final = "extends"

Role = Literal["proxy", "planner", "executor"]


class ApprovalEntry(ApprovalSetting):
    """One tool's entry in `_approval_config`; `yes` is text and no truth, as everywhere here."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class OwnerPolicy(FrozenModel):
    """What the owner says about the tools of one toolset; its own word counts for nothing.

    Tools are named as the toolset names them, without the prefix.

    Attributes:
        approval_config: Who is blocked, who asks, and whose own question is answered beforehand;
            never lifts a block.
        risk: Base risk; `high` where nothing is said.
        reads: Tools that change nothing and carry nothing out of this machine.
        egress: Those of `reads` that do carry their arguments out.
        results: How far a tool's results are trusted; `external` where nothing is said.
        targets: The argument that names whom or what a tool acts on, for the cooldown.
        offer: Which roles are shown a read; the executor alone where nothing is said.
        idempotent: Tools whose calls may be repeated; reads may be, too.
        prefix: Put before each tool's name, with an underscore.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    approval_config: dict[str, ApprovalEntry] = Field(default_factory=dict[str, ApprovalEntry])
    risk: dict[str, RiskLevel] = Field(default_factory=dict[str, RiskLevel])
    reads: tuple[str, ...] = ()
    egress: tuple[str, ...] = ()
    results: dict[str, TaintLevel] = Field(default_factory=dict[str, TaintLevel])
    targets: dict[str, str] = Field(default_factory=dict[str, str])
    offer: dict[str, tuple[Role, ...]] = Field(default_factory=dict[str, tuple[Role, ...]])
    idempotent: tuple[str, ...] = ()
    prefix: str = Field(default="", pattern=r"^(?:[A-Za-z][A-Za-z0-9_]*)?$")

    @model_validator(mode="after")
    def _agrees(self) -> "OwnerPolicy":
        for tool in self.egress:
            if tool not in self.reads:
                raise ValueError(f"_egress names {tool!r}, which is not among _reads")
        for tool, roles in self.offer.items():
            if tool not in self.reads and set(roles) != {"executor"}:
                raise ValueError(f"_offer shows {tool!r} to {roles[0]}, and it is not among _reads")
        return self

    def tools(self) -> set[str]:
        """Every tool that something is said about."""
        named: tuple[Iterable[str], ...] = (
            *(self.approval_config, self.risk, self.reads, self.results),
            *(self.targets, self.offer, self.idempotent),
        )
        return {tool for some in named for tool in some}


class ToolsetSpec(NamedTuple):
    """One toolset to be loaded: its name, its own configuration as written, the owner's word."""

    name: str
    config: Mapping[str, Any]
    said: OwnerPolicy


def read_spec(
    spec: Mapping[str, Any], profiles: Mapping[str, Any], where: str = "toolsets"
) -> tuple[ToolsetSpec, ...]:
    """The toolsets of a mapping, in their order, profiles and defaults merged in.

    Merging, weakest first: the profile named by `extends`, with its own; then `_defaults`, each
    without settings unless the profile has some; then the mapping's own entries. Where both name a
    toolset, its settings are joined key by key and the nearer key wins whole. `false` in place of
    settings leaves an inherited toolset out.

    Raises:
        ConfigError: `E_CFG_TOOLSET`, with the place: a cycle, an unknown profile, a wrong setting.
    """
    merged = _merge_spec(spec, profiles, where, ())
    return tuple(_split(name, settings, where) for name, settings in merged.items())


def _merge_spec(
    spec: Mapping[str, Any], profiles: Mapping[str, Any], where: str, above: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    merged = _inherited_profiles(spec.get(EXTENDS), profiles, where, above)
    for name in _names(spec.get(DEFAULTS, []), f"{where}.{DEFAULTS}"):
        merged.setdefault(_require_name(name, f"{where}.{DEFAULTS}"), {})
    for name, settings in spec.items():
        if name in (DEFAULTS, EXTENDS):
            continue
        _require_name(name, where)
        if settings is False:
            merged.pop(name, None)
        else:
            merged[name] = merged.get(name, {}) | _mapping(settings, f"{where}.{name}")
    return merged


def _inherited_profiles(
    profile: object, profiles: Mapping[str, Any], where: str, above: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    if profile is None:
        return {}
    if not isinstance(profile, str) or profile not in profiles:
        raise _wrong(
            f"{where}.{EXTENDS}",
            f"there is no profile {profile!r} under toolset_profiles"
            f"{nearest(str(profile), profiles)}",
        )
    if profile in above:
        chain = " extends ".join((*above[above.index(profile) :], profile))
        raise _wrong(f"{where}.{EXTENDS}", f"the profiles go round in a circle: {chain}")
    place = f"toolset_profiles.{profile}"
    return _merge_spec(_mapping(profiles[profile], place), profiles, place, (*above, profile))


def _mapping(found: object, where: str) -> dict[str, Any]:
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _wrong(where, "must be a mapping of settings")
    return dict(cast(Mapping[str, Any], found))


def _names(found: object, where: str) -> list[str]:
    if not isinstance(found, list | tuple):
        raise _wrong(where, "must be a list of names")
    return [str(name) for name in cast(list[object], found)]


def _require_name(name: str, where: str) -> str:
    if not is_name(name):
        raise _wrong(where, f"{name!r} is neither a class path, an alias nor an entry point")
    return name


def _split(name: str, settings: Mapping[str, Any], where: str) -> ToolsetSpec:
    said = {key: value for key, value in settings.items() if key.startswith("_")}
    config = {key: value for key, value in settings.items() if not key.startswith("_")}
    known = {f"_{field}" for field in OwnerPolicy.model_fields}
    for key in said:
        if key not in known:
            raise _wrong(f"{where}.{name}.{key}", f"there is no such setting{nearest(key, known)}")
    try:
        word = OwnerPolicy.model_validate({key[1:]: value for key, value in said.items()})
    except ValidationError as error:
        first = misfits(error)[0]
        path = f"._{first.place}" if first.loc else ""
        raise _wrong(f"{where}.{name}{path}", first.words) from None
    return ToolsetSpec(name, config, word)


def _wrong(where: str, words: str) -> ConfigError:
    return ConfigError(f"{where}: {words}.", code=CODE)
