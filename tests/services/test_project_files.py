"""Tasks in files beside their project: what is wrong is told with its own file and line."""

from pathlib import Path

import pytest

from silas.errors import PlanFamilyError
from silas.services.plans import read_plan

PROJECT = """---
id: project-x
type: project
title: X
tasks: [task-a, task-b]
budget: { max_attempts: 1 }
---
Do it.
"""
TASK = """---
id: {name}
type: task
title: T
{more}
budget: {{ max_attempts: 1 }}
---
```sh
true
```
"""


def project_in(place: Path, **more: str) -> Path:
    (place / "x.md").write_text(PROJECT)
    for name in ("task-a", "task-b"):
        text = TASK.format(name=name, more=more.get(name[-1], "workspace: /tmp"))
        (place / f"{name}.md").write_text(text)
    return place / "x.md"


@pytest.mark.parametrize(
    ("wrong", "file", "line"),
    [
        ({"a": "nonsense: 1"}, "task-a.md", 5),
        ({"b": "nonsense: 1"}, "task-b.md", 5),
        ({"b": "depends_on: [task-b]"}, "task-b.md", 5),
    ],
)
def test_a_fault_of_a_task_is_told_with_the_file_and_line_of_the_task(
    wrong: dict[str, str], file: str, line: int, tmp_path: Path
) -> None:
    with pytest.raises(PlanFamilyError) as told:
        read_plan(project_in(tmp_path, **wrong))
    assert told.value.message.startswith(f"{tmp_path / file}, line {line}, column ")


def test_blank_lines_before_a_task_are_counted(tmp_path: Path) -> None:
    project = project_in(tmp_path, a="nonsense: 1")
    task = tmp_path / "task-a.md"
    task.write_text("\n\n" + task.read_text())
    with pytest.raises(PlanFamilyError) as told:
        read_plan(project)
    assert f"{task}, line 7," in told.value.message


def test_a_fault_of_the_project_is_told_with_its_own_file(tmp_path: Path) -> None:
    project = project_in(tmp_path)
    project.write_text(PROJECT.replace("title: X", "nonsense: 1"))
    with pytest.raises(PlanFamilyError) as told:
        read_plan(project)
    assert told.value.message.startswith(f"{project}, line 4, column ")
