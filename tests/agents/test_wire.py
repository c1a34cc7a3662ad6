"""The wire form of answers: what models are shown, and that a slip never costs an answer."""

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from silas.agents.calls import CALLS
from silas.agents.models import AgentOutput
from silas.agents.plan_fields import plan_text
from silas.agents.wire import planner_form, report_form, route_form
from silas.plans.draft import read_draft

PROFILES = ("conversation", "coding")
DIRECT: dict[str, Any] = {"route": "direct", "message": "Good morning."}
PLAN: dict[str, Any] = {"action": "propose", "message": "I would fix it.", "plan": "---\nid: x"}
STORE = {"op": "store", "content": "The cat is called Mia."}
QUERY = {"strategy": "keyword", "query": "cat"}


def route(data: dict[str, Any]) -> Any:
    return route_form(PROFILES, False).model_validate(data)


def planned(data: dict[str, Any]) -> Any:
    return planner_form(False).model_validate(data)


@pytest.mark.proves("S3.2-STRUCTURED-RESPONSE")
def test_a_route_needs_the_route_and_the_answer_alone() -> None:
    direct, planner = route(DIRECT), route({"route": "planner", "reason": "it changes a file"})
    assert direct.response.message == "Good morning."
    assert (direct.context_profile, direct.interaction_mode) == ("conversation", None)
    assert (planner.route, planner.reason, planner.response) == (
        "planner",
        "it changes a file",
        None,
    )
    assert direct.dropped == planner.dropped == ()


SLIPS: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"context_profile": "poetry"}, ("context_profile",)),
    ({"context_profile": ["coding"]}, ("context_profile",)),
    ({"interaction_register": "shouting"}, ("interaction_register",)),
    ({"interaction_mode": "yolo"}, ("interaction_mode",)),
    ({"continuation_of": 7}, ("continuation_of",)),
    ({"reason": None}, ("reason",)),
    ({"memory_queries": [QUERY] * 5}, ("memory_queries",)),
    ({"memory_queries": "everything"}, ("memory_queries",)),
    ({"memory_ops": [{"op": "store"}, STORE]}, ("memory_ops.0",)),
    ({"memory_ops": [STORE, {"op": "forget"}]}, ("memory_ops.1.op", "memory_ops.1")),
    ({"memory_ops": [{**STORE, "memory_type": "lore"}]}, ("memory_ops.0.memory_type",)),
    ({"memory_ops": STORE}, ("memory_ops",)),
]


@pytest.mark.proves("S3.2-PROFILE-CONFIGURED", "S3.2-THREE-QUERIES", "S3.2-MEMORY-OP-FIELDS")
@pytest.mark.parametrize(("slip", "dropped"), SLIPS)
def test_a_slip_costs_its_field_and_never_the_answer(
    slip: dict[str, Any], dropped: tuple[str, ...]
) -> None:
    decision = route({**DIRECT, **slip})
    assert decision.response.message == "Good morning."
    assert decision.dropped == dropped
    assert decision.context_profile in PROFILES
    assert len(decision.response.memory_queries) <= 3
    assert [op.content for op in decision.response.memory_ops] in ([], [STORE["content"]])


@pytest.mark.parametrize(
    "data",
    [
        {"message": "Good morning."},
        {"route": "direct"},
        {"route": "direct", "message": ""},
        {"route": "direct", "message": ["a"]},
        {"route": "executor", "message": "m"},
        {"route": "direct", "response": None, "reason": "r"},
    ],
)
def test_what_has_no_route_or_no_answer_is_no_answer(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        route(data)


@pytest.mark.parametrize("response", [None, {"message": "m", "memory_ops": [{"op": "store"}]}])
def test_the_form_of_the_specification_is_read_as_well(response: dict[str, Any] | None) -> None:
    name = "direct" if response else "planner"
    decision = route({"route": name, "reason": "r", "response": response})
    assert (decision.route, decision.response is None) == (name, response is None)


def test_a_route_to_the_planner_has_no_words_for_the_user() -> None:
    decision = route({"route": "planner", "reason": "r", "message": "I will do it."})
    assert (decision.response, decision.dropped) == (None, ("message",))


def test_a_route_to_the_planner_keeps_what_is_to_be_remembered() -> None:
    decision = route({"route": "planner", "reason": "r", "memory_ops": [STORE, {"op": "store"}]})
    assert [op.content for op in decision.memory_ops] == [STORE["content"]]
    assert route({**DIRECT, "memory_ops": [STORE]}).memory_ops == []


PLANNED: list[tuple[dict[str, Any], str | None, tuple[str, ...]]] = [
    (PLAN, "propose", ()),
    ({**PLAN, "action": "revise"}, "revise", ()),
    ({"message": "m", "plan": "p"}, "propose", ()),
    ({**PLAN, "action": "execute"}, "propose", ("action",)),
    ({**PLAN, "interaction_mode": "yolo"}, "propose", ("interaction_mode",)),
    ({"action": "answer", "message": "m"}, None, ()),
    ({"action": "question", "message": "m"}, None, ()),
    ({"message": "m"}, None, ()),
    ({**PLAN, "action": "answer"}, None, ("plan",)),
    ({"message": "m", "plan_action": {"action": "abort"}}, "abort", ()),
    ({"message": "m", "plan_action": None, "memory_ops": [{}]}, None, ("memory_ops.0",)),
]


@pytest.mark.parametrize(("data", "action", "dropped"), PLANNED)
def test_a_planner_answers_in_words_or_with_a_plan(
    data: dict[str, Any], action: str | None, dropped: tuple[str, ...]
) -> None:
    response = planned(data)
    made = response.plan_action
    assert (made and made.action.value, response.dropped) == (action, dropped)
    assert made is None or action == "abort" or made.plan_markdown == data["plan"]


@pytest.mark.parametrize(
    "data",
    [
        {"action": "propose", "message": "m"},
        {"action": "propose", "plan": "p"},
        {**PLAN, "plan": 7},
        {"message": "m", "plan_action": {"action": "build", "plan_markdown": "p"}},
    ],
)
def test_a_plan_that_is_missing_or_wrong_is_no_slip(data: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        planned(data)


@pytest.mark.parametrize(
    ("data", "status", "dropped"),
    [
        ({"summary": "s"}, "done", ()),
        ({"summary": "s", "status": "blocked"}, "blocked", ()),
        ({"summary": "s", "status": "needs_another_plan"}, "needs_another_plan", ()),
        ({"summary": "s", "status": "finished"}, "done", ("status",)),
        ({"summary": "s", "next_steps": "rest"}, "done", ("next_steps",)),
        ({"summary": "s", "artifact_refs": ["a", 7]}, "done", ("artifact_refs.1",)),
    ],
)
def test_a_report_needs_its_summary_alone(
    data: dict[str, Any], status: str, dropped: tuple[str, ...]
) -> None:
    report = report_form().model_validate(data)
    assert (report.summary, report.status, report.dropped) == ("s", status, dropped)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
OPTIONAL = (
    "reason",
    "memory_ops",
    "memory_queries",
    "interaction_register",
    "interaction_mode",
    "continuation_of",
    "context_profile",
)


@given(st.dictionaries(st.sampled_from(OPTIONAL), JUNK))
def test_nothing_in_an_optional_field_costs_the_answer(junk: dict[str, Any]) -> None:
    before = json.dumps(junk)
    decision = route({**DIRECT, **junk})
    assert decision.response.message == "Good morning."
    assert json.dumps(junk) == before


def strings(schema: Any) -> list[tuple[str, dict[str, Any]]]:
    """Every property of a schema that holds text, by name; `items` for those of a list."""
    if isinstance(schema, list):
        parts = cast(list[Any], schema)
        return [one for part in parts for one in strings(part)]
    if not isinstance(schema, dict):
        return []
    whole = cast(dict[str, Any], schema)
    named = {
        **whole.get("properties", {}),
        **({"items": whole["items"]} if "items" in whole else {}),
    }
    found = [(name, one) for name, one in named.items() if one.get("type") == "string"]
    return found + [one for part in whole.values() for one in strings(part)]


LONG = {"message", "run", "briefing", "summary", "items"}
"""What `max_tokens` ends, and the ids of blocks, which are as short as Silas made them."""


@pytest.mark.parametrize("union", [True, False])
@pytest.mark.parametrize("name", list(CALLS))
def test_free_text_is_bounded_and_what_is_known_is_a_choice(name: str, union: bool) -> None:
    schema = CALLS[name].shown(PROFILES, union).model_json_schema()
    assert schema["type"] == "object"
    assert len(json.dumps(schema)) < (5000 if name == "planner" else 4000)  # it has a plan's fields
    for field, text in strings(schema):
        # llama.cpp refuses a grammar that repeats 2,000 times
        assert "enum" in text or text.get("maxLength", 2000) < 2000 or field in LONG, field
    known = {field: text["enum"] for field, text in strings(schema) if "enum" in text}
    assert known.get("context_profile", list(PROFILES)) == list(PROFILES)


@pytest.mark.parametrize(
    ("name", "tags"),
    [
        ("proxy", [["route", "message"], ["route", "reason"]]),
        ("planner", [["action", "message", "plan"], ["action", "message"]]),
    ],
)
def test_a_grammar_cannot_leave_out_the_answer(name: str, tags: list[list[str]]) -> None:
    schema = CALLS[name].shown(PROFILES, True).model_json_schema()
    assert [branch["required"] for branch in schema["anyOf"]] == tags
    # what is first in a schema is what a model that is held to it says first
    assert list(schema["anyOf"][0]["properties"])[: len(tags[0])] == tags[0]
    flat = CALLS[name].shown(PROFILES, False).model_json_schema()
    assert "anyOf" not in flat
    assert set(flat["required"]) == set(tags[0]) & set(tags[1])


@pytest.mark.parametrize("name", list(CALLS))
def test_what_a_schema_allows_is_read(name: str) -> None:
    for union in (True, False):
        form: type[AgentOutput] = CALLS[name].shown(PROFILES, union)
        schema = form.model_json_schema()
        for branch in schema.get("anyOf", [schema]):
            example = _least(branch)
            if name == "proxy" and not union:
                example["message"] = "m"
            if name == "planner" and not union:
                example["plan"] = "p"
            assert form.model_validate(example).dropped == ()


def _least(schema: dict[str, Any]) -> Any:
    """The first choice, for each field that there must be."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "object":
            properties = schema["properties"]
            return {field: _least(properties[field]) for field in schema["required"]}
        case "array":
            return []
        case _:
            return "text"


FIELDS: dict[str, Any] = {
    "title": "Name it: 'so'",
    "workspace": "/w",
    "writes": ["a.py"],
    "verify": [{"name": "n", "run": "python3 -c \"print(': # x')\"", "expect": {"exit_code": 0}}],
    "briefing": "# What to do\nWrite `a.py`.\n---\nNot the end.",
}


@pytest.mark.proves("S7.2-PLAN-FORMAT")
@pytest.mark.parametrize("plan", [FIELDS, json.dumps(FIELDS)])
def test_a_plan_in_fields_becomes_the_text_of_one(plan: Any) -> None:
    """Quotes and colons that break YAML when they are written by hand cannot."""
    text = planned({**PLAN, "plan": plan}).plan_action.plan_markdown
    item = read_draft(text).item
    assert item is not None
    assert (item.title, item.writes) == (FIELDS["title"], ["a.py"])
    assert item.verify[0].run == FIELDS["verify"][0]["run"]
    assert item.body == FIELDS["briefing"]
    assert item.id.startswith("task-name-it-so-")


def test_a_plan_in_fields_that_may_change_nothing_says_so() -> None:
    text = planned({**PLAN, "plan": {**FIELDS, "writes": []}}).plan_action.plan_markdown
    item = read_draft(text).item
    assert item is not None
    assert item.writes == []


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"colour": "red"}, "unknown key `colour`"),
    ({"status": "done"}, "belongs to the runtime"),
    (
        {"verify": [{"name": "n", "run": "true", "expect": {"exit_code": 0, "equals": "a"}}]},
        "exactly one",
    ),
    ({"briefing": ""}, "needs a briefing"),
    ({"writes": None}, "`writes` is empty"),
    ({"title": ["a", "b"]}, "must be text"),
]


@pytest.mark.parametrize(("wrong", "told"), WRONG)
def test_what_is_wrong_with_a_plan_in_fields_is_told_as_of_any_other(
    wrong: dict[str, Any], told: str
) -> None:
    text = planned({**PLAN, "plan": {**FIELDS, **wrong}}).plan_action.plan_markdown
    assert told in " ".join(mistake.message for mistake in read_draft(text).mistakes)


@given(
    st.dictionaries(
        st.text(max_size=8), st.text(max_size=40) | st.integers() | st.none(), min_size=1
    )
)
def test_any_object_becomes_text_that_is_read_or_refused(fields: dict[str, Any]) -> None:
    text = planned({**PLAN, "plan": fields}).plan_action.plan_markdown
    draft = read_draft(text)
    assert draft.item is not None or draft.mistakes


def test_a_check_that_expects_nothing_is_meant_to_succeed() -> None:
    checks: list[dict[str, Any]] = [
        {"name": "a", "run": "true", "expect": {}},
        {"name": "b", "run": "true"},
    ]
    kept = {"name": "c", "run": "wc a", "expect": {"contains": "2"}}
    text = plan_text({"title": "t", "briefing": "b", "verify": [*checks, kept]})
    assert text.count("exit_code: 0") == 2
    assert "contains: '2'" in text


CHECK_SLIPS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"run": "wc -l < a", "expect": {"equals": 5}}, {"equals": "5"}),
    ({"run": "cat a", "expect": {"contains": 2026}}, {"contains": "2026"}),
    ({"run": "wc -l < a", "expect": {"output_gt": "0"}}, {"output_gt": 0}),
    ({"run": "true", "expect": {"exit_code": "0"}}, {"exit_code": 0}),
    ({"expect": {"file_exists": "a.txt"}}, {"file_exists": "a.txt"}),
]


@pytest.mark.parametrize(("check", "meant"), CHECK_SLIPS)
def test_a_check_whose_json_can_only_mean_one_thing_does_not_go_back(
    check: dict[str, Any], meant: dict[str, Any]
) -> None:
    given = {**FIELDS, "verify": [{"name": "n", **check}]}
    text = planned({**PLAN, "plan": given}).plan_action.plan_markdown
    item = read_draft(text).item
    assert item is not None
    [read] = item.verify
    assert read.expect.model_dump(exclude_none=True) == meant
    assert read.run == check.get("run", "true")


@pytest.mark.parametrize(
    "expect",
    [{"equals": 5.0}, {"equals": True}, {"output_gt": "many"}, {"file_exists": 3}, ["exit_code"]],
)
def test_a_check_that_could_mean_two_things_goes_back(expect: object) -> None:
    given = {**FIELDS, "verify": [{"name": "n", "run": "true", "expect": expect}]}
    assert read_draft(planned({**PLAN, "plan": given}).plan_action.plan_markdown).mistakes
