"""`make test` keeps its temporary files in memory where that leaves nothing behind."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "in_memory.sh"
TELL = (
    "import os, sys, tempfile; place = tempfile.gettempdir(); "
    "open(os.path.join(place, 'written'), 'x').close(); print(place, *sys.argv[1:], sep='\\n')"
)


def run(place: Path, *command: str) -> list[str]:
    """Its exit code, and the lines that it wrote; what is in `place` are its first programs."""
    done = subprocess.run(
        ["/bin/sh", SCRIPT, sys.executable, "-I", "-c", *command],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{place}:/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": str(place)},
    )
    return [str(done.returncode), *done.stdout.splitlines()]


def test_what_is_written_is_gone_and_words_arrive_as_they_were(tmp_path: Path) -> None:
    code, place, *words = run(tmp_path, TELL, "two words", "", "$HOME 'x'")

    assert (code, words) == ("0", ["two words", "", "$HOME 'x'"])
    in_memory = place != str(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ([] if in_memory else ["written"])
    assert not in_memory or not Path(place).exists()


def test_it_ends_as_the_command_did(tmp_path: Path) -> None:
    assert run(tmp_path, "raise SystemExit(7)") == ["7"]


def test_who_may_not_mount_has_the_disk(tmp_path: Path) -> None:
    """A machine without `unshare`, as an ordinary user's is one without the right to it."""
    (tmp_path / "unshare").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "unshare").chmod(0o755)

    assert run(tmp_path, TELL) == ["0", str(tmp_path)]
    assert (tmp_path / "written").exists()
