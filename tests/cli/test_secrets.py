"""`silas secrets` as a user meets it: a value goes in once and is never seen again."""

import json
import re
from pathlib import Path

import pytest

from tests.support.command import environment, person, run, silas

VALUE = "correct-horse-battery"


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    return env


def test_a_secret_is_added_listed_and_removed_and_its_value_is_never_said(
    home: dict[str, str],
) -> None:
    assert "There are no secrets" in run(silas("secrets", "list"), home).out
    added = run(silas("secrets", "add", "TOKEN"), home, stdin=f"{VALUE}\n")
    assert added.code == 0, added.err
    found = re.search(r"credential_refs:\n  TOKEN: (ref_[0-9a-f]{32})\n", added.out)
    assert found is not None
    listed = run(silas("secrets", "list", "--json"), home)
    [facts] = json.loads(listed.out)
    assert (facts["name"], facts["ref_id"], facts["used_at"]) == ("TOKEN", found[1], "")
    again = run(silas("secrets", "add", "TOKEN"), home, stdin="another-value\n")
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "named TOKEN already" in again.err
    removed = run(silas("secrets", "remove", "TOKEN"), home)
    assert removed.out == f"Forgot TOKEN ({found[1]}).\n"
    gone = run(silas("secrets", "remove", "TOKEN"), home)
    assert (gone.code, gone.err.count("\n")) == (2, 1)
    record = run(silas("audit", "show"), home).out
    assert f"The secret {found[1]} was added." in record
    assert f"The secret {found[1]} was removed." in record
    for done in (added, listed, again, removed, gone):
        assert VALUE not in done.out + done.err
    assert VALUE not in record


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("TOKEN", "tiny\n", "8 characters"), ("a-b", f"{VALUE}\n", "digits and underscores")],
)
def test_what_cannot_be_kept_is_refused_in_one_sentence(
    home: dict[str, str], name: str, value: str, words: str
) -> None:
    refused = run(silas("secrets", "add", name), home, stdin=value)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert words in refused.err
    assert value.strip() not in refused.err


def test_a_value_and_a_passphrase_are_typed_unseen(home: dict[str, str]) -> None:
    with person(silas("secrets", "add", "TOKEN"), home) as owner:
        owner.waits_for("Value of TOKEN:")
        owner.types(f"{VALUE}\r")
        owner.waits_for("Choose a passphrase for your secrets:")
        owner.types("a long passphrase\r")
        owner.waits_for("The same passphrase again:")
        owner.types("a long passphrase\r")
        assert owner.leaves() == 0, owner.seen
        assert VALUE not in owner.seen
        assert "a long passphrase" not in owner.seen
    # where nobody can type it, the secrets stay shut, and so does all that could leak them
    refused = run(silas("ask", "what can you do?"), home)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "no terminal to ask for a passphrase" in refused.err
