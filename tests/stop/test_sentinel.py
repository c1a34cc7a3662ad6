"""The file alone stops Silas, and only its certain absence lets it run."""

import os
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from silas.errors import Stopped
from silas.stop import Sentinel
from silas.stop.sentinel import NAME


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def _looping(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, os.mkfifo, _dangling, _looping])
def test_whatever_has_the_name_stops(tmp_path: Path, make: Callable[[Path], object]) -> None:
    sentinel = Sentinel(tmp_path)
    sentinel.require_running()
    make(tmp_path / NAME)
    assert sentinel.stands()
    with pytest.raises(Stopped, match=r"Silas is stopped since .* \(UTC\); `silas resume` starts"):
        sentinel.require_running()


def test_since_when_is_told_by_the_owners_clock(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.touch()
    os.utime(path, (1_795_820_400, 1_795_820_400))  # 27 November 2026, 23:00 UTC
    said = Sentinel(tmp_path, ZoneInfo("Europe/Vienna")).words()
    assert said.startswith(
        "Silas is stopped since Saturday 28 November 2026, 00:00 (Europe/Vienna);"
    )


def test_a_place_that_cannot_be_looked_at_stops(tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.touch()
    with pytest.raises(Stopped, match="Silas is stopped; `silas resume`"):
        Sentinel(no_folder).require_running()


def test_a_moment_that_is_none_stops_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.touch()
    os.utime(path, (1 << 55, 1 << 55))
    assert Sentinel(tmp_path).stands()


def test_placing_twice_keeps_the_first_and_removing_ends_it(tmp_path: Path) -> None:
    sentinel = Sentinel(tmp_path)
    assert sentinel.place()
    os.utime(sentinel.path, (86_400, 86_400))
    assert not sentinel.place()
    assert "2 January 1970" in sentinel.words()
    sentinel.keep()
    sentinel.remove()
    sentinel.remove()
    assert sentinel.words() == ""
