"""Single values are put into the configuration file, and every other byte stays as it is."""

from contextlib import suppress
from pathlib import Path
from threading import Barrier, Thread

import pytest

from silas.config import load_config
from silas.config.edit_servers import plan_added, write_servers
from silas.config.edit_values import Scalar, plan_values, value_of, write_values
from silas.config.place import ConfigPlace
from silas.errors import ConfigError

MEMORY = "sandbox.default_memory_mb"


def _place(tmp_path: Path, **environ: str) -> ConfigPlace:
    return ConfigPlace(tmp_path / "config.yaml", {"SILAS_HOME": str(tmp_path), **environ})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "silas:\n  sandbox:\n    default_memory_mb: 64\n"),
        ("# mine\n", "# mine\nsilas:\n  sandbox:\n    default_memory_mb: 64\n"),
        ("silas:\n", "silas:\n  sandbox:\n    default_memory_mb: 64\n"),
        (
            "silas:\n  # kept\n  owner_id: me  # too\n",
            "silas:\n  # kept\n  sandbox:\n    default_memory_mb: 64\n  owner_id: me  # too\n",
        ),
        (
            "silas:\n  sandbox:\n    default_memory_mb: 512  # half a gigabyte\n  owner_id: me\n",
            "silas:\n  sandbox:\n    default_memory_mb: 64  # half a gigabyte\n  owner_id: me\n",
        ),
        (
            "silas:\n  sandbox:\n    # why\n    default_cpu_seconds: 9\n",
            "silas:\n  sandbox:\n    # why\n    default_memory_mb: 64\n"
            "    default_cpu_seconds: 9\n",
        ),
        (
            "silas: {owner_id: me}\n",
            'silas: {"sandbox": {"default_memory_mb": 64}, owner_id: me}\n',
        ),
        (
            '{"silas": {"sandbox": {"default_cpu_seconds": 9}}}',
            '{"silas": {"sandbox": {"default_memory_mb": 64, "default_cpu_seconds": 9}}}',
        ),
    ],
)
def test_a_value_is_put_where_it_belongs(tmp_path: Path, before: str, after: str) -> None:
    place = _place(tmp_path)
    place.file.write_text(before, encoding="utf-8")
    backup = write_values(plan_values(place.file, {MEMORY: 64}), place)
    assert place.file.read_text(encoding="utf-8") == after
    assert value_of(load_config(place.file, place.environ), MEMORY) == 64
    assert backup is not None
    assert backup.read_text(encoding="utf-8") == before


def test_a_file_that_is_not_there_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    place = _place(tmp_path)
    changes: dict[str, Scalar] = {"language": "de", "quiet_hours.start": "22:00"}
    assert write_values(plan_values(place.file, changes), place) is None
    assert place.file.stat().st_mode & 0o777 == 0o600
    config = load_config(place.file, place.environ)
    assert [value_of(config, name) for name in changes] == ["de", "22:00"]


@pytest.mark.parametrize(
    ("text", "values", "words"),
    [
        ("silas:\n  sandbox: [1]\n", {MEMORY: 64}, "does not change, so nothing was put in"),
        ("silas:\n  owner_id: me\n", {MEMORY: 1}, "Nothing was written: sandbox.default_memory_mb"),
    ],
)
def test_what_cannot_be_put_in_leaves_the_file_as_it_was(
    tmp_path: Path, text: str, values: dict[str, Scalar], words: str
) -> None:
    place = _place(tmp_path)
    place.file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        write_values(plan_values(place.file, values), place)
    assert words in refused.value.message
    assert place.file.read_text(encoding="utf-8") == text
    assert [one.name for one in tmp_path.iterdir()] == ["config.yaml"]


def test_a_variable_that_wins_and_a_file_that_changed_meanwhile_are_said(tmp_path: Path) -> None:
    place = _place(tmp_path, SILAS_SANDBOX__DEFAULT_MEMORY_MB="99")
    with pytest.raises(ConfigError, match="a variable of the environment wins"):
        write_values(plan_values(place.file, {MEMORY: 64}), place)
    place = _place(tmp_path)
    edit = plan_values(place.file, {MEMORY: 64})
    place.file.write_text("silas:\n  owner_id: me\n", encoding="utf-8")
    with pytest.raises(ConfigError):
        write_values(edit, place)
    assert place.file.read_text(encoding="utf-8") == "silas:\n  owner_id: me\n"


@pytest.mark.parametrize("linked", [False, True])
def test_of_several_who_write_at_once_none_loses_what_another_was_told_is_written(
    linked: bool, tmp_path: Path
) -> None:
    place = _place(tmp_path)
    where = tmp_path / "elsewhere.yaml" if linked else place.file
    where.write_text("silas: { mcpServers: { first: { command: cat } } }\n", encoding="utf-8")
    if linked:
        place.file.symlink_to(where)
    for round_ in range(8):
        together, written = Barrier(5), list[str]()

        def write(name: str, together: Barrier = together, written: list[str] = written) -> None:
            edit = plan_added(place, name, {"command": "cat"}, {})
            together.wait()
            with suppress(ConfigError):  # that the file was changed meanwhile
                write_servers(edit, place)
                written.append(name)

        before = load_config(place.file, place.environ).mcpServers.keys()
        writers = [Thread(target=write, args=(f"s{round_}-{one}",)) for one in range(5)]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
        there = load_config(place.file, place.environ).mcpServers.keys()
        assert there == {*before, *written}
        assert written
