"""Checks run outside the agent's reach, on a copy, with nothing in their hands (spec 5.3, A3)."""

import os
from pathlib import Path
from typing import Any

import pytest

from silas.errors import SandboxError
from silas.gates import Expectation
from silas.plans import VerificationCheck, VerificationReport, WorkItemStatus
from silas.sandbox import (
    Endpoint,
    Mount,
    Sandbox,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
    default,
)
from silas.sandbox.searchpath import ALIASES, python_alias
from silas.testing import FakeSandbox, MockClock
from silas.testing.tools import SandboxRun, exit_result
from silas.work.checks.verify import CheckSetup, VerificationRunner
from tests.work.kit import DONE, argv, at_work, state_of

ANYTHING = Expectation(regex="")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "copy"
    path.mkdir()
    (path / "result.txt").write_text("done\n")
    (path / "deep").mkdir()
    (path / "deep" / "file").touch()
    (path / "out").symlink_to("/etc/passwd")
    return path


@pytest.fixture
def bench(root: Path, tmp_path: Path) -> CheckSetup:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return CheckSetup(cwd=Path("/project"), root=root, scratch=scratch)


@pytest.fixture
def sandbox() -> Sandbox:
    return default(SandboxConfig(), forbidden=())


def check(run: str, expect: Expectation = ANYTHING, **more: Any) -> VerificationCheck:
    return VerificationCheck(name=run, run=run, expect=expect, **more)


async def verify(
    sandbox: Sandbox,
    bench: CheckSetup,
    *checks: VerificationCheck,
    limits: SandboxLimits = SandboxLimits(),  # noqa: B008 - frozen
) -> VerificationReport:
    return await VerificationRunner(sandbox, MockClock(), limits).run_checks(checks, bench)


EXPECTED: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("exit 3", {"exit_code": 3}, True),
    ("exit 3", {"exit_code": 0}, False),
    ("kill -9 $$", {"exit_code": 137}, True),
    ("kill -9 $$", {"regex": ""}, False),
    ("printf 'a b'", {"equals": "a b"}, True),
    ("printf 'a b '", {"equals": "a b"}, False),
    ("cat result.txt", {"equals": "done"}, True),
    ("cat result.txt", {"contains": "don"}, True),
    ("cat result.txt", {"contains": "undone"}, False),
    ("cat result.txt", {"regex": "^d.ne$"}, True),
    ("cat result.txt", {"regex": "^one"}, False),
    ("echo 4.9", {"output_lt": 5}, True),
    ("echo 5", {"output_lt": 5}, False),
    ("echo 5.1", {"output_gt": 5}, True),
    ("echo five", {"output_gt": 5}, False),
    ("true", {"file_exists": "deep/file"}, True),
    ("true", {"file_exists": "/project/deep/file"}, True),
    ("true", {"file_exists": "missing"}, False),
    ("true", {"file_exists": "out"}, False),
    ("true", {"file_exists": "/etc/passwd"}, False),
    ("true", {"file_exists": "/project/../etc/passwd"}, False),
    ("echo x", {"not_empty": True}, True),
    ("true", {"not_empty": True}, False),
    ("echo only on stderr >&2", {"not_empty": True}, False),
    ("printf '3\\n1\\n2\\n' | sort | head -1 | tr -d '\\n'", {"equals": "1"}, True),
    ("true && false || echo both", {"contains": "both"}, True),
    ("no-such-program", {"exit_code": 127}, True),
)


@pytest.mark.parametrize(("run", "expect", "passes"), EXPECTED, ids=str)
async def test_every_expectation_holds_or_fails_on_a_real_command(
    sandbox: Sandbox, bench: CheckSetup, run: str, expect: dict[str, Any], passes: bool
) -> None:
    report = await verify(sandbox, bench, check(run, Expectation(**expect)))
    [result] = report.results
    assert (result.passed, report.all_passed) == (passes, passes), result.reason
    assert result.reason


WRITES = (
    "echo x > result.txt",
    "touch new",
    "rm -f result.txt",
    "chmod 777 result.txt",
    "mv deep shallow",
    "ln -s a b",
    "rm -rf ./*",
)


@pytest.mark.proves("S5.3-READ-ONLY")
async def test_a_check_cannot_change_the_workspace(
    sandbox: Sandbox, bench: CheckSetup, root: Path
) -> None:
    before = state_of(root)
    for write in WRITES:
        report = await verify(sandbox, bench, check(write, Expectation(exit_code=0)))
        assert report.all_passed, report.results[0].output
        assert state_of(root) == before


@pytest.mark.proves("S5.3-READ-ONLY", "S5.3-OWN-SANDBOX")
async def test_what_a_check_writes_is_gone_before_the_next_one(
    sandbox: Sandbox, bench: CheckSetup
) -> None:
    """Build tools write beside their sources; the next check sees what the work left, no more."""
    look = "ls -A; ls -A deep; cat result.txt; test ! -e result.txt/x"
    spoil = "echo forged > result.txt; touch left deep/left; mkdir __pycache__"
    report = await verify(sandbox, bench, check(look), check(spoil), check(look, timeout=61))
    first, spoilt, last = report.results
    assert spoilt.exit_code == 0
    assert last.output == first.output
    assert not list(bench.scratch.iterdir())


async def test_a_check_that_is_ended_at_a_limit_leaves_nothing(
    sandbox: Sandbox, bench: CheckSetup, root: Path
) -> None:
    before = state_of(root)
    limits = SandboxLimits(cpu_seconds=1)
    loop = check("mkdir -p a/b; chmod 000 a; echo x > result.txt; while :; do :; done")
    report = await verify(sandbox, bench, loop, limits=limits)
    assert not report.all_passed
    assert state_of(root) == before
    assert not list(bench.scratch.iterdir())


async def test_what_python_compiled_is_not_in_the_copy_of_a_check(
    sandbox: Sandbox, bench: CheckSetup, root: Path
) -> None:
    (root / "deep" / "__pycache__").mkdir()
    (root / "__pycache__").symlink_to("deep")
    report = await verify(sandbox, bench, check("find . -name __pycache__"))
    assert report.results[0].output == ""


@pytest.mark.proves("S5.3-MINIMAL-ENVIRONMENT")
async def test_a_check_has_a_minimal_environment_and_an_empty_home(
    sandbox: Sandbox, bench: CheckSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILAS_SECRET", "hunter2")
    report = await verify(sandbox, bench, check("env | sort"), check("ls -A $HOME | wc -l"))
    lines = dict(line.split("=", 1) for line in report.results[0].output.splitlines())
    lines.pop("PWD", None)  # the shell's own
    assert lines.pop("LANG", "C.UTF-8") == "C.UTF-8"
    alias = f":{ALIASES}" if python_alias() else ""
    assert lines == {"PATH": f"/usr/local/bin:/usr/bin:/bin{alias}", "HOME": "/tmp/home"}
    assert report.results[1].output.strip() == "0"


@pytest.mark.proves("S5.3-NO-NETWORK")
async def test_a_check_has_no_network_unless_the_plan_says_so(bench: CheckSetup) -> None:
    fake = FakeSandbox(lambda run: exit_result())
    await verify(fake, bench, check("a"), check("b", network=["pypi.org"]))
    reached = [run.files.network for run in fake.runs]
    assert reached == [(), (Endpoint("pypi.org", 443), Endpoint("pypi.org", 80))]


@pytest.mark.proves("S5.3-NO-NETWORK")
async def test_without_network_there_is_only_loopback(sandbox: Sandbox, bench: CheckSetup) -> None:
    report = await verify(sandbox, bench, check("tail -n +3 /proc/net/dev | cut -d: -f1"))
    assert report.results[0].output.split() == ["lo"]


@pytest.mark.proves("A3-CHECKS-THROUGH-SH", "S5.3-LIMITS")
async def test_a_check_runs_in_a_place_of_its_own_with_its_own_limits(bench: CheckSetup) -> None:
    fake = FakeSandbox(lambda run: exit_result())
    limits = SandboxLimits(memory_mb=100, cpu_seconds=7)
    await verify(fake, bench, check("a | b", timeout=9), check("c"), limits=limits)
    first, second = fake.runs
    assert first.argv == ("/bin/sh", "-c", "a | b")
    assert first.limits == limits.model_copy(update={"wall_seconds": 9.0})
    assert second.limits.wall_seconds == 60.0
    work = (first.files.mounts[0], second.files.mounts[0])
    assert first.files == SandboxFiles(cwd=bench.cwd, mounts=work[:1], loopback=True)
    assert [(m.target, m.writable) for m in work] == [(bench.cwd, True)] * 2
    assert len({bench.root, *(m.source for m in work)}) == 3
    assert not first.files.env


@pytest.mark.proves("S5.3-OWN-SANDBOX")
async def test_nothing_is_left_for_the_next_check(sandbox: Sandbox, bench: CheckSetup) -> None:
    left = "touch /tmp/left $HOME/left; (setsid sleep 60 &) ; ls -A /tmp $HOME"
    report = await verify(
        sandbox, bench, check(left), check("ls -A /tmp $HOME; ps 2>/dev/null; ls /proc")
    )
    assert "left" in report.results[0].output
    assert "left" not in report.results[1].output


ENDED: tuple[tuple[str, float, str], ...] = (
    ("timeout", 9.0, "Timeout after 9s"),
    ("timeout", 1.0, "Ended at the CPU time limit of 60s"),
    ("memory", 1.0, "Ended at the limit on memory"),
    ("processes", 1.0, "Ended at the limit on processes"),
    ("output", 1.0, "Ended at the limit on output"),
    ("signal", 1.0, "Ended by a signal"),
    ("cancelled", 1.0, "Ended from outside"),
)


@pytest.mark.proves("S5.3-TIMEOUT", "S5.3-LIMITS")
@pytest.mark.parametrize(("how", "seconds", "reason"), ENDED)
async def test_a_check_that_did_not_end_by_itself_fails_whatever_it_printed(
    bench: CheckSetup, how: Any, seconds: float, reason: str
) -> None:
    def answer(run: SandboxRun) -> SandboxResult:
        return SandboxResult(
            exit_code=0, stdout="done", stderr="", ended_by=how, duration_seconds=seconds
        )

    report = await verify(
        FakeSandbox(answer), bench, check("x", Expectation(contains="done"), timeout=9)
    )
    assert [(r.passed, r.reason, r.output) for r in report.results] == [(False, reason, "done")]


@pytest.mark.proves("S5.3-TIMEOUT")
async def test_a_check_that_hangs_is_ended_at_its_timeout(
    sandbox: Sandbox, bench: CheckSetup
) -> None:
    report = await verify(sandbox, bench, check("sleep 60", timeout=1))
    [result] = report.results
    assert (result.passed, result.reason) == (False, "Timeout after 1s")


@pytest.mark.proves("S5.3-LIMITS")
async def test_a_check_has_limits(sandbox: Sandbox, bench: CheckSetup) -> None:
    limits = SandboxLimits(memory_mb=64, output_bytes=2000)
    report = await verify(
        sandbox,
        bench,
        check("yes", Expectation(contains="y")),
        check("tail /dev/zero", Expectation(exit_code=0), timeout=60),
        limits=limits,
    )
    assert [result.passed for result in report.results] == [False, False]
    assert report.results[0].reason == "Ended at the limit on output"


@pytest.mark.proves("S5.3-REPORT")
async def test_every_check_runs_even_after_a_failure_and_the_report_counts_them(
    sandbox: Sandbox, bench: CheckSetup
) -> None:
    wanted = Expectation(exit_code=0)
    report = await verify(
        sandbox, bench, *(check(c, wanted) for c in ("true", "false", "exit 2", "true"))
    )
    assert [result.passed for result in report.results] == [True, False, False, True]
    assert [result.name for result in report.failed] == ["false", "exit 2"]
    assert not report.all_passed
    assert report.timestamp == MockClock().now()


@pytest.mark.proves("S5.3-REPORT")
async def test_the_end_of_long_output_is_kept(sandbox: Sandbox, bench: CheckSetup) -> None:
    long = "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done"
    report = await verify(sandbox, bench, check(long), check(f"({long}) >&2"))
    for result in report.results:
        assert len(result.output) == 1000
        assert result.output.endswith("line 499\n")


@pytest.mark.proves("S5.3-READ-ONLY")
@pytest.mark.parametrize("around", ["below", "above"])
async def test_a_writable_bench_is_refused_before_anything_runs(root: Path, around: str) -> None:
    fake = FakeSandbox(lambda run: exit_result())
    shown = (Mount(source=root, target=Path("/q"), writable=True),)
    bench = CheckSetup(Path("/p"), root, root.parent)
    bench = bench._replace(below=shown) if around == "below" else bench._replace(above=shown)
    with pytest.raises(SandboxError) as refused:
        await verify(fake, bench, check("true"))
    assert refused.value.code == "E_SANDBOX_VERIFY_WRITABLE"
    assert not fake.runs


@pytest.mark.proves("S18.1-SANDBOX", "S5.3-NO-NETWORK")
async def test_a_sandbox_that_fails_during_verification_blocks_and_applies_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "result.txt").write_text("before")

    def answer(run: SandboxRun) -> SandboxResult:
        if run.argv[0] == "/bin/sh":
            raise SandboxUnavailable("bubblewrap is gone; install it.", code="E_SANDBOX_MISSING")
        (run.files.mounts[0].source / "result.txt").write_text("done")
        return exit_result()

    async with at_work(argv("true"), DONE, sandbox=FakeSandbox(answer)) as work:
        result = await work.run(workspace=str(tmp_path))
        assert result.status is WorkItemStatus.blocked
        assert "bubblewrap is gone; install it." in result.summary
        assert (await work.stored()).status is WorkItemStatus.blocked
    assert (tmp_path / "result.txt").read_text() == "before"


@pytest.mark.proves("S5.3-OWN-SANDBOX", "B1-WORKSPACE")
async def test_verification_is_a_run_apart_from_the_agents(tmp_path: Path) -> None:
    fake = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(argv("true"), DONE, sandbox=fake) as work:
        await work.run(workspace=str(tmp_path))
    agent, checked = fake.runs
    assert [mount.writable for mount in agent.files.mounts] == [True, False]
    assert [mount.writable for mount in checked.files.mounts] == [True, False]
    places = [run.files.mounts[0] for run in fake.runs]
    assert places[0].target == places[1].target  # its own path, on another copy
    assert not places[1].source.is_relative_to(places[0].source)
    assert not places[0].source.is_relative_to(places[1].source)
    assert checked.files.cwd == tmp_path
    assert os.fspath(checked.files.home) == "/tmp/home"
