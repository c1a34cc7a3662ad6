"""The requirement manifest: every MUST of the specification and of the decisions, by id.

A test says what it proves with `@pytest.mark.proves("ID", ...)`; `test_requirements.py` keeps the
two in agreement both ways. Ids begin with the section (`S3.6-`), the decision (`A6-`, `B4-`, `C-`)
or the smaller document: `TR-` tool runtime, `TP-` toolset plugins, `WP-` worker approval policy.
"""

from collections.abc import Iterable, Mapping
from itertools import chain

from tests.requirements_data import (
    decisions,
    part_0_2,
    part_3_4,
    part_3_trust,
    part_5_6_rest,
    part_5_stream,
    part_5_work,
    part_7_10,
    part_11_18,
    tool_door,
)
from tests.requirements_data.model import Requirement

__all__ = ["REQUIREMENTS", "Requirement", "gather"]

_PARTS = (
    part_0_2,
    part_3_trust,
    part_3_4,
    part_5_stream,
    part_5_work,
    part_5_6_rest,
    part_7_10,
    part_11_18,
    decisions,
    tool_door,
)


def gather(requirements: Iterable[Requirement]) -> Mapping[str, Requirement]:
    """Requirements by id.

    Raises:
        ValueError: Two requirements have the same id.
    """
    by_id: dict[str, Requirement] = {}
    for requirement in requirements:
        if requirement.id in by_id:
            raise ValueError(f"two requirements are called {requirement.id}")
        by_id[requirement.id] = requirement
    return by_id


REQUIREMENTS = gather(chain.from_iterable(part.REQUIREMENTS for part in _PARTS))
"""Every requirement there is."""
