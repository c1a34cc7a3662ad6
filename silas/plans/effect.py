"""What a plan does, for a person who reads one sentence: made from the signed fields alone.

No word of the sentence is a model's: it says what may change, where, what may leave this machine
and whether it can be undone (spec 0.5.2, 0.5.3). The risk follows from the same three facts.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import commonpath
from typing import Any, Final, NamedTuple

from silas.approval.grants import GrantRefused, grants_of
from silas.language import tr, tr_later, tr_many
from silas.plans.characters import as_code, show_exactly
from silas.plans.goals.limits import CHECKS_NOTHING, SPAWNS, TIDIES
from silas.plans.writes import WILD, by_kind
from silas.types import Risk

Plan = Mapping[str, Any]
"""A plan as its canonical bytes have it."""

_MOST_NAMED: Final = 2  # hosts, folders and paths that one sentence names; of more it says how many
_LONGEST: Final = 40  # characters of a name in the sentence; the whole of it stands below

MOST_ALONE: Final = 3
"""Paths that may change with a line of the card each; more of them stand together by folder."""

_MOST_LINES: Final = 3  # folders with a line each; more of them stand in one line
_DEEPEST: Final = 8  # levels of folders that are told apart

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")

_IN_CHECKED_WORK = tr_later("anywhere in the workspace, once its checks have passed")
_WITHOUT_CHECKS = tr_later(
    "nothing; what it changes is shown to you first, because it has no checks"
)


class PlanEffect(NamedTuple):
    """What a plan may do beyond its own sandbox.

    Attributes:
        changes: It may change files of the owner without asking.
        leaves: What may carry data out, in words; empty where nothing can.
        repeats: It goes on to start further work: a goal or a project.
    """

    changes: bool
    leaves: tuple[str, ...]
    repeats: bool


def effect_of(plan: Plan) -> PlanEffect:
    """The three facts that decide a plan's risk (spec 0.5.2: scope and reversibility)."""
    repeats = plan["type"] != "task" and plan.get("cycle") != TIDIES  # which has a card for each
    return PlanEffect(_may_change(plan), _ways_out(plan), repeats)


def risk_of(plan: Plan) -> Risk:
    """Risk by what a plan may do, never by what it says about itself.

    High: a network, granted tools, a worker or a secret may let something leave this machine, which
    nothing takes back; or it goes on to start further work. Medium: it changes files in a
    workspace, which undo restores. Low: a sandbox without a network, and changes nothing.
    """
    effect = effect_of(plan)
    if effect.leaves or effect.repeats:
        return Risk.high
    return Risk.medium if effect.changes else Risk.low


def effect_sentence(plan: Plan) -> str:
    """What happens, where, what may leave this machine, and whether it can be undone.

    Without a network means the commands and tools of the work; which model is asked, and where it
    runs, is no field of a plan.
    """
    effect = effect_of(plan)
    out = (
        tr("; it {ways}", ways=_join_parts(effect.leaves))
        if effect.leaves
        else tr(", without a network")
    )
    return f"{_does(plan)}{out}; {_undo(effect)}."


def project_sentence(project: Plan, tasks: Sequence[Plan]) -> str:
    """The same of a project: what all of its tasks together may do.

    Args:
        project: Its own plan, whose checks may reach a network.
        tasks: The plans of its tasks.
    """
    effects = [effect_of(plan) for plan in (project, *tasks)]
    ways = tuple(dict.fromkeys(way for effect in effects for way in effect.leaves))
    changes = sum(effect_of(task).changes for task in tasks)
    does = tr(
        "Does {many}, of which {changes} may change your files",
        many=tr_many(len(tasks), "{count} task", "{count} tasks"),
        changes=changes or tr("none"),
    )
    out = tr("; it {ways}", ways=_join_parts(ways)) if ways else tr(", without a network")
    return f"{does}{out}; {_undo(PlanEffect(bool(changes), ways, repeats=True))}."


def proof_line(plan: Plan) -> str:
    """What decides whether it worked, as one line of a card; the commands stand further down."""
    names = [f"`{_name(str(check['name']))}`" for check in plan["verify"]]
    return (
        tr("proved by: {names}", names=_join_parts(names))
        if names
        else tr("proved by: nothing, it has no checks")
    )


def change_lines(plan: Plan) -> tuple[str, ...]:
    """What of the workspace it may change without being asked about again (decision B22).

    Every path is named, and of many how many there are: patterns first, since they reach further,
    then the files by folder.
    """
    writes: list[str] | None = plan.get("writes")
    if writes is None:
        unset = tr(_IN_CHECKED_WORK if plan["verify"] else _WITHOUT_CHECKS)
        return (
            tr(
                "may change: {unset}",
                unset=unset if plan.get("workspace") else tr("nothing of yours"),
            ),
        )
    alone = len(writes) <= MOST_ALONE
    lines = tuple(map(_change, writes)) if alone else tuple(_together(writes))
    if lines and not plan["verify"]:
        lines += (tr("  (shown to you first, because it has no checks)"),)
    return lines or (tr("may change: nothing"),)


def _change(entry: str) -> str:
    return tr("may change: {entry}", entry=as_code(entry))


def _together(writes: Sequence[str]) -> Iterator[str]:
    patterns = [entry for entry in writes if WILD & set(entry)]
    files = [entry for entry in writes if not WILD & set(entry)]
    if len(patterns) <= MOST_ALONE:
        yield from map(_change, patterns)
    else:
        yield tr(
            "may change what fits {count} patterns: {patterns}",
            count=len(patterns),
            patterns=", ".join(map(as_code, patterns)),
        )
    if len(files) > _MOST_LINES and _are_called_alike(files):
        yield _one_name(files)
        return
    inside = commonpath([file.rpartition("/")[0] for file in files] or [""])
    folders = _folders(files)
    if inside and len(_to_depth(files, _DEEPEST)) > _MOST_LINES:
        below = _folders([file.removeprefix(f"{inside}/") for file in files])
        yield tr(
            "may change {count} files in {folder}: {names}",
            count=len(files),
            folder=as_code(f"{inside}/"),
            names="; ".join(_parts(below)),
        )
        return
    if len(folders) <= _MOST_LINES:
        for folder, names in folders.items():
            path = as_code(f"{folder}/") if folder else tr("the workspace itself")
            yield (
                _change("/".join(filter(None, (folder, names[0]))))
                if len(names) == 1
                else tr(
                    "may change {count} files in {folder}: {names}",
                    count=len(names),
                    folder=path,
                    names=", ".join(map(_path_in_list, names)),
                )
            )
        return
    yield tr(
        "may change {count} files: {parts}", count=len(files), parts="; ".join(_parts(folders))
    )


def _are_called_alike(files: Sequence[str]) -> bool:
    return len({file.rpartition("/")[2] for file in files}) == 1 and all("/" in x for x in files)


def _one_name(files: Sequence[str]) -> str:
    """Files that are all called the same, by their folders below the one that holds these all."""
    above = sorted({file.rpartition("/")[0] for file in files})
    inside = commonpath(above)
    inside = inside if inside and inside not in above else ""
    folders = [
        _path_in_list(folder.removeprefix(f"{inside}/" if inside else "") + "/") for folder in above
    ]
    words = {
        "name": as_code(files[0].rpartition("/")[2]),
        "count": len(folders),
        "folders": ", ".join(folders),
    }
    if not inside:
        return tr("may change {name} in {count} folders: {folders}", **words)
    return tr(
        "may change {name} in {count} folders of {folder}: {folders}",
        folder=as_code(f"{inside}/"),
        **words,
    )


def _parts(folders: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The files of each folder, those that are alone in theirs with their whole path."""
    for folder, names in folders.items():
        if len(names) == 1 or not folder:
            yield ", ".join(_path_in_list(f"{folder}/{name}" if folder else name) for name in names)
        else:
            yield tr(
                "in {folder}: {names}",
                folder=as_code(f"{folder}/"),
                names=", ".join(map(_path_in_list, names)),
            )


def _path_in_list(path: str) -> str:
    """A path in a list of many: quoted only where something in it needs that."""
    return path if _PLAIN.fullmatch(path) else as_code(path)


def _folders(files: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The files by folder, in the order of the folders; where these are many, told apart only as
    deep as takes least room.
    """
    ways = [_to_depth(files, depth) for depth in range(_DEEPEST, -1, -1)]
    if len(ways[0]) <= _MOST_LINES:
        return ways[0]
    return min(ways, key=lambda way: sum(map(len, _parts(way))) + 2 * len(way))


def _to_depth(files: Sequence[str], depth: int) -> Mapping[str, Sequence[str]]:
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        *above, _ = file.split("/")
        folder = "/".join(above[:depth])
        folders[folder].append(file.removeprefix(f"{folder}/") if folder else file)
    return dict(sorted(folders.items()))


def _may_change(plan: Plan) -> bool:
    """Whether its changes of the owner's files are applied without another question (B22)."""
    return bool(plan.get("workspace")) and bool(plan["verify"]) and plan.get("writes") != []


def _ways_out(plan: Plan) -> tuple[str, ...]:
    hosts = [f"`{_name(host)}`" for host in plan.get("network", [])]
    tools = sorted({f"`{_name(tool)}`" for raw in plan.get("tools", []) for tool in _tool(raw)})
    ways: list[str] = []
    if hosts:
        ways.append(tr("may send data to {hosts}", hosts=_join_parts(hosts)))
    elif any(check["network"] for check in plan["verify"]):
        ways.append(tr("may reach a network in its checks"))
    if plan.get("tools"):
        ways.append(
            tr("may call {tools}", tools=_join_parts(tools) if tools else tr("further tools"))
        )
    if plan.get("worker"):
        ways.append(
            tr("is done by the worker `{name}` with its tools", name=_name(str(plan["worker"])))
        )
    if plan.get("credential_refs"):
        ways.append(
            tr(
                "is given {many} of yours",
                many=tr_many(len(plan["credential_refs"]), "{count} secret", "{count} secrets"),
            )
        )
    return tuple(ways)


def _does(plan: Plan) -> str:
    """The first part: the verb, and the place."""
    if plan.get("cycle") == TIDIES:
        place = _in(plan)
        return tr("Looks at files{place} by the clock and asks you batch by batch", place=place)
    if plan.get("cycle"):
        lowered = _lower_first(_work_words(plan))
        return tr("By the clock, without asking each time: {lowered}", lowered=lowered)
    if plan["type"] == "goal":
        if not plan["verify"]:
            return tr(CHECKS_NOTHING)
        if plan["on_failure"] != SPAWNS:
            checks = tr_many(len(plan["verify"]), "{count} check", "{count} checks")
            return tr(
                "Runs {checks}{words} by the clock and tells you what fails",
                checks=checks,
                words=_in(plan),
            )
        starts = tr(
            "Starts work by itself{words} each time one of its checks fails", words=_in(plan)
        )
        if not _may_change(plan):
            return starts
        return starts + tr("; that work may change {changed}", changed=_changed_words(plan))
    if plan["type"] == "project":
        return tr(
            "Does {many}{words}",
            many=tr_many(len(plan.get("tasks", [])), "{count} task", "{count} tasks"),
            words=_in(plan),
        )
    return _work_words(plan)


def _work_words(plan: Plan) -> str:
    """What the work of a task does, or of a goal that does its own work when it is due."""
    place = plan.get("workspace")
    if not place:
        read = [f"`{_name(path)}`" for path in plan.get("read", [])]
        where = (
            tr("Reads {read}", read=_join_parts(read))
            if read
            else tr("Works in an empty folder of its own")
        )
        return tr("{where} and changes nothing of yours", where=where)
    if plan.get("writes") == []:
        return tr(
            "Reads `{place}`, works on a copy and changes nothing of yours", place=_name(place)
        )
    if not plan["verify"]:
        return tr(
            "Works on a copy of `{place}` and asks you again before anything is changed",
            place=_name(place),
        )
    after = tr(
        "after {checks} passed",
        checks=tr_many(len(plan["verify"]), "{count} check", "{count} checks"),
    )
    return tr(
        "Changes {changed} in `{place}` {after}",
        changed=_changed_words(plan),
        place=_name(place),
        after=after,
    )


def _lower_first(words: str) -> str:
    return words[:1].lower() + words[1:]


def _in(plan: Plan) -> str:
    return tr(" in `{name}`", name=_name(plan["workspace"])) if plan.get("workspace") else ""


def _changed_words(plan: Plan) -> str:
    writes: Sequence[str] | None = plan.get("writes")
    if writes is None or (kinds := by_kind(writes)).all:
        return tr("files")
    endings, folders, others = ([f"`{_short(x)}`" for x in kind] for kind in kinds[1:])
    ends = [tr("files ending in {endings}", endings=_join_parts(endings))] if endings else []
    within = [tr("files in {folders}", folders=_join_parts(folders))] if folders else []
    return _join_parts([*ends, *within, *others])


def _undo(effect: PlanEffect) -> str:
    if effect.leaves:
        return tr("what leaves it cannot be undone") + (
            tr(", file changes can") if effect.changes else ""
        )
    return tr("you can undo it") if effect.changes else tr("nothing to undo")


def _tool(raw: object) -> tuple[str, ...]:
    try:
        return tuple(grant.tool for grant in grants_of([raw]))
    except GrantRefused:
        return ()


def _name(path: str) -> str:
    """The last part of a path, or a name."""
    return _short(PurePosixPath(path).name or path)


def _short(text: str) -> str:
    """Short enough for a sentence, and unable to close the quotes around it."""
    shown = show_exactly(text).replace("`", "<U+0060>")
    return shown if len(shown) <= _LONGEST else f"{shown[:24]}...{shown[-12:]}"


def _join_parts(parts: Sequence[str]) -> str:
    """`a`, `a and b`, or `a, b and 3 more`."""
    if len(parts) <= _MOST_NAMED:
        return tr(" and ").join(parts)
    return tr(
        "{named} and {more} more",
        named=", ".join(parts[:_MOST_NAMED]),
        more=len(parts) - _MOST_NAMED,
    )
