"""Who said a thing does not depend on the door by which it came."""

from pathlib import Path

import pytest

from tests.support.command import environment, run, silas

DOORS = {
    "ask": (["ask", "Remember that I like black coffee"], ""),
    "chat": (["chat"], "Remember that I like black coffee\n"),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_the_owner_wants_remembered_is_the_owners_in_ask_and_in_chat(
    tmp_path: Path, door: str
) -> None:
    env = environment(tmp_path)
    assert run(silas("init"), env).code == 0
    words, typed = DOORS[door]
    told = run(silas(*words), env, stdin=typed)
    assert told.code == 0, told.err
    (line,) = run(silas("memory", "list"), env).out.splitlines()
    assert "verified, owner" in line
    assert "I like black coffee" in line
