"""`SKILL.md`, read strictly: front matter, and the instructions below it (spec 10.1).

The front matter is mappings, lists and text. No anchors, aliases, tags or second documents, every
key once, and every scalar is text until its field says otherwise: nothing in it can run code, refer
to itself or grow when it is read.
"""

import difflib
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, cast

from pydantic import ConfigDict, Field, ValidationError, field_validator

from silas.errors import misfits
from silas.skills.folder import SKILL_MD, SkillError
from silas.strict_yaml import Subset, YamlError, read_yaml
from silas.types import FrozenModel

NAME: Final = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
"""The standard's name: lower-case letters, digits and single hyphens, at most 64 characters."""

_MAX_FRONT = 8192  # characters; bounds what the YAML reader is given
_MAX_DEPTH = 5  # `script_args` nests four
_MAX_DESCRIPTION = 1024
_MAX_WORDS = 500  # characters of other texts in the front matter
_OPENING = re.compile(r"---[ \t]*")
# Controls, invisible characters and those that turn text around. A joiner or a selector stays: they
# shape emoji, and what a model is shown goes through `silas.context.visible_text` besides.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e0fff]"
)


class SkillFrontMatter(FrozenModel):
    """What front matter may say; everything but name and description is optional.

    Attributes:
        name: As the folder's.
        description: What it is for and when to use it, as one line.
        license, compatibility: Words for people.
        requirements: What it needs of its surroundings, among it environment variables.
        activation: `auto`: a plan may name it whenever it fits; `manual`: only when the owner asks
            for it; `background`: it is never offered.
        ui: Words for lists.
        composes_with: Skills that go well with it.
        script_args: The arguments of each script.
        metadata: Anything, by name.
        allowed_tools: Accepted, because the standard has it; it grants nothing here.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=False)

    name: str
    description: str = Field(min_length=1, max_length=_MAX_DESCRIPTION)
    license: str = Field(default="", max_length=_MAX_WORDS)
    compatibility: str = Field(default="", max_length=_MAX_WORDS)
    requirements: tuple[str, ...] = ()
    activation: Literal["auto", "manual", "background"] = "auto"
    ui: dict[str, str] = Field(default_factory=dict[str, str])
    composes_with: tuple[str, ...] = ()
    script_args: dict[str, dict[str, dict[str, str]]] = Field(
        default_factory=dict[str, dict[str, dict[str, str]]]
    )
    metadata: dict[str, str] = Field(default_factory=dict[str, str])
    allowed_tools: str = Field(default="", max_length=_MAX_WORDS, alias="allowed-tools")

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError("must be lower-case letters, digits and single hyphens, at most 64")
        return name

    @field_validator("description")
    @classmethod
    def _one_line(cls, text: str) -> str:
        line = " ".join(text.split())
        if not line:
            raise ValueError("must say what the skill is for and when to use it")
        return line

    @field_validator("requirements", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class SkillMd(NamedTuple):
    """`SKILL.md` as it was read: its front matter, and the instructions below it."""

    front: SkillFrontMatter
    body: str


class SkillDocument(NamedTuple):
    """`SKILL.md` before anything was asked about its keys."""

    data: dict[str, Any]
    body: str


KEYS: Final = tuple(field.alias or name for name, field in SkillFrontMatter.model_fields.items())


def read_skill_md(raw: bytes, folder: str) -> SkillMd:
    """Read a skill's `SKILL.md`.

    Args:
        raw: Its bytes.
        folder: The name of the folder it lies in, which is the skill's.

    Raises:
        SkillError: In one sentence, for everything that is not as it must be.
    """
    opened = open_skill_md(raw)
    front = front_of(opened.data)
    if front.name != folder:
        raise SkillError(
            f"{SKILL_MD} names {front.name!r} and its folder {ascii(folder)[:80]}; give both the "
            "same name."
        )
    return SkillMd(front, opened.body)


def open_skill_md(raw: bytes, depth: int = _MAX_DEPTH) -> SkillDocument:
    """Read front matter as the data that it is, whatever keys it has, and the instructions.

    Args:
        raw: The bytes of `SKILL.md`.
        depth: How deep its data may be nested.

    Raises:
        SkillError: It is not front matter above instructions, or could be read in two ways.
    """
    text = _text(raw)
    lines = text.split("\n")
    if not _OPENING.fullmatch(lines[0]):
        raise SkillError(f"{SKILL_MD} must begin with a line that is only ---.")
    closing = next((n for n, line in enumerate(lines[1:], 1) if _OPENING.fullmatch(line)), 0)
    if not closing:
        raise SkillError(f"the front matter of {SKILL_MD} never ends; close it with a line ---.")
    data = read_data("\n".join(lines[1:closing]), depth)
    body = "\n".join(lines[closing + 1 :]).strip()
    if not body:
        raise SkillError(f"{SKILL_MD} has no instructions below its front matter.")
    return SkillDocument(data, body)


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise SkillError(f"{SKILL_MD}, line {line}, is not UTF-8 text; save it as UTF-8.") from None
    if hidden := _HIDDEN.search(text):
        line = text.count("\n", 0, hidden.start()) + 1
        raise SkillError(
            f"{SKILL_MD}, line {line}, has the character U+{ord(hidden[0]):04X}, which nobody can "
            "see; remove it."
        )
    return text


def read_data(text: str, depth: int) -> dict[str, Any]:
    """The mapping of texts, lists and mappings that a text of YAML is.

    Raises:
        SkillError: It is none, or one that could refer to itself, make objects or hide characters.
    """
    if len(text) > _MAX_FRONT:
        raise SkillError(f"the front matter of {SKILL_MD} is longer than {_MAX_FRONT} characters.")
    subset = Subset(depth - 1, str, _why_refused, marker=True, line=_line)
    try:
        found = read_yaml(text, subset)
    except YamlError as error:
        line, column = _line(error.line), error.column + 1
        raise SkillError(f"{SKILL_MD}, line {line}, column {column}: {error}.") from error
    if found is None:
        raise SkillError(f"{SKILL_MD} needs at least name and description.")
    if not isinstance(found.data, dict):
        raise SkillError(f"the front matter of {SKILL_MD} must be lines like `name: coding`.")
    return cast("dict[str, Any]", found.data)


def _line(number: int) -> int:
    return number + 2  # behind the line that is only ---


def _why_refused(text: str) -> str:
    hidden = _HIDDEN.search(text)
    if hidden is None:
        return ""
    return f"an escape for U+{ord(hidden[0]):04X}, which nobody can see; remove it"


def front_of(data: Mapping[str, Any]) -> SkillFrontMatter:
    """Front matter as it must be.

    Raises:
        SkillError: A key is not known, or holds something else than it must.
    """
    for key in data:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(KEYS)}."
            raise SkillError(f"{SKILL_MD} has the unknown key {ascii(key)[:80]}; {hint}")
    try:
        return SkillFrontMatter.model_validate(data)
    except ValidationError as error:
        first = misfits(error)[0]
        name = ".".join(ascii(part)[:80].strip("'") for part in first.loc)
        raise SkillError(f"{SKILL_MD}, `{name}`: {first.words}.") from error
