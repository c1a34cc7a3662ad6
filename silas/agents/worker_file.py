"""`.worker` files: front matter and instructions in, a worker out (`worker-approval-policy.md`).

Pure. The front matter is the plans' strict subset of YAML, so every error has its line and column.
"""

import difflib
import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Self, cast

from pydantic import Field, ValidationError, field_validator, model_validator

from silas.agents.choice import Choice, ModelChoice
from silas.canonical import sha256_hex
from silas.errors import ConfigError, Misfit, misfits
from silas.plans import PlanError
from silas.plans.envelope import open_envelope
from silas.plans.yaml_tree import FrontMatterTree, Loc, read_tree
from silas.tools.offers import (
    DEFAULTS,
    ApprovalSetting,
    Offers,
    ToolOffer,
    ToolsetConfigError,
    stricter,
)
from silas.types import FrozenModel

DELEGATE: Final = "delegate"
"""The name of the tool by which a worker hands a task to another."""

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")
"""A worker's name; its file is called so."""

_MAX_DESCRIPTION = 200  # characters: one line of a list, and of what other workers are shown
_MAX_TEAM = 32  # delegates of one worker


class WorkerError(ConfigError):
    """A `.worker` file that cannot be used: the place in it, and what to do."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        end = "" if reason.endswith(("?", ".")) else "."
        super().__init__(f"line {line}, column {column}: {reason}{end}", code="E_CFG_WORKER")
        self.line = line
        self.column = column
        self.reason = reason


class Worker(NamedTuple):
    """A worker as its file has it.

    Attributes:
        name: Its name, as plans and other workers use it.
        description: What it is for, in one line.
        model: The model it runs on; None for the executor's.
        skills: Skills that it is told whenever it works; they must be installed.
        delegates: Workers it may hand tasks to.
        offer: The tools it has, and its own policy about their calls.
        instructions: What it is told, below the constitution and the executor's role.
        digest: Hex SHA-256 of the file's bytes.
    """

    name: str
    description: str
    model: ModelChoice | None
    skills: tuple[str, ...]
    delegates: tuple[str, ...]
    offer: ToolOffer
    instructions: str
    digest: str


class _Front(FrozenModel):
    """What front matter may say."""

    name: str
    description: str = Field(min_length=1, max_length=_MAX_DESCRIPTION)
    model: Choice | None = None
    toolsets: dict[str, Any] = Field(default_factory=dict[str, Any])
    approval: dict[str, ApprovalSetting] = Field(default_factory=dict[str, ApprovalSetting])
    skills: tuple[str, ...] = ()
    delegates: tuple[str, ...] = Field(default=(), max_length=_MAX_TEAM)

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError("must be lower-case letters, digits, - and _, and begin with a letter")
        return name

    @field_validator("description")
    @classmethod
    def _one_line(cls, text: str) -> str:
        if "\n" in text or not text.strip():
            raise ValueError("must be one line")
        return text

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if len(set(self.delegates)) < len(self.delegates):
            raise ValueError("a worker is named twice under delegates")
        return self


_KEYS = tuple(_Front.model_fields)


def read_worker(raw: bytes, offers: Offers) -> Worker:
    """Read one worker.

    Args:
        raw: The file's bytes.
        offers: Says what the toolsets it names offer.

    Raises:
        WorkerError: With line and column, for everything that is not as it must be.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise WorkerError(line, 1, "it is not UTF-8 text; save it as UTF-8") from error
    if not re.match(r"\ufeff?\s*---[ \t]*\r?\n", text):
        raise WorkerError(1, 1, "it must begin with a line that is only ---, above its settings")
    try:
        envelope = open_envelope(text)
        tree = read_tree(envelope)
    except PlanError as error:
        raise WorkerError(error.line, error.column, _about_workers(error.reason)) from error
    front = _front(tree)
    if not envelope.body.strip():
        raise WorkerError(envelope.closing, 1, "there are no instructions below the settings")
    offer = _offer(front, tree, offers)
    _refuse_settings_for_nothing(front, offer, tree)
    return Worker(
        name=front.name,
        description=front.description,
        model=front.model,
        skills=front.skills,
        delegates=front.delegates,
        offer=offer._replace(policy=stricter(offer.policy, front.approval)),
        instructions=envelope.body,
        digest=sha256_hex(raw),
    )


def _about_workers(reason: str) -> str:
    """The words of the plans' reader, for another kind of file."""
    words = reason.replace("a plan needs at least id, type and title", "a worker needs a name")
    return words.replace("a plan", "a worker file").replace("the plan", "the worker file")


def _front(tree: FrontMatterTree) -> _Front:
    for key in tree.data:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1, cutoff=0.5)
            hint = f"did you mean `{near[0]}`?" if near else "known are " + ", ".join(_KEYS)
            raise WorkerError(*tree.key((key,)), f"unknown key `{key}`; {hint}".rstrip("."))
    try:
        # through JSON, because only there strict types still read tuples
        return _Front.model_validate_json(json.dumps(tree.data), strict=True)
    except ValidationError as error:
        raise min(
            (_explain_misfit(one, tree) for one in misfits(error)),
            key=lambda found: (found.line, found.column),
        ) from error


def _explain_misfit(error: Misfit, tree: FrontMatterTree) -> WorkerError:
    loc, kind, words = error.loc, error.kind, error.words
    name = f"`{_key_path(loc)}`"
    if kind == "missing":
        return WorkerError(*tree.at(loc[:-1]), f"{name} is missing")
    if kind == "extra_forbidden":
        return WorkerError(*tree.key(loc), f"unknown key {name}")
    place = tree.at(loc) if loc else tree.at(("delegates",))
    return WorkerError(*place, f"{name}: {words}" if loc else words)


def _offer(front: _Front, tree: FrontMatterTree, offers: Offers) -> ToolOffer:
    try:
        return offers(_toolsets(front.toolsets))
    except ToolsetConfigError as error:
        way: Loc = ("toolsets", *error.way)
        raise WorkerError(*tree.key(way), error.reason) from error


def _toolsets(given: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Each toolset with its settings; those under `_defaults` with none of their own."""
    found: dict[str, Mapping[str, Any]] = {}
    defaults: object = given.get(DEFAULTS, [])
    if not isinstance(defaults, list) or not all(
        isinstance(name, str) for name in cast(list[object], defaults)
    ):
        raise ToolsetConfigError((DEFAULTS,), f"`{DEFAULTS}` must be a list of toolsets")
    for name in cast(list[str], defaults):
        found[name] = {}
    for name, settings in given.items():
        if name == DEFAULTS:
            continue
        if settings is not None and not isinstance(settings, Mapping):
            raise ToolsetConfigError((name,), f"`{name}` must be a mapping of settings, or empty")
        found[name] = cast(Mapping[str, Any], settings or {})
    return found


def _refuse_settings_for_nothing(front: _Front, offer: ToolOffer, tree: FrontMatterTree) -> None:
    """A misspelt tool under `approval:` would be a rule that never applies."""
    known = offer.tools | ({DELEGATE} if front.delegates else set[str]())
    for name in front.approval:
        if name not in known and not offer.mounted:  # what is mounted is known when it is loaded
            tools = ", ".join(sorted(known)) or "none"
            raise WorkerError(
                *tree.key(("approval", name)), f"it has no tool `{name}`; its tools are {tools}"
            )


def _key_path(loc: Loc) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return text.removeprefix(".")
