"""Each run is by itself: its own arguments, namespaces and files, and nothing is left of it."""

import os
import uuid
from pathlib import Path

import pytest

from silas.sandbox import Endpoint

from .conftest import PYTHON, Run


@pytest.mark.proves("S9.1-ARGUMENT-LISTS")
@pytest.mark.parametrize(
    "argument", ["a; echo b", "$HOME", "`id`", "$(id)", "*", "a && b", "a | b", "> x", "'", '"', ""]
)
async def test_every_argument_arrives_as_it_is_and_no_shell_reads_it(
    run: Run, argument: str
) -> None:
    result = await run(["/usr/bin/printf", "[%s]", argument, "next"])
    assert result.stdout == f"[{argument}][next]"


WRITE = """
import os, sys
for place in (os.environ["HOME"], "/tmp", "/dev/shm", os.getcwd()):
    path = os.path.join(place, sys.argv[1])
    print(os.path.exists(path), end=" ")
    open(path, "w").write("kept")
    print(os.path.exists(path))
"""


@pytest.mark.proves("S4.7-DESTROYED", "S9.1-FRESH-WORKSPACE", "S15-NEVER-OTHER-CONTEXTS")
async def test_nothing_a_run_leaves_outside_its_mounts_is_there_for_the_next_or_for_the_host(
    run: Run,
) -> None:
    name = f"silas-left-{uuid.uuid4().hex}"
    for _ in range(2):
        result = await run([PYTHON, "-I", "-c", WRITE, name])
        assert result.stdout == "False True\n" * 4, result.stderr
    places = ("/tmp", "/tmp/home", "/dev/shm", "/var/tmp", "/work", "/work/empty", os.getcwd())
    assert not [place for place in (*places, Path.home()) if Path(place, name).exists()]


@pytest.mark.proves("A20-NAMESPACES-AND-CAPABILITIES")
@pytest.mark.parametrize("network", [(), (Endpoint("pypi.org", 443),)])
async def test_every_namespace_is_another_one_than_the_hosts(
    python: Run, network: tuple[Endpoint, ...]
) -> None:
    kinds = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"]
    source = f"import os; print(*(os.readlink('/proc/self/ns/' + kind) for kind in {kinds}))"
    inside = (await python(source, network=network)).stdout.split()
    outside = [os.readlink(f"/proc/self/ns/{kind}") for kind in kinds]
    shared = [kind for kind, a, b in zip(kinds, inside, outside, strict=True) if a == b]
    assert len(inside) == len(kinds)
    assert shared == []
