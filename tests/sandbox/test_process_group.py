"""Where the kernel can count the processes of a run (spec 9.1)."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from silas.sandbox import process_group
from silas.sandbox.process_group import counted_by_the_kernel, parent_of_runs

VERSION_1 = "9:name=systemd:/x\n8:pids:/docker/abc\n4:memory:/docker/abc\n0::/\n"


def test_version_1_has_groups_inside_of_ones_own(tmp_path: Path) -> None:
    assert parent_of_runs(VERSION_1, tmp_path) == tmp_path / "pids/docker/abc"


@pytest.mark.parametrize(
    ("told", "inside", "offers", "expected"),
    [
        ("0::/user.slice/a.scope\n", "user.slice", "cpu pids\n", "user.slice"),
        ("0::/user.slice/a.scope\n", "user.slice", "cpu\n", None),
        ("0::/\n", ".", "pids\n", "."),
        ("0::/../../elsewhere\n", ".", "pids\n", None),
        ("1:name=systemd:/\n", ".", "pids\n", None),
        ("", ".", "pids\n", None),
    ],
)
def test_version_2_has_groups_beside_ones_own(
    tmp_path: Path, told: str, inside: str, offers: str, expected: str | None
) -> None:
    (tmp_path / inside).mkdir(exist_ok=True)
    (tmp_path / inside / "cgroup.subtree_control").write_text(offers)
    assert parent_of_runs(told, tmp_path) == (tmp_path / expected if expected else None)


def test_version_2_without_controllers_offers_nothing(tmp_path: Path) -> None:
    assert parent_of_runs("0::/a/b\n", tmp_path) is None


def test_a_group_goes_with_its_run_and_what_was_left_goes_with_the_next() -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as child:
        with counted_by_the_kernel(child.pid, 20) as counted:
            if not counted:
                child.kill()
                pytest.skip("only root can make control groups, and only where they are its own")
            parent = parent_of_runs(Path("/proc/self/cgroup").read_text())
            assert parent is not None
            group = parent / f"silas-run-{os.getpid()}-{child.pid}"
            assert (group / "pids.max").read_text() == "22\n"
            assert (group / "cgroup.procs").read_text() == f"{child.pid}\n"
        assert group.is_dir()  # its process lives
        child.kill()
        child.wait()
        with counted_by_the_kernel(child.pid, 20) as counted:
            assert not counted  # there is no such process any more
            assert not group.exists()
    assert not list(parent.glob(f"silas-run-{os.getpid()}-*"))


def test_the_groups_are_listed_once_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    listed, scandir = list[str](), os.scandir

    def listing(path: Path) -> Any:
        listed.append(str(path))
        return scandir(path)

    monkeypatch.setattr(process_group.os, "scandir", listing)
    for _ in range(3):
        with subprocess.Popen(["/bin/sleep", "60"]) as child:
            with counted_by_the_kernel(child.pid, 20) as counted:
                if not counted:
                    child.kill()
                    pytest.skip(
                        "only root can make control groups, and only where they are its own"
                    )
            child.kill()
    assert len(listed) <= 1
