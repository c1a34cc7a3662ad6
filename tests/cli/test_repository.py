"""A task on a small git repository: run, look at the whole change, take it back."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.sandbox.trees import exact
from tests.support.command import Ended, environment, person, run, silas
from tests.support.plans import check, sh_plan
from tests.support.waits import SECONDS


def git(root: Path, *words: str) -> str:
    """One git command of the owner's, outside any sandbox, and what it printed."""
    found = shutil.which("git")
    assert found, "git is not installed, and whoever works on Silas has it"
    name = ("-c", "user.name=o", "-c", "user.email=o@localhost", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        [found, *name, *words],
        cwd=root,
        env={"HOME": str(root), "PATH": "/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("def double(x):\n    return x + 2\n")
    (root / "src" / "old.py").write_text("old\n")
    (root / "logo.png").write_bytes(bytes(range(256)))
    (root / ".envrc").write_text("export PATH\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


def done(plan: Path, env: dict[str, str]) -> Ended:
    """Approve exactly this plan and run it."""
    digest = run(silas("plan", "check", plan), env).out.splitlines()[-1]
    return run(silas("run", plan, "--approve", digest), env)


def test_a_change_of_a_repository_is_seen_whole_and_taken_back_whole(
    repository: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    before = exact(repository)
    plan = tmp_path / "plan.md"
    plan.write_text(
        sh_plan(
            "sed -i 's/x + 2/x * 2/' src/app.py",
            "rm src/old.py",
            "cp logo.png new.png",
            "cp src/app.py run.py",
            "chmod 755 run.py",
            id="task-repair",
            workspace=str(repository),
            verify=check("grep -q 'x \\* 2' src/app.py && test -x run.py"),
        )
    )
    ended = done(plan, env)
    assert ended.code == 0, ended.err
    assert "-    return x + 2\n+    return x * 2\n" in ended.out
    assert "To see all of it: silas diff task-repair" in ended.out

    shown = run(silas("diff", "task-repair"), env)
    assert shown.code == 0, shown.err
    (tmp_path / "x.patch").write_text(shown.out)
    git(tmp_path, "clone", "-q", str(repository), "clone")
    git(tmp_path / "clone", "apply", str(tmp_path / "x.patch"))
    same = git(tmp_path / "clone", "status", "--porcelain")
    assert same == git(repository, "status", "--porcelain")
    assert sorted(line[3:] for line in same.splitlines()) == [
        *("new.png", "run.py", "src/app.py", "src/old.py"),
    ]
    for path in ("new.png", "run.py", "src/app.py"):
        mine, theirs = repository / path, tmp_path / "clone" / path
        assert mine.read_bytes() == theirs.read_bytes()

    assert run(silas("undo", "task-repair"), env).code == 0
    after = exact(repository)
    git_own = {path for path in after if path.startswith(".git") and after[path] != before[path]}
    assert git_own <= {".git//", ".git/index", ".git/index//"}  # `git status` refreshed its index
    assert {k: v for k, v in after.items() if k not in git_own} == {
        k: v for k, v in before.items() if k not in git_own
    }
    again = run(silas("undo", "task-repair"), env)
    assert again.code == 2
    assert "was undone already" in again.err


def test_a_task_cannot_leave_the_owner_a_hook(repository: Path, tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    before = exact(repository)
    plan = tmp_path / "plan.md"
    plan.write_text(
        sh_plan(
            "printf 'touch /tmp/owned' > .git/hooks/post-commit || true",
            "printf '[core]\\n fsmonitor = touch /tmp/owned' >> .git/config || true",
            "printf 'touch /tmp/owned' > .envrc || true",
            "mkdir .GIT",
            id="task-hook",
            workspace=str(repository),
            budget={"max_attempts": 1},
            verify=check("true"),
        )
    )
    ended = done(plan, env)
    assert ended.code == 1, ended.out
    assert "What cannot be written back must be removed: .GIT: a protected name" in ended.err
    assert exact(repository) == before


def test_on_a_terminal_a_change_is_shown_and_steers_nothing(
    repository: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    plan = tmp_path / "plan.md"
    plan.write_text(
        sh_plan(
            r"printf 'before \033]0;owned\007 after\n' > note.txt",
            id="task-note",
            workspace=str(repository),
            verify=check("test -s note.txt"),
        )
    )
    assert done(plan, env).code == 0
    assert "+before \x1b]0;owned\x07 after\n" in run(silas("diff", "task-note"), env).out
    with person(silas("diff", "task-note"), env) as owner:
        assert owner.leaves() == 0
    assert "before \\x1b]0;owned\\x07 after" in owner.seen
    assert "\x1b]0;" not in owner.seen


def test_the_difference_of_what_never_ran_is_one_sentence(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    told = run(silas("diff", "task-unknown"), env)
    assert (told.code, told.out) == (2, "")
    assert "No run of 'task-unknown' has finished; see `silas status` for the ids." in told.err
