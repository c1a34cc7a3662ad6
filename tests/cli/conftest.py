"""A home that is set up, for commands in a process of their own and for commands in this one."""

from pathlib import Path

import pytest

from tests.support.command import environment, run, silas


@pytest.fixture(scope="session")
def set_up(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a home in which `silas init` was run; tests must not change its key."""
    env = environment(tmp_path_factory.mktemp("home") / "silas")
    done = run(silas("init"), env)
    assert done.code == 0, done.err
    return env


@pytest.fixture
def here(set_up: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same home for a command that runs in this process."""
    for name in ("SILAS_HOME", "SILAS_KEYS__BACKEND", "HOME"):
        monkeypatch.setenv(name, set_up[name])
    return Path(set_up["SILAS_HOME"])


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which nothing was done yet, for a command that runs in this process."""
    home = tmp_path / "bare"
    monkeypatch.setenv("SILAS_HOME", str(home))
    monkeypatch.setenv("SILAS_KEYS__BACKEND", "file")
    return home
