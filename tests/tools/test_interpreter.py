import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.tools.interpreter import SHELLS, WRAPPERS, starts_a_shell

RATED = [
    ["sh", "-c", "true"],
    ["/bin/sh", "-c", "true"],
    ["../bin/bash", "-lc", "true"],
    ["bash", "--norc", "-o", "errexit", "-ec", "true"],
    ["fish", "--command=true"],
    ["dash", "-c", ""],
    ["zsh", "-xc", "true"],
    ["ksh", "-c", "true"],
    ["busybox", "sh", "-c", "true"],
    ["env", "sh", "-c", "true"],
    ["env", "-i", "PATH=/bin", "A=b", "sh", "-c", "true"],
    ["env", "-S", "sh -c true"],
    ["env", "-Ssh -c true"],
    ["env", "--split-string=sh -c true"],
    ["env", "env", "nice", "-n", "5", "bash", "-c", "true"],
    ["xargs", "-n", "1", "-I", "{}", "sh", "-c", "{}"],
    ["timeout", "-s", "KILL", "5", "sh", "-c", "true"],
    ["nohup", "bash", "-c", "true"],
    ["sudo", "-u", "root", "sh", "-c", "true"],
    ["doas", "sh", "-c", "true"],
    ["find", ".", "-exec", "sh", "-c", "true", ";"],
    ["su", "-c", "true"],
    ["script", "-c", "true", "/dev/null"],
]
UNRATED: list[list[str]] = [
    [],
    ["true"],
    ["ls", "-c"],
    ["python3", "-c", "print(1)"],
    ["grep", "-c", "sh", "file"],
    ["sh", "build.sh"],
    ["bash", "--version"],
    ["env", "python3", "-m", "pytest"],
    ["timeout", "5", "make", "-C", "dir"],
    ["git", "commit", "-m", "sh -c"],
    ["dashboard", "-c", "x"],
]


@pytest.mark.proves("A3-SHELL-ONE-STEP-HIGHER")
@pytest.mark.parametrize("argv", RATED, ids=" ".join)
def test_text_for_a_shell_is_seen_through_wrappers_and_options(argv: list[str]) -> None:
    assert starts_a_shell(argv)


@pytest.mark.parametrize("argv", UNRATED, ids=lambda argv: " ".join(argv) or "nothing")
def test_an_ordinary_program_is_not_taken_for_a_shell(argv: list[str]) -> None:
    assert not starts_a_shell(argv)


@pytest.mark.proves("A3-SHELL-ONE-STEP-HIGHER")
@given(
    wrappers=st.lists(st.sampled_from(sorted(WRAPPERS)), max_size=4),
    options=st.lists(st.from_regex(r"\A-?[a-z0-9]{1,4}\Z"), max_size=4),
    shell=st.sampled_from(sorted(SHELLS)),
)
def test_no_stack_of_wrappers_hides_a_shell(
    wrappers: list[str], options: list[str], shell: str
) -> None:
    between = options if wrappers else []
    assert starts_a_shell([*wrappers, *between, f"/usr/bin/{shell}", "-c", "true"])


@given(st.lists(st.text(max_size=8), max_size=6))
def test_any_argument_list_is_answered(argv: list[str]) -> None:
    assert starts_a_shell(argv) in (True, False)
