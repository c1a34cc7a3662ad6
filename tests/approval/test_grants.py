"""Grants: what is written, which calls it covers, and what it says on a card (decision B1)."""

from typing import Any

import pytest

from silas.approval.grants import (
    GrantRefused,
    Literal,
    Slot,
    find_grant,
    grant_lines,
    grants_of,
    literals_of,
    shortest,
)
from silas.errors import ApprovalError
from tests.approval.grant_cases import CASES, Refused

MAIL: dict[str, Any] = {
    "tool": "send_email",
    "args": {
        "recipients": ["alice@example.com"],
        "subject": {"pattern": "Report for .*"},
        "body": {"slot": "text", "from": "tool get_webpage", "max_chars": 20},
        "cc": {"slot": "list of email", "from": ["owner", "plan"], "optional": True},
    },
}
CALL: dict[str, Any] = {
    "recipients": ["alice@example.com"],
    "subject": "Report for May",
    "body": "It rained.",
}


def _never(path: str, value: object, source: str) -> bool:
    raise AssertionError(f"nobody should ask where {path} comes from")


def _always(path: str, value: object, source: str) -> bool:
    return True


class _Said:
    """A run in which these values came from these sources."""

    def __init__(self, *known: tuple[str, object, str]) -> None:
        self.known = known

    def __call__(self, path: str, value: object, source: str) -> bool:
        return (path, value, source) in self.known


PAGE = _Said(("body", "It rained.", "tool get_webpage"), ("cc[]", "bob@example.com", "owner"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_grant_that_is_not_understood_is_refused_with_its_place_and_reason(case: Refused) -> None:
    with pytest.raises(GrantRefused) as refused:
        grants_of(case.raw)
    assert refused.value.loc == case.loc
    assert case.reason in refused.value.reason
    assert refused.value.reason.isprintable()
    assert isinstance(refused.value, ApprovalError)
    assert refused.value.code == "E_APPROVAL_GRANT"


def test_what_is_not_said_has_the_least_value() -> None:
    raw = {"tool": "t", "args": {"a": {"slot": "list of line", "from": "owner"}, "b": [1]}}
    (grant,) = grants_of([raw])
    assert grant.times == 1
    assert grant.args == {
        "a": Slot(
            kind="list of line", sources=("owner",), max_chars=200, max_items=20, optional=False
        ),
        "b": Literal(canonical="[1]"),
    }
    assert grants_of([]) == ()
    assert grants_of([{"tool": "t"}])[0].args == {}


@pytest.mark.proves("B1-TOOL-GRANTS")
def test_a_call_of_literals_patterns_and_slots_is_covered() -> None:
    grants = grants_of([{"tool": "other"}, MAIL])
    assert find_grant(grants, "send_email", CALL, PAGE) == (1, "")
    assert find_grant(grants, "send_email", CALL | {"cc": ["bob@example.com"]}, PAGE)
    assert find_grant(grants, "send_email", CALL | {"cc": None, "attachments": None}, PAGE)


UNCOVERED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("send_mail", {}, 'the plan has no grant for "send_mail"'),
    ("send_email", {"attachments": ["a"]}, 'does not name the argument "attachments"'),
    ("send_email", {"\x1b[2J": "a"}, 'does not name the argument "\\u001b[2J"'),
    ("send_email", {"recipients": None}, "`recipients` is missing, and the plan names it"),
    ("send_email", {"subject": None}, "`subject` is missing"),
    ("send_email", {"body": None}, "`body` is missing"),
    ("send_email", {"recipients": "alice@example.com"}, "`recipients` is not exactly what"),
    ("send_email", {"recipients": []}, "is not exactly"),
    ("send_email", {"recipients": ["alice@example.com"] * 2}, "is not exactly"),
    ("send_email", {"recipients": ["Alice@example.com"]}, "is not exactly"),
    ("send_email", {"recipients": ["mallory@example.com"]}, "is not exactly"),
    ("send_email", {"subject": "My Report for May"}, "`subject` does not match"),
    ("send_email", {"subject": "Report for May\n"}, "does not match"),
    ("send_email", {"subject": "Report for May\nBcc: m"}, "does not match"),
    ("send_email", {"subject": ["Report for May"]}, "is not text"),
    ("send_email", {"subject": "Report for " + "x" * 200}, "has 211 characters, more than 200"),
    ("send_email", {"body": "Send me the key"}, "`body` does not come from what get_webpage"),
    ("send_email", {"body": "x" * 21}, "has 21 characters, more than 20"),
    ("send_email", {"body": 5}, "`body` is not text"),
    ("send_email", {"body": ""}, "`body` is not text"),
    ("send_email", {"cc": []}, "`cc` is not a list with at least one item"),
    ("send_email", {"cc": "bob@example.com"}, "is not a list"),
    ("send_email", {"cc": ["bob@example.com", "m@example.com"]},
     "`cc` has an item that does not come from your own messages or this plan"),
    ("send_email", {"cc": ["Bob <bob@example.com>"]}, "an item that is not one email address"),
    ("send_email", {"cc": ["bob@example.com"] * 21}, "has 21 items, more than 20"),
)  # fmt: skip


@pytest.mark.proves("B1-TOOL-GRANTS")
@pytest.mark.parametrize(("tool", "change", "reason"), UNCOVERED, ids=range(len(UNCOVERED)))
def test_a_call_outside_the_grants_is_not_covered_and_says_why(
    tool: str, change: dict[str, Any], reason: str
) -> None:
    coverage = find_grant(grants_of([MAIL]), tool, CALL | change, PAGE)
    assert not coverage
    assert coverage.index == -1
    assert reason in coverage.reason
    assert coverage.reason.isprintable()


def test_a_missing_argument_is_no_literal_null() -> None:
    grants = grants_of([{"tool": "t", "args": {"a": None}}])
    assert find_grant(grants, "t", {"a": None}, _never)
    assert not find_grant(grants, "t", {}, _never)


@pytest.mark.parametrize(
    ("fixed", "given_"),
    [
        (1, True),
        (1.0, True),
        (0.0, False),
        (2**53 + 1, float(2**53)),
        ({"a": 1}, {"a": 1.5}),
        (1, "1"),
        (0, False),
        (0, None),
        (0, ""),
        (True, 1),
        (False, 0),
        ("true", True),
        ("", None),
        ([], ""),
        ([], {}),
        ([1], [True]),
        ({"a": 1}, [["a", 1]]),
        ("13", 13),
        ("2024-05-13", "13"),
    ],
)
def test_a_value_of_another_type_is_not_what_the_plan_fixes(fixed: Any, given_: Any) -> None:
    grants = grants_of([{"tool": "t", "args": {"a": fixed}}])
    assert find_grant(grants, "t", {"a": fixed}, _never)
    assert not find_grant(grants, "t", {"a": given_}, _never)


@pytest.mark.parametrize(
    ("fixed", "given_"), [(100, 100.0), (-2.0, -2), ({"a": [1]}, {"a": [1.0]}), (10**20, 1e20)]
)
def test_a_whole_number_is_the_same_with_a_point_after_it(fixed: Any, given_: Any) -> None:
    grants = grants_of([{"tool": "t", "args": {"a": fixed}}])
    assert find_grant(grants, "t", {"a": given_}, _never)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 10**5000, {1, 2}, [object()]], ids=range(5)
)
def test_what_is_no_json_is_nothing_that_a_plan_fixes(value: Any) -> None:
    grants = grants_of([{"tool": "t", "args": {"a": 1}}])
    assert not find_grant(grants, "t", {"a": value}, _never)


def test_a_value_too_deep_to_be_compared_is_not_covered() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert not find_grant(grants_of([{"tool": "t", "args": {"a": 1}}]), "t", {"a": deep}, _never)


def test_a_mapping_that_reads_like_a_slot_is_a_value_where_it_is_said_to_be_one() -> None:
    value = {"slot": "text", "from": "any"}
    grants = grants_of([{"tool": "t", "args": {"a": {"literal": value}}}])
    assert find_grant(grants, "t", {"a": value}, _never)
    assert not find_grant(grants, "t", {"a": "anything"}, _always)
    assert shortest(grants[0])["args"] == {"a": {"literal": value}}


def test_the_source_of_a_slot_is_asked_with_path_value_and_source() -> None:
    asked: list[tuple[str, object, str]] = []

    def sourced(path: str, value: object, source: str) -> bool:
        asked.append((path, value, source))
        return source == "plan"

    call = CALL | {"cc": ["b@example.com"]}
    assert not find_grant(grants_of([MAIL]), "send_email", call, sourced)
    assert asked == [
        ("body", "It rained.", "tool get_webpage"),
        ("cc[]", "b@example.com", "owner"),
        ("cc[]", "b@example.com", "plan"),
    ]


def test_a_slot_from_anywhere_asks_nobody_and_is_still_of_its_type() -> None:
    grants = grants_of([{"tool": "t", "args": {"n": {"slot": "integer", "from": "any"}}}])
    assert find_grant(grants, "t", {"n": 13}, _never)
    assert not find_grant(grants, "t", {"n": "13"}, _never)


def test_a_source_is_not_asked_about_a_value_that_does_not_fit() -> None:
    grants = grants_of([{"tool": "t", "args": {"n": {"slot": "integer", "from": "owner"}}}])
    assert not find_grant(grants, "t", {"n": "13 files"}, _never)


def test_a_grant_covers_no_more_calls_than_it_says() -> None:
    grants = grants_of([{"tool": "t"}, {"tool": "t", "times": 2}])
    assert find_grant(grants, "t", {}, _never).index == 0
    assert find_grant(grants, "t", {}, _never, {0: 1}).index == 1
    assert find_grant(grants, "t", {}, _never, {0: 1, 1: 1}).index == 1
    spent = find_grant(grants, "t", {}, _never, {0: 1, 1: 2})
    assert spent == (-1, "the plan allows this call once, and no more are left")


def test_the_reason_is_that_of_the_grant_of_which_the_most_fits() -> None:
    near = {"tool": "t", "args": {"a": 1, "b": 2}}
    far = {"tool": "t", "args": {"a": 9, "b": 9}}
    for grants in ([near, far], [far, near]):
        coverage = find_grant(grants_of(grants), "t", {"a": 1, "b": 3}, _never)
        assert coverage.reason == "`b` is not exactly what the plan says"


def test_a_pattern_that_may_take_too_long_on_this_text_covers_nothing() -> None:
    pattern = {"pattern": "a*a*a*a*b", "max_chars": 10_000}
    coverage = find_grant(
        grants_of([{"tool": "t", "args": {"x": pattern}}]), "t", {"x": "a" * 9000}, _never
    )
    assert not coverage
    assert "too many steps" in coverage.reason


def test_what_the_plan_fixes_is_bound_to_tool_and_argument() -> None:
    grants = grants_of(
        [
            MAIL,
            {"tool": "send_email", "args": {"recipients": ["bob@example.com"], "n": 13}},
            {"tool": "find", "args": {"filter": {"kind": "pdf", "tags": ["a"]}}},
        ]
    )
    assert literals_of(grants) == {
        ("send_email", "recipients"): {'["alice@example.com"]', '["bob@example.com"]'},
        ("send_email", "recipients[]"): {'"alice@example.com"', '"bob@example.com"'},
        ("send_email", "n"): {"13"},
        ("find", "filter"): {'{"kind":"pdf","tags":["a"]}'},
        ("find", "filter.kind"): {'"pdf"'},
        ("find", "filter.tags"): {'["a"]'},
        ("find", "filter.tags[]"): {'"a"'},
    }


def test_a_grant_in_plain_words() -> None:
    assert grant_lines(grants_of([MAIL])[0]) == (
        "may call send_email once, with",
        "  body: text from what get_webpage returns, up to 20 characters",
        "  cc, if given: up to 20 items, each one email address from your own messages "
        "or this plan",
        '  recipients: exactly ["alice@example.com"]',
        '  subject: text that as a whole matches "Report for .*", up to 200 characters, '
        "from anywhere",
    )
    plain = grants_of(
        [{"tool": "ping"}, {"tool": "ping", "times": 2}, {"tool": "p", "times": 1000}]
    )
    assert [grant_lines(grant) for grant in plain] == [
        ("may call ping once, without arguments",),
        ("may call ping up to twice, without arguments",),
        ("may call p up to 1,000 times, without arguments",),
    ]
