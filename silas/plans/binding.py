"""What an approval binds besides the plan's bytes: what those bytes only name (decision B2).

A plan names directories, files, skills and a worker, and runs under the limits of the
configuration. None of that is in its bytes, so it is read when the plan is proposed, signed as the
token's condition `binds`, and read again before every effect: any difference refuses. The files of
the workspace that the plan runs are compared until the run starts, the last time in the private
copy that it works on; from then on they are the work's own to change.

What this does not see: a change that is taken back before the next look, the content of a directory
(work happens on a private copy, and the diff shows what became of it), and another directory in
place of a removed one to which the file system gave the same inode.

Facts of the owner's tools are in `binds` where the plan uses any. Compared are the
list of programs and `pyvenv.cfg`, not every library: hashing thousands of files before each call
costs seconds, and they are read-only to the work.
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from silas.approval import Verdict
from silas.audit import Audit
from silas.canonical import canonical_json
from silas.errors import ApprovalError, ConfigError, SandboxError
from silas.language import tr, tr_later
from silas.plans.bound_files import files_in_copy, files_now, files_of, is_live
from silas.plans.models import WorkItem
from silas.plans.places import PlanPath, fault_of, no_directory, places_of
from silas.sandbox import SandboxLimits
from silas.sandbox.mounts import pin
from silas.sandbox.toolchains.mounts import ToolSearch
from silas.skills import Skills

BINDS = "binds"
"""The condition of a token that carries the binding."""

CODE = "E_APPROVAL_BINDING"

_HASHED_BYTES = 64 << 20  # of a file; a larger one is data, and is known by its inode and times
_HOLDS = Verdict(True, "Valid")

Facts = Mapping[str, Any]
"""Plain JSON: paths with what they are, skill files with their digests, the sandbox."""

READS: Final = "what it reads"  # of a model; of a server its hosts are signed
SERVER: Final = "server "  # before its name

ShownTo = Callable[[WorkItem], Facts]
"""Who outside this machine is shown what the work on an item reads, and the hosts of each server
whose tools the plan grants; raises `ConfigError`.
"""


def nobody_outside(item: WorkItem) -> Facts:
    """Every model answers on this machine, and no server is elsewhere."""
    del item
    return {}


class Grants(NamedTuple):
    """What the configuration gives every run.

    Attributes:
        backend: The sandbox's name.
        limits: What a sandboxed run may use.
        shown_to: Who is shown what it reads.
    """

    backend: str
    limits: SandboxLimits
    shown_to: ShownTo = nobody_outside


class TeamFacts(NamedTuple):
    """What an approval binds of a worker and of everybody it may delegate to.

    Attributes:
        digests: Hex SHA-256 of each one's file, by name.
        skills: The skills that these files name.
    """

    digests: Mapping[str, str]
    skills: tuple[str, ...]


_NOBODY = TeamFacts({}, ())

TeamOf = Callable[[str], TeamFacts]
"""The team of a worker, as its files are now; raises `ConfigError`."""


def no_workers(name: str) -> TeamFacts:
    """There are none, so a plan that names one binds nothing and is refused."""
    raise ConfigError(f"There is no worker {name!r} here.", code="E_CFG_WORKER")


class PlanBinding:
    """Reads what a plan would run, and compares it with what its token binds."""

    def __init__(
        self, skills: Skills, grants: Grants, audit: Audit, workers: TeamOf, tools: ToolSearch
    ) -> None:
        self._skills = skills
        self._grants = grants
        self._audit = audit
        self._workers = workers
        self._tools = tools
        self._left: dict[str, Facts] = {}

    async def of(self, item: WorkItem) -> dict[str, Any]:
        """The conditions that an approval of this item signs, as things are now.

        Raises:
            ApprovalError: `E_APPROVAL_BINDING`: a path is missing, unreadable, or led by a link.
        """
        files = await asyncio.to_thread(files_of, item)
        tools = await asyncio.to_thread(self._tools.find_tools, item.workspace)
        return {BINDS: await self._bind_item(item, files, tools)}

    async def _bind_item(self, item: WorkItem, files: Facts, tools: Facts) -> dict[str, Any]:
        named = tuple(places_of(item))
        # reading a file of some megabytes would hold up everything else
        paths = await asyncio.to_thread(_identities, named) if named else {}
        team = self._team(item)
        wanted = (*item.skills, *team.skills)
        skills = await asyncio.to_thread(self._skills.digests, wanted) if wanted else {}
        return binding_facts(item, paths, skills, self._grants, team.digests, files, tools)

    def _team(self, item: WorkItem) -> TeamFacts:
        if item.worker is None:
            return _NOBODY
        try:
            return self._workers(item.worker)
        except ConfigError as error:
            raise ApprovalError(error.message, code=CODE) from error

    def accept(self, token_id: str, left: Facts) -> None:
        """Compare an approval with other files than those it was signed with: those that approved
        work before it left (decision D530).

        Args:
            token_id: Of the approval.
            left: Its condition `binds`, the changed files in place of the signed ones.
        """
        self._left[token_id] = left

    async def check(self, item: WorkItem, copied: tuple[int, int] | None) -> Verdict:
        """Whether everything still is what the item's token binds; a difference is audited.

        A token without the condition binds nothing but its plan; whether it is signed is the
        approval engine's question.

        Args:
            item: With its token.
            copied: Device and inode of the directory that was copied as the workspace, None before
                it is. Once it is, the files of the workspace that the plan runs are not asked about
                any more: they are the work's own to change.
        """

        def now(files: Facts) -> Facts:
            live = [path for path in files if copied is None or is_live(item, path)]
            return {**files, **files_now(item, live)}

        return await self._check_bound(item, copied, now)

    async def why_lapsed(self, item: WorkItem) -> str:
        """Why an approval covers nothing as things are now, in one sentence, or nothing.

        For a list of approvals: it is written nowhere, and the sandbox's name is not asked for,
        which `check` compares when something is to run.
        """
        token = item.approval_token
        if token is None or BINDS not in token.conditions:
            return ""
        signed = token.conditions[BINDS]
        try:
            now = await self._now(item, signed, lambda files: files_now(item, files))
        except ApprovalError as error:
            return error.message
        backend = _part(signed, "sandbox").get("backend")
        return difference(signed, {**now, "sandbox": {**now["sandbox"], "backend": backend}})

    async def _now(
        self, item: WorkItem, signed: object, files_of_now: Callable[[Facts], Facts]
    ) -> dict[str, Any]:
        files = await asyncio.to_thread(files_of_now, _part(signed, "files"))
        tools = self._tools.now
        found = await asyncio.to_thread(tools, _part(signed, "tools"), item.workspace)
        return await self._bind_item(item, files, found)

    async def check_copy(self, item: WorkItem, copied: tuple[int, int], copy: Path) -> Verdict:
        """The same before the work begins, with the files that the plan runs as `copy` has them,
        where nobody but the work changes them.
        """
        return await self._check_bound(item, copied, lambda files: files_in_copy(item, files, copy))

    async def _check_bound(
        self, item: WorkItem, copied: tuple[int, int] | None, now: Callable[[Facts], Facts]
    ) -> Verdict:
        token = item.approval_token
        if token is None or BINDS not in token.conditions:
            return _HOLDS
        signed = self._left.get(token.token_id, token.conditions[BINDS])
        try:
            differs = difference(signed, await self._now(item, signed, now))
        except ApprovalError as error:
            differs = error.message
        if not differs and copied is not None:
            differs = _another_copied(signed, item, copied)
        if not differs:
            return _HOLDS
        await self._audit.log(
            "approval.refused",
            step="binding",
            code=CODE,
            token_id=token.token_id,
            work_item_id=item.id,
            digest=token.plan_hash,
            why=differs,
        )
        return Verdict(False, differs, CODE)


def binding_facts(
    item: WorkItem,
    paths: Facts,
    skill_digests: Mapping[str, str],
    grants: Grants,
    workers: Mapping[str, str],
    files: Facts,
    tools: Facts,
) -> dict[str, Any]:
    """The binding as plain JSON, whose canonical form is what is signed and compared.

    Workers, files, tools and who is shown what is read are in it only where there are any, so that
    other approvals stay what they were.
    """
    shown = shown_now(item, grants.shown_to)
    return {
        **({"shown_to": shown} if shown else {}),
        **({"workers": dict(workers)} if workers else {}),
        **({"files": dict(files)} if files else {}),
        **({"tools": dict(tools)} if tools else {}),
        "paths": dict(paths),
        "skills": dict(skill_digests),
        "sandbox": {
            "backend": grants.backend,
            "limits": grants.limits.model_dump(mode="json"),
            "network": list(item.network),
        },
    }


def shown_now(item: WorkItem, shown_to: ShownTo) -> Facts:
    """Who outside this machine would be shown what the work reads, as an approval signs it."""
    return dict(shown_to(item))


AFTER_YES: Final = tr_later("after the plan was approved")
BEFORE_YES: Final = tr_later("between the plan's card and your yes")
"""When what an approval binds changed."""


def difference(signed: object, now: Facts, when: str = AFTER_YES) -> str:
    """What is not as it was signed, in one sentence; nothing where all is the same.

    Args:
        signed: What an approval binds, or would.
        now: The same as it is now.
        when: `AFTER_YES` or `BEFORE_YES`.
    """
    if _same(signed, now):
        return ""
    for part, words in _WORDS.items():
        for name in _differing(_part(signed, part), _part(now, part)):
            return tr(words, what=name, when=tr(when))
    return tr("What the approval binds is not what would run; ask again.")


_WORDS: Mapping[str, str] = {
    "paths": tr_later("{what} changed {when}; look at it and ask again."),
    "files": tr_later("{what}, which the plan runs, changed {when}; look at it and ask again."),
    "tools": tr_later("The tools in {what} changed {when}; look at them and ask again."),
    "skills": tr_later("The skill file {what} changed {when}; ask again."),
    "workers": tr_later("The file of the worker {what} changed {when}; ask again."),
    "shown_to": tr_later("Who is shown what the work reads changed {when} ({what}); ask again."),
    "sandbox": tr_later("The sandbox's {what} changed {when}; ask again."),
}


def shown_signed(conditions: Facts) -> Facts:
    """Who outside this machine is shown what the work reads, as an approval signs it."""
    return _part(conditions.get(BINDS), "shown_to")


def bound_shown(item: WorkItem) -> Facts:
    """The same of an item's token."""
    token = item.approval_token
    return {} if token is None else shown_signed(token.conditions)


def bound_files(item: WorkItem) -> Facts:
    """The files that an item's token binds, as they were; nothing where it binds none."""
    token = item.approval_token
    return {} if token is None else files_signed(token.conditions)


def bound_tools(item: WorkItem) -> Facts:
    """The owner's tools that an item's token binds: its runs see these and no others."""
    token = item.approval_token
    return {} if token is None else tools_signed(token.conditions)


def tools_signed(conditions: Facts) -> Facts:
    """The same of the conditions that an approval signs."""
    return _part(conditions.get(BINDS), "tools")


def files_signed(conditions: Facts) -> Facts:
    """The same of the conditions that an approval signs."""
    return _part(conditions.get(BINDS), "files")


def bound_workers(item: WorkItem) -> Facts:
    """The digests of workers' files that an item's token binds; nothing where it binds none."""
    token = item.approval_token
    return {} if token is None else _part(token.conditions.get(BINDS), "workers")


def bound_skills(item: WorkItem) -> Facts:
    """The digests of skills' files that an item's token binds; nothing where it binds none."""
    token = item.approval_token
    return {} if token is None else _part(token.conditions.get(BINDS), "skills")


def _part(facts: object, name: str) -> Facts:
    found = cast(Facts, facts).get(name) if isinstance(facts, Mapping) else None
    return cast(Facts, found) if isinstance(found, Mapping) else {}


def _differing(signed: Facts, now: Facts) -> list[str]:
    names = sorted(map(str, signed.keys() | now.keys()))
    return [name for name in names if not _same(signed.get(name), now.get(name))]


def _same(signed: object, now: object) -> bool:
    try:
        return canonical_json(signed) == canonical_json(now)
    except (TypeError, ValueError, RecursionError):
        return False  # what is not JSON was never signed


def _another_copied(signed: object, item: WorkItem, copied: tuple[int, int]) -> str:
    facts = _part(_part(signed, "paths"), item.workspace or "")
    if (facts.get("device"), facts.get("inode")) == copied:
        return ""
    return tr(_WORDS["paths"], what=item.workspace or "", when=tr(AFTER_YES))


def _identities(places: tuple[PlanPath, ...]) -> dict[str, Any]:
    return {place.path: _identity(place) for place in places}


def _identity(place: PlanPath) -> dict[str, Any]:
    """A directory by device and inode, a file by its content; nothing that a link leads to."""
    path = place.path
    try:
        descriptor = pin(Path(path))
    except SandboxError as error:
        raise ApprovalError(fault_of(place, error), code=CODE) from error
    try:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            return {"kind": "directory", "device": facts.st_dev, "inode": facts.st_ino}
        if place.field == "workspace":
            raise ApprovalError(no_directory(place), code=CODE)
        return _file_identity(descriptor, facts)
    except OSError as error:
        raise ApprovalError(f"{path} cannot be read: {error.strerror}.", code=CODE) from error
    finally:
        os.close(descriptor)


def _file_identity(descriptor: int, facts: os.stat_result) -> dict[str, Any]:
    if facts.st_size > _HASHED_BYTES:
        return {
            "kind": "large file",
            "device": facts.st_dev,
            "inode": facts.st_ino,
            "size": facts.st_size,
            "changed_ns": [facts.st_mtime_ns, facts.st_ctime_ns],
        }
    with Path(f"/proc/self/fd/{descriptor}").open("rb") as file:  # what was pinned, no other
        return {"kind": "file", "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
