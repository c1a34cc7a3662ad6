"""Killed anywhere in a run: after the restart the item is done, or says why not, or is asked.

The original directory is as before or as verified, no effect happened more often than it was
approved, nothing is left over, the record holds, and what was done can be undone.
"""

import errno
import sqlite3
from collections.abc import Callable

import pytest

from silas.plans import WorkItemStatus
from tests.chaos.kit import broken_at, sample

# what was about to be awaited when the process died never is
pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited:RuntimeWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


def locked() -> BaseException:
    return sqlite3.OperationalError("database is locked")


def database_full() -> BaseException:
    return sqlite3.OperationalError("database or disk is full")


def disk_full() -> BaseException:
    return OSError(errno.ENOSPC, "No space left on device")


def disk_broken() -> BaseException:
    return OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize(("sends", "wanted"), [(False, 8), (True, 16)])
def test_killed_at_any_point_of_a_run_nothing_is_lost_doubled_or_half_done(
    sends: bool, wanted: int
) -> None:
    whole = broken_at(0, sends=sends)
    assert whole.found.item is not None
    assert whole.found.item.status is WorkItemStatus.done
    assert len(whole.seen) > 200  # the harness sees the run, not only its ends
    kinds: set[str] = set()
    for point in sample(len(whole.seen), wanted):
        kinds.add(broken_at(point, sends=sends).kind)
    assert {"db", "committed", "file", "step"} <= set(whole.seen)
    assert len(kinds) > 1  # and the sample is not of one kind alone


@pytest.mark.parametrize(
    ("what", "kind", "wanted"),
    [(locked, "db", 6), (database_full, "db", 6), (disk_full, "file", 6), (disk_broken, "file", 6)],
)
def test_a_refusal_of_disk_or_database_anywhere_ends_the_same_way(
    what: Callable[[], BaseException], kind: str, wanted: int
) -> None:
    kinds = frozenset({"file", "journal"} if kind == "file" else {kind})
    points = len(broken_at(0, sends=True, kinds=kinds).seen)
    assert points > 30
    for point in sample(points, wanted):
        assert broken_at(point, sends=True, what=what, kinds=kinds).ended


def test_a_disk_that_fails_while_the_private_copy_is_made_blocks_the_work_with_its_reason() -> None:
    kinds = frozenset({"file"})
    point = 0
    while True:
        point += 1
        after = broken_at(point, sends=True, what=disk_broken, kinds=kinds)
        if after.noted["worked"]:
            break  # the copy was made before that
        assert after.error is None
        assert after.found.item is not None
        assert after.found.item.status is WorkItemStatus.blocked
    assert point > 5
