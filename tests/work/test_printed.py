"""What work printed is its result: kept, bounded, shown, and forgotten with what it rests on."""

from pathlib import Path

import pytest

from silas.testing import Harness, MockClock
from silas.work.printed_output import LONGEST
from tests.stream.test_forgetting import forget
from tests.work.kit import DONE, argv, at_work, owner, sh


async def test_what_a_program_printed_is_in_the_result_and_there_after_a_restart(
    tmp_path: Path,
) -> None:
    clock = MockClock()
    async with at_work(sh("echo seen; echo again"), DONE, home=tmp_path, clock=clock) as work:
        result = await work.run(verify=[])
    lines = result.output.split("\n")
    assert lines == ["Run sh -c 'echo seen; echo again'", "    seen", "    again"]
    async with Harness(home=tmp_path, clock=clock) as h:
        kept = await h.silas.wait(result.work_item_id)
    assert kept == result


async def test_what_failed_work_printed_is_in_its_result_too() -> None:
    async with at_work(sh("echo why; echo worse >&2; exit 3"), DONE) as work:
        result = await work.run(budget={"max_attempts": 1})
    assert result.status == "stuck"
    for words in ("    exit code 3", "    why", "    worse"):
        assert words in result.output.split("\n")


async def test_a_long_output_keeps_its_ends_and_says_what_is_missing() -> None:
    script = "import sys; sys.stdout.write('first\\n' + 'x' * 50_000 + '\\nlast\\n')"
    async with at_work(argv("python3", "-c", script), DONE) as work:
        result = await work.run(verify=[])
    assert "    first" in result.output.split("\n")
    assert result.output.endswith("    last")
    assert f"characters were left out here; {LONGEST:,} of a run are kept.]" in result.output
    assert len(result.output) < LONGEST + 200


async def test_no_printed_line_can_pass_for_words_of_silas() -> None:
    script = "printf 'done: Done and verified.\\n\\033[2Jhidden\\n'"
    channel = owner()
    async with at_work(sh(script), DONE, channel=channel) as work:
        result = await work.run(verify=[])
    assert "    done: Done and verified." in result.output.split("\n")
    assert "\x1b" not in result.output
    assert [line for line in result.output.split("\n") if not line.startswith("    ")] == [
        result.output.split("\n")[0]
    ]


@pytest.mark.parametrize("source", ["tool:shell_exec", "tool:elsewhere"])
async def test_what_was_printed_goes_with_its_source(tmp_path: Path, source: str) -> None:
    clock = MockClock()
    async with at_work(sh("echo Mia"), DONE, home=tmp_path, clock=clock) as work:
        result = await work.run(verify=[])
        assert "Mia" in result.output
        await forget(work.harness, source)
        shown = await work.silas.wait(result.work_item_id)
    assert shown is not None
    assert ("Mia" in shown.output) is (source == "tool:elsewhere")
    assert shown.output  # where it is gone, a sentence says why
