"""`make stress` names what fails in any of its runs, and says when nothing did."""

from pathlib import Path

import pytest

from scripts import stress


@pytest.fixture(autouse=True)
def few_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs have what `-n` needs, and load nothing else that is installed here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")


def test_it_names_what_failed_and_how_often(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    times = tmp_path / "times"
    (tmp_path / "test_some.py").write_text(
        "from pathlib import Path\n"
        f"TIMES = Path({str(times)!r})\n"
        "def test_good(): pass\n"
        "def test_red_the_second_time():\n"
        "    TIMES.write_text((TIMES.read_text() if TIMES.exists() else '') + 'x')\n"
        "    assert TIMES.read_text() != 'xx'\n"
    )
    monkeypatch.chdir(tmp_path)
    assert stress.main(["--runs", "2", "--busy", "1", str(tmp_path / "test_some.py")]) == 1
    said = capsys.readouterr().out
    assert "run 1 of 2: 0 failed" in said
    assert "1 of 2: test_some.py::test_red_the_second_time" in said
    assert "AssertionError: assert 'xx' != 'xx'" in said
    assert "test_good" not in said


def test_it_says_so_when_nothing_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "test_some.py").write_text("def test_good(): pass\n")
    monkeypatch.chdir(tmp_path)
    assert stress.main(["--runs", "1", "--busy", "0", str(tmp_path / "test_some.py")]) == 0
    assert "No test failed in 1 runs beside 0 busy processes." in capsys.readouterr().out


@pytest.mark.parametrize("runs", ["0", "-1", "many"])
def test_a_number_of_runs_that_is_none_is_refused(runs: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        stress.main([f"--runs={runs}"])
    assert ended.value.code == 2
    assert "is no number of runs; give 1 or more" in capsys.readouterr().err
