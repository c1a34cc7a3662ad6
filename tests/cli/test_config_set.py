"""`silas config set`: one setting, through the service that the cockpit uses, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from silas.config import load_config
from silas.config.edit_values import value_of
from silas.services.setup.saved_settings import SETTINGS, Setting
from tests.support.command import Ended, environment, person, run, silas

MEMORY = "sandbox.default_memory_mb"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home of this module's own: its file is written."""
    made = environment(tmp_path_factory.mktemp("settings") / "silas")
    assert run(silas("init"), made).code == 0
    return made


@pytest.fixture
def file(env: dict[str, str]) -> Path:
    """The configuration file as people write it."""
    path = Path(env["SILAS_HOME"]) / "config.yaml"
    path.write_text("silas:\n  # mine\n  audit: { checkpoint_minutes: 60 }\n", encoding="utf-8")
    return path


def _set(env: dict[str, str], *words: str, stdin: str = "") -> Ended:
    return run(silas("config", "set", *words), env, stdin=stdin)


def _written(file: Path, env: dict[str, str], name: str) -> Any:
    return value_of(load_config(file, env), name)


def test_what_narrows_is_saved_at_once_with_what_changed(env: dict[str, str], file: Path) -> None:
    done = _set(env, MEMORY, "64")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "Memory for one run: 512 MB → 64 MB\n"
        "The settings are saved; they count from the next start on.\n"
    )
    assert _written(file, env, MEMORY) == 64
    assert "  # mine\n" in file.read_text(encoding="utf-8")
    (entry,) = [
        one
        for one in json.loads(run(silas("audit", "show", "--json"), env).out)
        if one["event"] == "settings_saved"
    ]
    assert entry["data"] == {"names": [MEMORY], "widened": []}


def test_a_document_says_what_became_of_it(env: dict[str, str], file: Path) -> None:
    done = _set(env, "suggestions.enabled", "off", "--json")
    assert done.code == 0, done
    document = json.loads(done.out)
    assert document == {
        "file": str(file),
        "name": "suggestions.enabled",
        "before": True,
        "after": False,
        "widens": False,
        "words": "Silas suggests something by itself: on → off",
        "backup": document["backup"],
    }
    assert Path(document["backup"]).read_text(encoding="utf-8").startswith("silas:\n  # mine")


WIDER = [
    (MEMORY, "1024"),
    ("limits.max_delegation_depth", "4"),
    ("interaction.require_confirmation_on_material_ambiguity", "false"),
]


@pytest.mark.parametrize(("name", "value"), WIDER)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["words", "json"])
def test_what_widens_needs_a_person_at_a_terminal(
    env: dict[str, str], file: Path, name: str, value: str, form: tuple[str, ...]
) -> None:
    before = file.read_bytes()
    done = _set(env, name, value, *form, stdin="1\ny\nyes\n")
    assert done.code == 3, done
    assert done.err.count("\n") == 1
    assert "lets Silas do more, so it needs your yes" in done.err
    if form:
        assert json.loads(done.out)["error"]["code"] == "E_APPROVAL_UNATTENDED"
    assert file.read_bytes() == before


@pytest.mark.parametrize(("answer", "code", "becomes"), [("1", 0, 1024), ("2", 3, 512)])
def test_what_widens_asks_with_the_card_of_the_cockpit(
    env: dict[str, str], file: Path, answer: str, code: int, becomes: int
) -> None:
    with person(silas("config", "set", MEMORY, "1024"), env) as somebody:
        somebody.waits_for("Save settings that let Silas do more")
        somebody.waits_for("512 MB → 1024 MB")
        somebody.waits_for("Save them")
        somebody.waits_for("Leave them as they are")
        somebody.types(f"{answer}\r")
        assert somebody.leaves() == code
    assert ("The settings are saved" if code == 0 else "Nothing was saved.") in somebody.seen
    assert _written(file, env, MEMORY) == becomes
    found = json.loads(run(silas("audit", "show", "--json"), env).out)
    declined = [one["data"]["names"] for one in found if one["event"] == "settings_declined"]
    assert declined == ([] if code == 0 else [[MEMORY]])
    told = "“Memory for one run”: left as before, because there was no yes."
    assert (told in run(silas("audit", "show"), env).out) is (code != 0)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("sandbox.backend", "docker", "(language, quiet_hours.start, quiet_hours.end, "),
        ("models.proxy", "x", "'models.proxy' is not among the settings"),
        ("", "x", "'' is not among the settings"),
        ("a\x1b[2J", "x", r"'a\x1b[2J' is not among"),
        (MEMORY, "8", "must be a whole number from 16 to 65536"),
        (MEMORY, "much", "must be a whole number from 16 to 65536"),
        (MEMORY, "9" * 5_000, "must be a whole number from 16 to 65536"),
        ("language", "fr", "must be null, en, de"),
        ("suggestions.enabled", "maybe", "must be true, false"),
        ("quiet_hours.end", "late", 'must be a time of day such as "22:00"'),
        ("quiet_hours.end", "25:00", "quiet_hours.end"),
    ],
)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["words", "json"])
def test_another_name_or_value_is_a_wrong_use_in_one_sentence(
    env: dict[str, str], file: Path, name: str, value: str, words: str, form: tuple[str, ...]
) -> None:
    before = file.read_bytes()
    done = _set(env, *form, "--", name, value)
    assert done.code == 2, done
    assert (words in done.err, done.err.count("\n")) == (True, 1), done.err
    assert (done.out == "") is not bool(form)
    assert file.read_bytes() == before


SMALLER = {"choice": "de", "number": "1", "switch": "false", "time": "23:15"}


@pytest.mark.parametrize("setting", SETTINGS, ids=[one.name for one in SETTINGS])
def test_every_setting_of_the_cockpit_is_known_here(
    env: dict[str, str], file: Path, setting: Setting
) -> None:
    del file
    value = str(max(1, setting.least)) if setting.kind == "number" else SMALLER[setting.kind]
    value = "true" if setting.widens == "off" else value
    done = _set(env, setting.name, value)
    assert done.code == 0, done


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (MEMORY, "512", "Memory for one run: 512 MB already; nothing was written.\n"),
        ("suggestions.enabled", "on", "Silas suggests something by itself: on already; "),
        ("language", "null", "Language of cards and results: as on this machine already; "),
    ],
)
def test_a_value_that_is_there_already_writes_nothing_and_is_no_mistake(
    env: dict[str, str], file: Path, name: str, value: str, said: str
) -> None:
    before = file.read_bytes()
    done = _set(env, name, value)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(said)
    document = json.loads(_set(env, name, value, "--json").out)
    assert document["words"].startswith(said.strip())
    assert (document["before"] == document["after"], document["backup"]) == (True, None)
    assert file.read_bytes() == before


def test_in_german_what_changed_is_said_in_german(env: dict[str, str], file: Path) -> None:
    assert _set(env, "language", "de").code == 0
    done = _set(env, MEMORY, "64")
    assert "Arbeitsspeicher" in done.out or "Speicher" in done.out, done
    assert "512 MB → 64 MB" in done.out
    refused = _set(env, MEMORY, "8")
    assert (refused.code, MEMORY in refused.err, "ganze Zahl" in refused.err) == (2, True, True)
    assert "schon" in _set(env, MEMORY, "64").out
    assert _set(env, "language", "null").code == 0
    assert _written(file, env, "language") is None


def test_a_stopped_silas_is_widened_by_nobody(env: dict[str, str], file: Path) -> None:
    del file
    assert run(silas("stop", "--now"), env).code == 0
    with person(silas("config", "set", MEMORY, "1024"), env) as somebody:
        assert somebody.leaves() == 4
    assert _set(env, MEMORY, "64").code == 0
    assert run(silas("resume", "--yes"), env).code == 0


def test_before_silas_is_set_up_it_says_so(tmp_path: Path) -> None:
    done = _set(environment(tmp_path / "bare"), MEMORY, "64")
    assert done.code == 2, done
    assert "silas init" in done.err
    assert not (tmp_path / "bare" / "config.yaml").exists()
