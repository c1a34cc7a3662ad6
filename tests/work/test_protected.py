"""Inside the sandbox, what other programs execute can be read and not be written (decision B3)."""

from pathlib import Path

import pytest

from silas.plans import WorkItemStatus
from silas.workspace.protected import GUARDS
from tests.work.kit import DONE, at_work, sh, state_of

NAMES = [name for guard in GUARDS for name in guard.names]
SPELLINGS = [*NAMES, ".GIT", ".Envrc", ".hus\u212ay", ".g\u200cit"]

ATTACK = """
while IFS= read -r name; do
  grep -q mine "$name" && echo seen
  for do in 'echo evil >' 'echo evil >>' 'rm -rf' 'chmod 7' 'truncate -s 0' 'ln -sf /etc/passwd'
  do
    eval "$do \\"\\$name\\"" 2>/dev/null && echo "did $do $name"
  done
  mv -T "$name" "moved-$name" 2>/dev/null && echo "moved $name"
done < names
echo done > result.txt
"""


async def test_a_task_writes_no_protected_name_and_makes_none(project: Path) -> None:
    for name in (*SPELLINGS, "ordinary"):
        (project / name).write_text("mine")
    listed = "".join(f"{name}\n" for name in (*SPELLINGS, "ordinary"))
    (project / "names").write_text(listed)
    before = state_of(project)
    make = sh("mkdir made; while IFS= read -r n; do echo evil > made/$n; done < names")
    async with at_work(sh(ATTACK), DONE, make, DONE) as work:
        result = await work.run(workspace=str(project))
        assert result.status is WorkItemStatus.done
        told = work.briefing(1)
        assert told.count("seen") == len(SPELLINGS) + 1
        assert told.count("did ") == told.count(" ordinary") - 1 == 5  # all of it worked there
        assert told.count("moved ") == told.count("moved ordinary") == 1
        after = state_of(project)
        assert after.pop("moved-ordinary") == ("link", 0, b"/etc/passwd")
        mine = {"ordinary": before["ordinary"], "result.txt": before["result.txt"]}
        assert {**after, **mine} == before
        again = await work.run(workspace=str(project), budget={"max_attempts": 1})
        assert again.status is WorkItemStatus.stuck
        assert "made/.git: a protected name stays out" in again.summary
        assert not (project / "made").exists()


@pytest.mark.parametrize("inside", ["HEAD objects refs", "HEAD commondir"])
async def test_a_task_makes_no_repository_in_disguise(inside: str, project: Path) -> None:
    before = state_of(project)
    script = f"echo done > result.txt; mkdir src/docs; cd src/docs; mkdir {inside}; touch config"
    async with at_work(sh(script), DONE) as work:
        result = await work.run(workspace=str(project), budget={"max_attempts": 1})
        assert result.status is WorkItemStatus.stuck
        assert "src/docs: a git repository's inside stays out" in result.summary
    assert state_of(project) == before
