"""A package of somebody else's, installed for a test as its users would, and gone after it."""

import atexit
import subprocess
import sys
from collections.abc import Generator
from functools import cache
from importlib import invalidate_caches
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import pytest

from tests.support.waits import SECONDS

SOURCE = Path(__file__).parents[1] / "tools" / "thirdparty"
PACKAGE = "acme_toolsets"


@cache
def built() -> Path:
    """The package in a directory of its own, by pip, without a network."""
    place = Path(mkdtemp(prefix="silas-thirdparty-"))
    atexit.register(rmtree, place, ignore_errors=True)
    words = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    words += ["--disable-pip-version-check", "--target", str(place / "site"), str(SOURCE)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, timeout=SECONDS)
    return place / "site"


def imported() -> bool:
    """Whether anything of the package was imported."""
    return any(name.partition(".")[0] == PACKAGE for name in sys.modules)


def of_acme(module: str) -> Any:
    """A module of the package as it was loaded."""
    return sys.modules[f"{PACKAGE}.{module}"]


def forget() -> None:
    """As if it had never been imported."""
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The package, installed and not imported."""
    forget()
    monkeypatch.setattr(sys, "path", [str(built()), *sys.path])
    invalidate_caches()
    yield built()
    forget()
