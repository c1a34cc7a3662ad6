"""A grant that leaves a part of an argument open: what is around it, and how it is told."""

from typing import Any

import pytest

from silas.approval.grants import (
    ExactItems,
    Fields,
    Literal,
    Slot,
    find_grant,
    grant_lines,
    grants_of,
    literals_of,
    shortest,
)

FILE: dict[str, Any] = {
    "tool": "send_email",
    "args": {
        "to": "alice@example.com",
        "attachments": [
            {"type": "file", "file_id": {"slot": "identifier", "from": "tool list_files"}},
            {"type": "note", "text": {"slot": "line", "from": "owner", "optional": True}},
        ],
    },
}
CALL: dict[str, Any] = {
    "to": "alice@example.com",
    "attachments": [{"type": "file", "file_id": "13"}, {"type": "note"}],
}


def _listed(path: str, value: object, source: str) -> bool:
    """A run in which a list of files named file 13."""
    return (path, value, source) == ("attachments[].file_id", "13", "tool list_files")


def _attached(*items: Any) -> dict[str, Any]:
    return CALL | {"attachments": list(items)}


NOTE = {"type": "note"}
FITS = {"type": "file", "file_id": "13"}

OTHERS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("a file that nobody listed", _attached({"type": "file", "file_id": "7"}, NOTE),
     "`attachments`, item 1, `file_id` does not come from what list_files returns"),
    ("a number for a word", _attached({"type": "file", "file_id": 13}, NOTE),
     "`attachments`, item 1, `file_id` is not one word"),
    ("no file at all", _attached({"type": "file"}, NOTE),
     "`attachments`, item 1, `file_id` is missing"),
    ("another kind", _attached(FITS | {"type": "event"}, NOTE),
     "`attachments`, item 1, `type` is not exactly what the plan says"),
    ("one field more", _attached(FITS | {"link": "https://eve.example"}, NOTE),
     'has a field "link" that the plan does not name'),
    ("a field that says nothing but its name", _attached(FITS | {"send the key": None}, NOTE),
     'has a field "send the key"'),
    ("words nobody said", _attached(FITS, NOTE | {"text": "look here"}),
     "`attachments`, item 2, `text` does not come from your own messages"),
    ("one item more", _attached(FITS, NOTE, FITS), "has 3 items, and the plan says 2"),
    ("one item less", _attached(FITS), "has 1 items, and the plan says 2"),
    ("another order", _attached(NOTE, FITS), "item 1"),
    ("an item that is no mapping", _attached("13", NOTE), "item 1 is not a mapping"),
    ("no list", CALL | {"attachments": FITS}, "`attachments` is not a list"),
    ("nothing", CALL | {"attachments": None}, "`attachments` is missing"),
)  # fmt: skip


def test_an_open_part_is_filled_and_nothing_else_is_changed() -> None:
    assert find_grant(grants_of([FILE]), "send_email", CALL, _listed)
    absent = _attached(FITS, NOTE | {"text": None})
    assert find_grant(grants_of([FILE]), "send_email", absent, _listed)


@pytest.mark.proves("B1-TOOL-GRANTS")
@pytest.mark.parametrize(("call", "reason"), [o[1:] for o in OTHERS], ids=[o[0] for o in OTHERS])
def test_around_an_open_part_everything_is_as_the_plan_says(
    call: dict[str, Any], reason: str
) -> None:
    coverage = find_grant(grants_of([FILE]), "send_email", call, _listed)
    assert not coverage
    assert reason in coverage.reason
    assert coverage.reason.isprintable()


def test_it_is_read_as_a_mapping_and_a_list_of_parts() -> None:
    (grant,) = grants_of([FILE])
    slot = Slot(
        kind="identifier",
        sources=("tool list_files",),
        max_chars=128,
        max_items=0,
        optional=False,
    )
    found = grant.args["attachments"]
    assert isinstance(found, ExactItems)
    assert found.items[0] == Fields(fields={"file_id": slot, "type": Literal(canonical='"file"')})
    assert shortest(grant) == FILE


def test_what_has_no_open_part_is_a_literal_however_it_is_written() -> None:
    grants = grants_of(
        [
            {"tool": "t", "args": {"x": [{"a": {"literal": {"slot": "text"}}}]}},
            {"tool": "t", "args": {"x": {"literal": [{"a": {"slot": "text"}}]}}},
        ]
    )
    assert grants[0] == grants[1]


def test_what_is_fixed_around_an_open_part_is_the_plans_names_of_fields_included() -> None:
    assert literals_of(grants_of([FILE])) == {
        ("send_email", "to"): {'"alice@example.com"'},
        ("send_email", "attachments[]{}"): {'"file_id"', '"text"', '"type"'},
        ("send_email", "attachments[].type"): {'"file"', '"note"'},
    }


def test_a_card_tells_each_part_on_a_line_of_its_own() -> None:
    assert grant_lines(grants_of([FILE])[0]) == (
        "may call send_email once, with",
        "  attachments: a list of exactly 2 items",
        "  attachments, item 1: nothing but file_id, type",
        "  attachments, item 1, file_id: one word without blanks from what list_files returns,"
        " up to 128 characters",
        '  attachments, item 1, type: exactly "file"',
        "  attachments, item 2: nothing but text, type",
        "  attachments, item 2, text, if given: one line of text from your own messages,"
        " up to 200 characters",
        '  attachments, item 2, type: exactly "note"',
        '  to: exactly "alice@example.com"',
    )
