"""Reading a briefing as a runbook: strictly, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.agents.runbook.briefing import BriefingError, needs_shell, steps_of


@pytest.mark.parametrize(
    ("line", "shell"),
    [
        ("ls -la", False),
        ("find . -name '*.py'", False),
        ("find . -name *.py", True),
        ('echo "$HOME"', True),
        ("echo '$HOME'", False),
        ("echo \\$HOME", False),
        ("a && b", True),
        ("a; b", True),
        ("a > b", True),
        ("echo `id`", True),
        ('grep "a|b" c', False),
        ("FOO=1 make", True),
        ("make FOO=1", False),
        ("ls ~", True),
        ("find . -exec cat {} +", False),
    ],
)
def test_only_what_a_shell_would_read_differently_needs_one(line: str, shell: bool) -> None:
    assert needs_shell(line) is shell


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("echo a#b", ["echo", "a#b"]),
        ("echo a # b", ["echo", "a"]),
        ("echo '# b'", ["echo", "# b"]),
        ("echo '' x", ["echo", "", "x"]),
        ('echo "a b" c\\ d', ["echo", "a b", "c d"]),
    ],
)
def test_arguments_are_split_as_a_shell_would(line: str, argv: list[str]) -> None:
    [step] = steps_of(f"```sh\n{line}\n```")
    assert step.args == {"argv": argv}


ODD = st.text(alphabet=st.sampled_from(list("`~sh\n \\'\"#|$python-\x00\u2028"))) | st.text()


@given(ODD)
def test_any_briefing_gives_steps_or_one_clear_refusal(briefing: str) -> None:
    try:
        steps = steps_of(briefing)
    except BriefingError:
        return  # the one refusal there is; anything else fails this test
    assert all(step.tool in ("shell_exec", "python_exec") for step in steps)
    assert all(step.args.get("argv") or step.args.get("code") for step in steps)
