"""Skills written for other agents, put into the form that Silas reads (spec 10.4.1 steps 3 to 5).

Deterministic and without effect: files in, files and a report of every change out. Nothing of a
skill is run, no model is asked, and what is left out or waits for a person is named.

Importing a skill runs nothing. Fetching is git's work, which the owner does and sees. The copy
lies where the loader does not look. 10.4's dry run waits until scripts of a skill can be run.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, Literal, NamedTuple, cast

from silas.skills.folder import SKILL_MD, SkillError, SkillFile
from silas.skills.front import KEYS, NAME, front_of, open_skill_md, read_data, read_skill_md
from silas.skills.models import SkillValidationConfig
from silas.skills.validate import check, credentials
from silas.types import FrozenModel

Format = Literal["silas", "openai", "claude"]
"""For whom a skill was written."""

PASSED_OVER: Final = frozenset({".git", ".github", ".DS_Store", "__pycache__", "node_modules"})
"""What lies beside a skill in a repository and is no part of it."""

_OPENAI = "agents/openai.yaml"
_CLAUDE = frozenset(
    {
        *("allowed-tools", "disallowed-tools", "context", "hooks", "agent", "model"),
        *("disable-model-invocation", "user-invocable", "argument-hint"),
    }
)
_DEPTH = 12  # of foreign front matter; hooks nest six
_SECRET_FILES = re.compile(
    r"\.env(\..*)?|\.netrc|\.npmrc|\.pypirc|id_(rsa|ed25519|ecdsa|dsa)|credentials(\.json)?"
    r"|.*\.(pem|key|p12|pfx|keystore)",
    re.IGNORECASE,
)
_OTHER_PROGRAMS = re.compile(
    r".*\.(js|mjs|cjs|ts|rb|pl|php|ps1|bat|cmd|lua|go|rs|java|jar|exe|so|dylib|dll|wasm)",
    re.IGNORECASE,
)
_SHELL = re.compile(rb"#![ \t]*(?:/usr)?(?:/bin/)?(?:env[ \t]+)?(?:[\w/]*/)?(sh|bash|dash)\b")
_FILLED_IN = re.compile(r"!`[^`\n]+`|\{\{[^{}\n]+\}\}")
_SHOWN = 80  # characters of a value that the report repeats

_WRAPPER = '''"""Runs {name} beside this file; every argument is one word, never a shell's line."""

import subprocess
import sys
from pathlib import Path

script = Path(__file__).with_name("{name}")
sys.exit(subprocess.run(["/bin/{shell}", str(script), *sys.argv[1:]], check=False).returncode)
'''


class ImportReport(FrozenModel):
    """What importing a skill changed.

    Attributes:
        source, commit: Where it came from; the commit is empty where that is not known.
        format: For whom it was written.
        removed: Fields and files that were left out.
        translated: Fields that say the same in another way now.
        rewritten: Scripts that were given a Python entry point.
        unresolved: What a person has to look at.
    """

    source: str
    commit: str
    format: Format
    removed: tuple[str, ...] = ()
    translated: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Each change as one line."""
        told = ("removed", "translated", "rewritten", "unresolved")
        return tuple(f"{kind}: {line}" for kind in told for line in getattr(self, kind))


class AdaptedSkill(NamedTuple):
    """A skill in the form that Silas reads, and what that took."""

    name: str
    files: tuple[SkillFile, ...]
    report: ImportReport


class _Changes:
    """What is noted on the way."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        self.translated: list[str] = []
        self.rewritten: list[str] = []
        self.unresolved: list[str] = []


def adapt(
    files: Sequence[SkillFile],
    source: str,
    commit: str,
    hint: Format | None,
    rules: SkillValidationConfig,
) -> AdaptedSkill:
    """Put a foreign skill into Silas's form.

    Args:
        files: Every file of it.
        source, commit: For the report.
        hint: For whom it was written, where the caller knows.
        rules: What is asked of it at the end; what it breaks is unresolved.

    Raises:
        SkillError: It cannot be read, or holds a credential.
    """
    changes = _Changes()
    kept = {file.path: file for file in _without_secrets(files, changes)}
    opened = open_skill_md(kept[SKILL_MD].raw, _DEPTH)
    given = dict(opened.data)
    form = hint or _format(given, kept)
    if _OPENAI in kept:
        given = _with_openai(given, kept.pop(_OPENAI), changes)
    data = _normalise_keys(given, changes)
    front = front_of(data)
    if data != opened.data:
        kept[SKILL_MD] = SkillFile(SKILL_MD, _skill_file(data, opened.body))
    for path, file in list(kept.items()):
        _adapt_script(path, file, kept, changes)
    changes.unresolved += _filled_in(opened.body)
    done = tuple(kept[path] for path in sorted(kept))
    read = read_skill_md(kept[SKILL_MD].raw, front.name)  # what was written says what was meant
    changes.unresolved += [str(finding) for finding in check(read, done, rules)]
    report = ImportReport(
        source=source,
        commit=commit,
        format=form,
        removed=tuple(changes.removed),
        translated=tuple(changes.translated),
        rewritten=tuple(changes.rewritten),
        unresolved=tuple(changes.unresolved),
    )
    return AdaptedSkill(front.name, done, report)


def _without_secrets(files: Sequence[SkillFile], changes: _Changes) -> Iterator[SkillFile]:
    """Credentials are never imported: files made for them stay where they are."""
    for file in files:
        if _SECRET_FILES.fullmatch(PurePosixPath(file.path).name):
            changes.removed.append(f"{file.path}, where credentials are kept")
            continue
        for finding in credentials(file):
            raise SkillError(f"{finding} Credentials are never imported; nothing was.")
        yield file


def _format(given: Mapping[str, Any], files: Mapping[str, SkillFile]) -> Format:
    if _OPENAI in files:
        return "openai"
    return "claude" if given.keys() & _CLAUDE else "silas"


def _with_openai(given: Mapping[str, Any], file: SkillFile, changes: _Changes) -> dict[str, Any]:
    """What `agents/openai.yaml` says that Silas has a word for."""
    try:
        said = read_data(file.raw.decode("utf-8"), _DEPTH)
    except (SkillError, UnicodeDecodeError):
        changes.removed.append(f"{_OPENAI}, which cannot be read")
        return dict(given)
    interface, policy = _mapping(said.get("interface")), _mapping(said.get("policy"))
    words = {n: interface[n] for n in ("display_name", "short_description") if n in interface}
    made = dict(given)
    if words:
        made["ui"] = {**_texts(words), **_mapping(given.get("ui"))}
        changes.translated.append(f"{_OPENAI}: {', '.join(words)} into ui")
    if policy.get("allow_implicit_invocation") == "false":
        made["activation"] = "manual"
        changes.translated.append(f"{_OPENAI}: allow_implicit_invocation into activation: manual")
    changes.removed.append(f"{_OPENAI}, which no other program here reads")
    return made


_INTO_METADATA = frozenset({"version", "author", "tags", "category", "homepage", "repository"})


def _normalise_keys(given: Mapping[str, Any], changes: _Changes) -> dict[str, Any]:
    """Front matter in the keys that Silas knows; what each other one became, or that it is gone."""
    data: dict[str, Any] = {}
    metadata: dict[str, Any] = dict(_mapping(given.get("metadata")))
    for key, value in given.items():
        if key == "name":
            data[key] = _name(value, changes)
        elif key in _INTO_METADATA:
            metadata.setdefault(key, value)
            changes.translated.append(f"{key} into metadata")
        elif key == "dependencies":
            data.setdefault("requirements", _list(value))
            changes.translated.append("dependencies into requirements")
        elif key == "disable-model-invocation" and value == "true":
            data["activation"] = "manual"
            changes.translated.append(f"{key} into activation: manual")
        elif key in KEYS and key not in ("allowed-tools", "metadata"):
            data[key] = value
        elif key != "metadata" or not isinstance(value, dict):
            changes.removed.append(f"{ascii(key)[1:-1][:_SHOWN]}: {_short(value)}")
    if metadata:
        data["metadata"] = _texts(metadata)
    return data


def _name(value: Any, changes: _Changes) -> Any:
    if not isinstance(value, str) or NAME.fullmatch(value):
        return value
    plain = re.sub(r"[^a-z0-9]+", "-", value.lower())[:64].strip("-")
    changes.translated.append(f"name {_short(value)} into {plain}")
    return plain


def _skill_file(data: Mapping[str, Any], body: str) -> bytes:
    """`SKILL.md` anew: every value as JSON, which YAML reads as the same text."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()]
    return "\n".join(("---", *lines, "---", "", body, "")).encode("utf-8")


def _adapt_script(
    path: str, file: SkillFile, kept: dict[str, SkillFile], changes: _Changes
) -> None:
    """A shell's script gets a Python entry point; another program's waits for a person."""
    shell = _shell_of(file)
    if not shell:
        if _OTHER_PROGRAMS.fullmatch(path):
            changes.unresolved.append(f"{path}: no Python; it is kept as a file")
        return
    entry = str(PurePosixPath(path).with_suffix(".py"))
    if entry in kept:
        changes.unresolved.append(f"{path}: {entry} is there already, so it has no entry point")
        return
    text = _WRAPPER.format(name=PurePosixPath(path).name, shell=shell)
    kept[entry] = SkillFile(entry, text.encode("utf-8"))
    changes.rewritten.append(f"{path} is started by {entry}")


def _shell_of(file: SkillFile) -> str:
    """The shell that a script is for; empty where it is for none."""
    first = file.raw.partition(b"\n")[0]
    if found := _SHELL.match(first):
        return "bash" if found[1] == b"bash" else "sh"
    suffix = PurePosixPath(file.path).suffix
    return {".sh": "sh", ".bash": "bash"}.get(suffix, "")


def _filled_in(body: str) -> Iterator[str]:
    """Places that other programs fill in while they read; here they stay text (spec R13)."""
    for number, line in enumerate(body.split("\n"), 1):
        if found := _FILLED_IN.search(line):
            yield f"line {number} of the instructions: {_short(found[0])} stays text, nothing runs"


def _mapping(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[str]:
    given = cast(list[Any], value) if isinstance(value, list) else [value]
    return [_text(one) for one in given]


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {key: _text(value) for key, value in values.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    return ascii(_text(value))[:_SHOWN]
