"""What really runs in a sandbox: asked once inside, kept by the digest of what was shown there.

Names come from the table here, versions are digits and dots: a program of a workspace that answers
with a sentence cannot speak to a model through this.
"""

import asyncio
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from silas.canonical import canonical_bytes, sha256_hex
from silas.errors import SilasError
from silas.sandbox.models import SandboxFiles, SandboxLimits
from silas.sandbox.port import Sandbox
from silas.sandbox.searchpath import SYSTEM
from silas.sandbox.toolchains.mounts import ToolSearch, make_masks, mounts_of
from silas.sandbox.toolchains.table import version_in
from silas.types import new_id

MODULES: Final = ("pytest", "ruff", "mypy")
"""Programs that are often a module of the interpreter alone."""

_SILENT: Final = ":"
BASICS: Final = ("sh", "awk", "diff", "find", "grep", "sed", "sort", "tar", "wc")
"""Told shortly where all are there: a model that misses them in the list does without them."""

COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("python", "python3", *MODULES, "uv", "git", "make", "node"), "--version"),
    **dict.fromkeys(("gcc", "clang", "deno", "bun", "cargo", "rustc", "ruby", "php"), "--version"),
    **dict.fromkeys(("pip", "npm", "npx", "tsc", "mvn", "dotnet", "pandoc", "cmake"), _SILENT),
    **dict.fromkeys(("perl", "jq", "rg", "curl", "zip", "unzip", "sqlite3"), _SILENT),
    **dict.fromkeys(("pdftotext", "exiftool", "convert", "ffmpeg"), _SILENT),
    **dict.fromkeys(BASICS, _SILENT),
    "go": "version",
    "java": "-version",
}
"""What is looked for, and how its version is asked; of what answers slowly it is not."""

TOLD_MISSING: Final = (*("python", "pytest", "git", "make", "gcc", "node", "npm", "cargo", "go"),)
"""Whose absence is worth a word: what a plan would name by habit."""

Versions = Mapping[str, str]
"""By command, or `python -m MODULE`; empty where it said none."""

NOTHING: Versions = {}

_LIMITS = SandboxLimits(wall_seconds=20.0, cpu_seconds=10, memory_mb=2048, processes=256)
_PLACE = Path("/work")
_KEPT = 50  # environments; the oldest go first
_FORM = re.compile(r"(?:\d[\d.]{0,40})?")
_MODULE = "python -m "


def _script() -> str:
    """Ask all at once; each answers into a file of its own."""
    asks = [_ask(name, name, how) for name, how in COMMANDS.items()]
    asks += [_ask(f"m.{name}", f"python -m {name}", "--version") for name in MODULES]
    told = 'wait; for f in *; do echo "$f $(cat "$f")"; done'
    return "\n".join(("mkdir /tmp/said; cd /tmp/said", *asks, told))


def _ask(name: str, command: str, how: str) -> str:
    """A line that leaves a file where the command runs, with its first line that has a number."""
    there = f"command -v {command.partition(' ')[0]} >/dev/null"
    if how == _SILENT:
        return f"{there} && : > {name}"
    answer = f"said=$(timeout 8 {command} {how} </dev/null 2>&1)"
    return f"{there} && ({answer} && echo \"$said\" | grep -m1 '[0-9]' > {name}) &"


class ToolProbe:
    """Runs the questions in the sandbox, with the tools of a workspace and nothing else of it.

    Args:
        sandbox: Where work runs.
        tools: What is shown there.
        place: Where answers are kept.
        masks: See `make_masks`; a place that a sandbox may be shown.
    """

    def __init__(self, sandbox: Sandbox, tools: ToolSearch, place: Path, masks: Path) -> None:
        self._sandbox = sandbox
        self._tools = tools
        self._place = place
        self._masks = masks
        self._asking = asyncio.Lock()

    async def versions(self, workspace: str | None) -> Versions:
        """What runs there; nothing where there is no sandbox to ask in."""
        facts = await asyncio.to_thread(self._tools.find_tools, workspace)
        kept = self._place / f"{_digest(facts, self._sandbox.name)}.json"
        async with self._asking:
            if (known := await asyncio.to_thread(_read, kept)) is not None:
                return known
            try:
                files = SandboxFiles(cwd=_PLACE)
                if facts:
                    masks = await asyncio.to_thread(make_masks, self._masks)
                    shown = mounts_of(facts, workspace, masks)
                    files = shown.add_to(files)
                said = await self._sandbox.run(["/bin/sh", "-c", _script()], _LIMITS, files)
            except SilasError:  # there is no sandbox, or Silas is stopped
                return NOTHING
            if not said.ok:
                return NOTHING  # asked again next time
            found = parse(said.stdout)
            await asyncio.to_thread(_keep, kept, found)
            return found


def parse(said: str) -> dict[str, str]:
    """Versions from the answers; what is not in the table here is left out."""
    found: dict[str, str] = {}
    for line in said.splitlines():
        name, _, answer = line.partition(" ")
        module = name.removeprefix("m.")
        if name in COMMANDS:
            found[name] = version_in(answer)
        elif name != module and module in MODULES:
            found[_MODULE + module] = version_in(answer)
    return found


def _digest(facts: Mapping[str, Any], backend: str) -> str:
    """Of everything that decides what runs, and of what is asked for."""
    times = [_changed_at(place) for place in SYSTEM]
    return sha256_hex(canonical_bytes([facts, backend, list(map(str, times)), sorted(COMMANDS)]))


def _changed_at(place: str) -> int:
    with suppress(OSError):
        return os.stat(place).st_mtime_ns
    return 0


def _read(path: Path) -> dict[str, str] | None:
    """What was kept, if it has the form of what this module keeps."""
    try:
        told: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(told, dict):
        return None
    answers = cast(dict[str, Any], told)
    known = {*COMMANDS, *(_MODULE + name for name in MODULES)}
    good = all(
        name in known and isinstance(version, str) and _FORM.fullmatch(version)
        for name, version in answers.items()
    )
    return answers if good else None


def _keep(path: Path, found: Versions) -> None:
    with suppress(OSError):  # it is only asked again
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f".{new_id('probe')}")
        fresh.write_text(json.dumps(dict(found)), encoding="utf-8")
        fresh.replace(path)
        kept = sorted(path.parent.glob("*.json"), key=lambda one: one.stat().st_mtime_ns)
        for old in kept[:-_KEPT]:
            old.unlink()


_USUAL_COMMANDS: Final = "coreutils, awk, grep, sed, tar"


def describe_versions(versions: Versions) -> str:
    """What runs, in one line: `python 3.11.2 (also python3), git 2.39.5, python -m pytest 8.3`."""
    same = versions.get("python", "-") == versions.get("python3", "+")
    usual = set(BASICS) <= set(versions)
    parts: list[str] = [_USUAL_COMMANDS] if usual else []
    for name, version in versions.items():
        if usual and name in BASICS:
            continue
        module = name.removeprefix(_MODULE)
        if (name == "python3" and same) or (name != module and module in versions):
            continue
        also = " (also python3)" if name == "python" and same else ""
        parts.append(f"{name} {version}".rstrip() + also)
    return ", ".join(parts)


def missing_habits(versions: Versions) -> str:
    """What a plan would name by habit and is not there."""
    runs = {name.removeprefix(_MODULE) for name in versions}
    return ", ".join(name for name in TOLD_MISSING if name not in runs)
