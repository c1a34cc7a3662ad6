"""A project as a language model writes it, in fields: it comes to its card, and runs (D530)."""

import json
from pathlib import Path
from typing import Any

import pytest

from silas.agents.plan_fields import plan_text
from silas.agents.wire import planner_form
from silas.plans import PlanError, PlanParser, WorkItem, WorkItemStatus
from silas.testing import CallTool, Harness, ScriptedChannel
from tests.projects.kit import PROJECT, Ran, chain, project_text
from tests.stream.kit import may_be_shown, planned, plans_of, ran, saying_yes, soon

TITLES = ("Read the rosters", "Write the overview", "Check it")


def fields(workspace: Path | str = "/w", **changes: Any) -> dict[str, Any]:
    """Three tasks, which have neither ids nor a workspace of their own."""
    tasks = [
        {
            "title": title,
            "writes": [f"{number}.txt"],
            "briefing": f"# What to do\n1. {title}.",
            "verify": [{"name": "right", "run": f"check-{number}", "expect": {"exit_code": 0}}],
            "depends_on": list(TITLES[number - 1 : number]),
        }
        for number, title in enumerate(TITLES)
    ]
    own = {"type": "project", "title": "The rosters of May", "workspace": str(workspace)}
    return {**own, "briefing": "In their order.", "tasks": tasks, **changes}


def read(plan: object) -> WorkItem:
    return PlanParser().parse(plan_text(plan))


async def test_a_project_without_ids_comes_to_its_card_at_once_and_runs(tmp_path: Path) -> None:
    channel, sandbox = ScriptedChannel(saying_yes), Ran()
    said = {"action": "propose", "message": "In three steps.", "plan": fields(tmp_path)}
    step = planner_form(union=False).model_validate(said)
    work = [one for n in "012" for one in (CallTool("shell_exec", {"argv": [f"do-{n}"]}), ran())]
    async with Harness(channel, models=planned(step, executor=work), sandbox=sandbox.sandbox) as h:
        may_be_shown(h, tmp_path)
        reply = await soon(h.silas.ask("write the overview of the rosters", workspace=tmp_path))
        assert reply.outcome == "dispatched", reply.text
        (card,) = plans_of(channel)
        assert card.work_item_id.startswith("project-the-rosters-of-may-")
        result = await soon(h.silas.wait(card.work_item_id))
        assert result is not None
        assert result.status is WorkItemStatus.done, result
        assert sandbox.done == ["0", "1", "2"]
        project = await h.store.get(card.work_item_id)
        assert project is not None
        found = [await h.store.get(name) for name in project.tasks]
        assert [one.title for one in found if one is not None] == list(TITLES)
        assert {one.workspace for one in found if one is not None} == {str(tmp_path)}


def test_the_same_project_has_the_same_ids_and_another_one_others() -> None:
    first, again = read(fields()), read(json.dumps(fields()))
    other = read(fields(briefing="In any order."))
    assert [first.id, *first.tasks] == [again.id, *again.tasks]
    assert not {first.id, *first.tasks} & {other.id, *other.tasks}
    assert [one.depends_on for one in first.children] == [[], first.tasks[:1], first.tasks[1:2]]


def test_tasks_of_one_title_stay_apart_and_none_waits_for_a_title_of_two() -> None:
    twice = [{"title": "Do it", "briefing": "b"}, {"title": "Do it", "briefing": "b"}]
    assert len(set(read(fields(tasks=twice)).tasks)) == 2
    waits = {"title": "Then", "briefing": "b", "depends_on": ["Do it"]}
    with pytest.raises(PlanError, match="is not an id"):
        read(fields(tasks=[*twice, waits]))


def test_what_a_project_says_itself_stays_as_it_is() -> None:
    own = [{"id": "a", "title": "T", "briefing": "b", "workspace": None}]
    item = read(fields(id="own", tasks=own))
    assert (item.id, item.tasks, item.children[0].workspace) == ("own", ["a"], None)
    one = read({"id": "t", "title": "Alone", "briefing": "b"})
    assert (one.type.value, one.workspace) == ("task", None)


async def test_the_rest_of_a_project_works_where_its_tasks_did(tmp_path: Path) -> None:
    channel, sandbox = ScriptedChannel(saying_yes), Ran()
    sandbox.failing.add("check-b")
    async with Harness(channel, sandbox=sandbox.sandbox) as h:
        text = project_text(chain("a", "b"), workspace=str(tmp_path))
        await soon(h.silas.run(text))
        rest = PlanParser().parse(await h.silas.rest_of(PROJECT))
        assert (rest.workspace, rest.children[0].workspace) == (str(tmp_path), None)
