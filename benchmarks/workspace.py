"""The private copy of a workspace (200 MB in 20,000 files) and its changes, against `cp -a`."""

import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from silas.workspace.copy import Workspace
from silas.workspace.tree import remove_tree

BYTES, PER_FOLDER = 10_000, 50


def _tree(root: Path, files: int) -> Path:
    """Bytes that do not repeat, so that no file system makes it easier than it is."""
    content = random.Random(0).randbytes(BYTES * 2)
    for number in range(files):
        folder = root / f"{number // PER_FOLDER}"
        folder.mkdir(parents=True, exist_ok=True)
        at = random.Random(number).randrange(BYTES)
        (folder / f"{number}.bin").write_bytes(content[at : at + BYTES])
    return root


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _copied(root: Path, copy: Path) -> None:
    subprocess.run(["cp", "-a", str(root), str(copy)], check=True, env=dict(os.environ))


def _round(root: Path, scratch: Path, number: int) -> dict[str, float]:
    scratch.mkdir()
    plain = _seconds(lambda: _copied(root, scratch / "plain"))
    made: list[Workspace] = []
    ours = _seconds(lambda: made.append(Workspace.prepare(root, scratch / "ours")))
    workspace = made[0]
    unchanged = _seconds(workspace.changes)
    (workspace.copy / "0" / f"{number}.bin").write_bytes(b"changed")
    undo = scratch / "undo"
    apply = _seconds(lambda: workspace.apply(undo))
    kept = sum(path.stat().st_size for path in undo.iterdir() if path.name != "journal.json")
    remove_tree(scratch / "plain")
    workspace.discard()
    remove_tree(undo)
    assert kept == BYTES
    return {
        "cp -a (s)": plain,
        "private copy (s)": ours,
        "private copy, ratio to cp -a": ours / plain,
        "look for changes, ratio to cp -a": unchanged / plain,
        "apply one changed file, ratio to cp -a": apply / plain,
        "kept for undo (bytes)": float(kept),
    }


def measure(rounds: int = 3, files: int = 20_000) -> dict[str, float]:
    """Medians over rounds, on the file system of the temporary directory."""
    with tempfile.TemporaryDirectory(prefix="silas-bench-") as place:
        base = Path(place).resolve()
        root = _tree(base / "workspace", files)
        found = [_round(root, base / f"{number}", number) for number in range(rounds)]
    return {name: statistics.median(one[name] for one in found) for name in found[0]}
