"""An installation from the wheel, in an environment that holds only what Silas declares."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.command import ROOT, SECONDS, environment


def build_wheel(folder: Path) -> Path:
    """The wheel, as `pip wheel` has it built; no network and no environment of its own."""
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(wheel)


def install(wheel: Path, place: Path) -> Path:
    """Make an environment outside the checkout and install the wheel; gives its site-packages.

    What the wheel declares is linked from the environment of the tests, and nothing else is: no
    test runner, no linter, no extra.
    """
    made = [sys.executable, "-I", "-m", "venv", "--without-pip", str(place)]
    pip = [sys.executable, "-I", "-m", "pip", "--python", str(place / "bin/python"), "install"]
    offline = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", str(wheel)]
    for command in (made, [*pip, *offline]):
        subprocess.run(command, check=True, timeout=SECONDS, capture_output=True, cwd="/")
    (site,) = place.glob("lib/python3*/site-packages")
    (declared,) = metadata.distributions(name="silas", path=[str(site)])
    for one in needed(declared):
        _link(one, site)
    return site


def needed(first: metadata.Distribution) -> list[metadata.Distribution]:
    """Every distribution that one needs to be installed, without its extras."""
    found: dict[str, metadata.Distribution] = {}
    waiting, seen = [(first, "")], set[tuple[str, str]]()
    while waiting:
        dist, extra = waiting.pop()
        for name, wanted in _required(dist, extra):
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                found[name] = metadata.distribution(name)
                waiting.append((found[name], wanted))
    return list(found.values())


def _required(dist: metadata.Distribution, extra: str) -> Iterator[tuple[str, str]]:
    for text in dist.requires or ():
        one = Requirement(text)
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            for wanted in ("", *one.extras):
                yield canonicalize_name(one.name), wanted


def _link(dist: metadata.Distribution, site: Path) -> None:
    for name in {path.parts[0] for path in dist.files or ()} - {"..", "__pycache__"}:
        source = Path(str(dist.locate_file(name)))
        if not (site / name).exists():
            (site / name).symlink_to(source)


def bare(home: Path) -> dict[str, str]:
    """The environment of somebody who has never seen the checkout."""
    key = {"SILAS_KEYS__KEY_FILE": str(home / "unlock.key"), "SILAS_KEYS__CREATE_KEY_FILE": "true"}
    system = os.pathsep.join(["/usr/local/bin", "/usr/bin", "/bin"])
    return environment(home, **key) | {"PATH": system}
