"""Fuzz target: whatever text a model hands over as a plan, it is a plan or one mapped error."""

from typing import Any

from silas.approval.grants import Grant, Literal, find_grant, grants_of, literals_of, shortest
from silas.plans import PlanError, PlanParser, plan_bytes, plan_card, subject_of
from silas.plans.models import WorkItem
from silas.testing.builders import plan_text

_PARSER = PlanParser()

GRANTS: list[dict[str, Any]] = [
    {
        "tool": "send_email",
        "args": {
            "recipients": ["alice@example.com"],
            "subject": {"pattern": "Report for .*"},
            "body": {"slot": "text", "from": "tool get_webpage", "max_chars": 2000},
            "cc": {"slot": "list of email", "from": ["owner", "plan"], "optional": True},
        },
        "times": 2,
    },
    {"tool": "find", "args": {"filter": {"kind": "pdf", "size": [1, 2.5, None, True]}}},
]
"""Grants with one of everything."""

SEEDS = (
    plan_text().encode(),
    plan_text(tools=GRANTS).encode(),
    b"""---
id: task-x
type: task
title: T
tools:
  - tool: t
    args:
      a: { literal: { slot: text } }
      n: { slot: integer, from: any }
---
Do it.
""",
)

TOKENS = tuple(
    word.encode()
    for word in (
        *("tools:", "tool: ", "args: ", "times: ", "slot: ", "from: ", "pattern: ", "literal: "),
        *("optional: ", "max_chars: ", "max_items: ", "list of ", "tool get_webpage", "owner"),
        *("email", "integer", "url", "(a+)+", ".*", "[a-z]{1,9}|x", '"a[]": ', "{slot: text}"),
    )
)


def run(data: bytes) -> None:
    """Read `data` as a plan.

    Raises:
        AssertionError: What was read has no bytes of its own, needs no approval, or has no card; or
            its grants are not those that are written, or cover what they do not name. Any other
            exception is a fault, too: a plan that cannot be read is a `PlanError` with a line and
            a column that are there.
    """
    text = data.decode("utf-8", errors="surrogateescape")
    try:
        item = _PARSER.parse(text)
    except PlanError as error:
        if min(error.line, error.column) < 1:
            raise AssertionError(f"no such place: {error}") from error
        return
    assert item.needs_approval
    assert item.approval_token is None
    canonical = plan_bytes(item)
    assert plan_bytes(WorkItem.model_validate_json(canonical)) == canonical
    assert plan_card(canonical, rationale="fuzz").plan_hash == subject_of(item).digest
    _check(grants_of(item.tools))


def _check(grants: tuple[Grant, ...]) -> None:
    """Grants that are read mean one thing, and cover nothing that they do not name."""
    assert grants_of([shortest(grant) for grant in grants]) == grants
    for grant in grants:
        fixed = {n: one.value for n, one in grant.args.items() if isinstance(one, Literal)}
        found = find_grant(grants, grant.tool, fixed, _nowhere)
        assert not found or all(name in grants[found.index].args for name in fixed)
        assert not find_grant(grants, grant.tool, {**fixed, "not/named": 1}, _nowhere)
        assert not find_grant(grants, f"{grant.tool} ", fixed, _nowhere)
        assert {(grant.tool, name) for name in fixed} <= set(literals_of(grants))


def _nowhere(path: str, value: object, source: str) -> bool:
    return False
