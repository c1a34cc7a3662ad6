"""Which changes of a run wait for the owner's word, and why (decision B22): a pure rule.

Whether text from outside was followed decides how closely changes are looked at: after it, what
deletes, what runs by itself, and what decides about tests is applied without a question only where
the plan names it. An entry of `writes` names exactly the path that it is. A pattern covers paths
and names none, but for deleting what programs make again by themselves (decision D361).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from silas.plans.writes import WILD, literal_parts, matches, matches_any
from silas.workspace.content import ChangedContent
from silas.workspace.journal import Change
from silas.workspace.protected import plainest, protection


class HeldPath(NamedTuple):
    """One path that waits, and why, in words for its owner."""

    path: str
    why: str


class Rules(NamedTuple):
    """What the plan says of its changes.

    Attributes:
        writes: As `WorkItem.writes`.
        checked: Whether the plan has checks.
        led: Whether a call followed something that was read from outside.
        runs: The changed files that its checks or blocks run, each with why; see `run_files`.
        demands: The words that its checks look for, by the file in which they do.
        words: What it says, as `name_words` of its title, body, checks and `writes`.
    """

    writes: Sequence[str] | None
    checked: bool
    led: bool
    runs: Mapping[str, str]
    demands: Mapping[str, frozenset[str]]
    words: frozenset[str]


_ANYWHERE = ("**",)

_HOOKS = (
    *("hooks", ".hooks", "githooks", "git-hooks", ".git-hooks", ".pre-commit-hooks.yaml"),
    *(".gitattributes", "lefthook*.yml", "lefthook*.yaml", "pre-commit*", "commit-msg*"),
    *("post-checkout*", "post-merge*", "post-commit*", "pre-push*", "prepare-commit-msg*"),
)
_TESTS = (
    *("conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "noxfile.py", "setup.cfg", "setup.py"),
    *("pyproject.toml", ".coveragerc", "sitecustomize.py", "usercustomize.py", "*.pth"),
    *("package.json", "*.config.js", "*.config.cjs", "*.config.mjs", "*.config.ts", "*.conf.js"),
    *(".mocharc*", ".eslintrc*", ".babelrc*", ".nycrc*", "phpunit.xml*", "composer.json"),
    *("makefile", "gnumakefile", "*.mk", "justfile", ".justfile", "taskfile.y*ml", "rakefile"),
    *("cmakelists.txt", "build.rs", "cargo.toml", "pom.xml", "*.gradle", "*.gradle.kts", "gradlew"),
    *("gemfile", "pipfile", "requirements*.txt", "constraints*.txt", "pip.conf", ".pypirc"),
    *("ruff.toml", ".ruff.toml", "mypy.ini", ".flake8", "pyrightconfig.json", "tsconfig*.json"),
)
_CI = (
    *(".github", ".gitlab", ".gitlab-ci*", ".circleci", ".travis.yml", "azure-pipelines*"),
    *("jenkinsfile*", "bitbucket-pipelines.yml", ".drone.yml", ".buildkite", "appveyor.yml"),
    *(".appveyor.yml", "cloudbuild.y*ml", ".woodpecker*", ".teamcity", ".forgejo", ".gitea"),
    *("codeowners", "dependabot.y*ml", "renovate.json*", "dockerfile*", "*.dockerfile"),
    *("docker-compose*", "compose.y*ml", "vagrantfile", "procfile"),
)
_START = (
    *(".env", ".env.*", "crontab*", "*.service", "*.timer", "*.desktop", "*.plist", ".htaccess"),
    *(".ssh", "authorized_keys", ".netrc", ".pgpass", ".aws", ".kube", ".docker", ".gnupg"),
)
_BUILDS = "it configures tests or a build"
_NAMES: tuple[tuple[tuple[str, ...], str], ...] = (
    (_HOOKS, "it is a hook, which another program runs by itself"),
    (_TESTS, _BUILDS),
    (_CI, "it configures what a build service runs"),
    (_START, "it is read by other programs when they start"),
)
"""Names of files and folders that decide what runs, in small letters; `*` is any letters."""

_MADE_AGAIN = (".log", ".tmp", ".temp", ".o", ".obj", ".pyc", ".pyo", ".class", ".swp", ".cache")
"""Endings of what programs make again by themselves, so that a pattern may order it deleted."""

_NAME_WORD: Final = re.compile(r"[^\W\d_]+")

_SCRIPTS = (".sh", ".bash", ".zsh", ".fish", ".bat", ".cmd", ".ps1", ".command", ".vbs")


def held_changes(
    changes: Sequence[Change], rules: Rules, contents: Mapping[str, ChangedContent]
) -> tuple[HeldPath, ...]:
    """What is not applied without the owner's yes, ordered by path; nothing where all may be.

    Args:
        changes: All changes of the run.
        rules: What the plan says of them.
        contents: What changed files hold; a path that is missing there has no content.
    """
    allowed = _allowed_paths(rules)
    kept = _paths_of_moved(changes, allowed, rules.words)
    found: list[HeldPath] = []
    for change in changes:
        why = _outside(change, changes, allowed, rules)
        if not why and not rules.checked:
            why = "the plan has no checks, so nothing but you says that this is right"
        if not why and rules.led:
            why = _dangerous(change, contents.get(change.path, ChangedContent()), rules, kept)
        if why:
            found.append(HeldPath(change.path, why))
    return tuple(found)


def _allowed_paths(rules: Rules) -> Sequence[str]:
    if rules.writes is not None:
        return rules.writes
    return _ANYWHERE if rules.checked else ()


def _outside(
    change: Change, changes: Sequence[Change], allowed: Sequence[str], rules: Rules
) -> str:
    """That the plan does not let this path be changed; empty where it does."""
    if matches_any(allowed, change.path) or _holds_only_others(change, changes):
        return ""
    if rules.writes is None:
        return "the plan has neither checks nor `writes`, so it changes nothing without you"
    if not rules.writes:
        return "the plan says that it changes nothing"
    return "the plan's `writes` does not name it"


def _holds_only_others(change: Change, changes: Sequence[Change]) -> bool:
    """A folder that was made or went with what it holds is judged by that."""
    if not _is_folder(change) or (change.before is not None and change.after is not None):
        return False
    return any(other.path.startswith(f"{change.path}/") for other in changes)


def _is_folder(change: Change) -> bool:
    return all(side is None or side.kind == "dir" for side in (change.before, change.after))


def name_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of names and texts without their numbers, in small letters."""
    return frozenset(word.casefold() for text in texts for word in _NAME_WORD.findall(text))


def _paths_of_moved(
    changes: Sequence[Change], allowed: Sequence[str], said: frozenset[str]
) -> frozenset[str]:
    """Paths of deleted files whose content stands, unchanged, where the plan says (decision D362).

    A hidden place is none: who looks for the file does not see it there.
    """
    new: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        hidden = any(part.startswith(".") for part in change.path.split("/"))
        if change.before is None and change.after is not None and not hidden:
            new.setdefault((change.after.kind, change.after.digest), []).append(change.path)
    return frozenset(
        change.path
        for change in changes
        if change.after is None
        and change.before is not None
        and matches_any(allowed, change.path)
        and any(
            matches_any(allowed, place) and _says_where(said, change.path, place)
            for place in new.get((change.before.kind, change.before.digest), ())
        )
    )


def _says_where(said: frozenset[str], old: str, new: str) -> bool:
    """Whether the words that a new name has beside those of the old one are the plan's."""
    there = name_words([new])
    words = there - name_words([old]) or there
    return bool(words) and words <= said


Reason = Callable[[Change, ChangedContent], str]


def _why_deletion_asks(change: Change, content: ChangedContent) -> str:
    before, after = change.before, change.after
    if before is None or before.kind == "dir":
        return ""
    if after is None:
        return "it is deleted"
    return "" if after.kind == before.kind else f"a {after.kind} takes its place"


def _why_emptying_asks(change: Change, content: ChangedContent) -> str:
    del change
    return "hardly anything is left of what it held" if content.emptied else ""


def _executable(change: Change, content: ChangedContent) -> str:
    before, after = change.before, change.after
    if after is None or after.kind != "file":
        return ""
    runs = bool(after.mode & 0o111) and not (before is not None and before.mode & 0o111)
    script = before is None and change.path.lower().endswith(_SCRIPTS)
    return "it is a new program or script" if runs or script or content.program else ""


def _leads_out(change: Change, content: ChangedContent) -> str:
    del change
    return "it is a link that leads out of the workspace" if content.leaves else ""


def _why_uncompared_asks(change: Change, content: ChangedContent) -> str:
    del change
    return "" if content.known else "it could not be compared with what it was"


_REASONS: tuple[Reason, ...] = (
    _why_deletion_asks,
    _why_emptying_asks,
    _executable,
    _leads_out,
    _why_uncompared_asks,
)


def _dangerous(change: Change, content: ChangedContent, rules: Rules, moved: frozenset[str]) -> str:
    """Why a change that followed what was read has to be seen; empty where the plan names it."""
    if _is_folder(change) or _plan_names_path(rules.writes or (), change):
        return ""
    why = _configures(change.path)
    if why == _BUILDS and content.added in rules.demands.get(change.path, ()):
        why = ""  # a check of the plan looks for the one thing that was added
    why = why or rules.runs.get(change.path, "")
    if why or change.path in moved:
        return why
    return next((why for reason in _REASONS if (why := reason(change, content))), "")


def _configures(path: str) -> str:
    """Why a path is that of a file that decides what runs; empty where it is not."""
    for part in path.split("/"):
        name = plainest(part)
        if why := protection(part):
            return why
        for names, why in _NAMES:
            if any(fnmatchcase(name, known) for known in names):
                return why
    return ""


def _plan_names_path(writes: Sequence[str], change: Change) -> bool:
    """Whether the plan names this path, and not merely a place where it lies."""
    path = change.path
    if any(entry == path and not WILD & set(entry) for entry in writes):
        return True
    return change.after is None and any(
        matches(entry, path) and literal_parts(entry) and entry.endswith(_MADE_AGAIN)
        for entry in writes
    )
