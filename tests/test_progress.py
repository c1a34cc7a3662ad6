"""A run of mutants that was ended goes on where it was, and only on the same program."""

from pathlib import Path

from scripts.progress import NOWHERE, Progress, digest_of


def test_what_was_found_is_known_to_the_next_run(tmp_path: Path) -> None:
    first = Progress(tmp_path / "kept", "a tree")
    first.watched({"one": ["two"]})
    first.judged("one", "survived", 2)
    with (tmp_path / "kept").open("a") as file:
        file.write('{"of": "a tree", "verdicts": {"tw')
    again = Progress(tmp_path / "kept", "a tree")
    assert again.noticing == {"one": ["two"]}
    assert again.verdicts == {"one": ("survived", 2)}
    again.judged("two", "", 3)
    assert Progress(tmp_path / "kept", "a tree").verdicts == again.verdicts


def test_what_was_found_of_another_program_does_not_count(tmp_path: Path) -> None:
    Progress(tmp_path / "kept", "a tree").judged("one", "", 2)
    assert Progress(tmp_path / "kept", "another").verdicts == {}


def test_where_nothing_is_kept_nothing_is_known() -> None:
    Progress(NOWHERE, "a tree").judged("one", "", 2)
    assert Progress(NOWHERE, "a tree").verdicts == {}


def test_any_change_of_a_file_makes_it_another_program(tmp_path: Path) -> None:
    (tmp_path / "silas" / "__pycache__").mkdir(parents=True)
    file = tmp_path / "silas" / "a.py"
    file.write_text("a = 1\n")
    before = digest_of(tmp_path, ["silas"])
    (tmp_path / "silas" / "__pycache__" / "a.pyc").write_bytes(b"made")
    assert digest_of(tmp_path, ["silas"]) == before
    file.write_text("a = 2\n")
    assert digest_of(tmp_path, ["silas"]) != before
