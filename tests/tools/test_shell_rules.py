"""The rules of a worker's shell: what runs, what asks, what never runs, however it is written."""

import shlex
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from silas.tools.models import Stance, WorkerApprovalPolicy, validated_call
from silas.tools.shell_launch import INTERPRETERS, LAUNCHERS
from silas.tools.shell_rules import ShellDefault, ShellRule, ShellRules, ShellVerdict

ALLOWED, ASKS, LOOKS, BLOCKED = ShellVerdict


def allow(pattern: str) -> ShellRule:
    return ShellRule(pattern=pattern, approval_required=False)


def ask(pattern: str) -> ShellRule:
    return ShellRule(pattern=pattern)


def block(pattern: str) -> ShellRule:
    return ShellRule(pattern=pattern, blocked=True)


FREE = ShellDefault(approval_required=False)


def rules(*given: ShellRule, default: ShellDefault | None = None) -> ShellRules:
    return ShellRules(rules=given, default=default)


@pytest.mark.parametrize(
    ("pattern", "command", "covered"),
    [
        ("git", "git", True),
        ("git", "git status -s", True),
        ("git", "gitx", False),
        ("git *", "git", True),
        ("git *", "git status", True),
        ("git *", "gitx", False),
        ("git status", "git status", True),
        ("git status", "git status -s", True),
        ("git status", "git stash", False),
        ("git status", "git", False),
        ("git status", "git -C / status", False),
        ("git status", "'git status'", False),
        ("'my tool' run", "'my tool' run it", False),  # read as a line for a shell
        ("*", "anything at all", True),
        ("git", "./git", False),
        ("git", "/tmp/git push", False),
        ("/usr/bin/git *", "/usr/bin/git log", True),
        ("git", "Git", False),
    ],
)
def test_a_pattern_is_a_prefix_of_whole_words(pattern: str, command: str, covered: bool) -> None:
    only = rules(allow(pattern))
    assert only.verdict(shlex.split(command)) is (ALLOWED if covered else BLOCKED)


@pytest.mark.parametrize("program", ["rm", "/bin/rm", "./rm", "../../usr/bin/rm"])
def test_a_strict_rule_knows_its_program_in_every_directory(program: str) -> None:
    assert rules(block("rm"), default=FREE).verdict([program, "-rf", "x"]) is BLOCKED
    assert rules(ask("rm"), default=FREE).verdict([program, "x"]) is ASKS


def test_the_first_rule_that_covers_a_command_decides() -> None:
    one_way = rules(allow("git push origin"), block("git push"), ask("git"))
    other_way = rules(ask("git"), block("git push"))
    assert one_way.verdict(["git", "push", "origin"]) is ALLOWED
    assert one_way.verdict(["git", "push"]) is BLOCKED
    assert one_way.verdict(["git", "log"]) is ASKS
    assert other_way.verdict(["git", "push"]) is ASKS


@pytest.mark.parametrize(
    ("default", "expected"),
    [
        (None, BLOCKED),
        (ShellDefault(), ASKS),
        (FREE, ALLOWED),
        (ShellDefault(approval_required=False, blocked=True), BLOCKED),
    ],
)
def test_what_no_rule_names_follows_the_default_and_without_one_is_blocked(
    default: ShellDefault | None, expected: ShellVerdict
) -> None:
    assert rules(allow("git"), default=default).verdict(["ls"]) is expected
    assert ShellRules().verdict(["ls"]) is BLOCKED
    assert rules(allow("*")).verdict([]) is BLOCKED


@pytest.mark.parametrize(
    "pattern",
    ["", " ", "git st*", "g* status", "* x", "ls | sh", "a;b", "echo $x", "'open", "a " * 9],
)
def test_a_pattern_that_could_not_mean_what_it_says_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError):
        ShellRule(pattern=pattern)


OPEN = rules(block("rm"), block("git push"), default=FREE)
"""Everything runs unasked but two things: what slips through here slips through anywhere."""

HIDDEN: list[list[str]] = [
    ["rm", "-rf", "x"],
    ["rm -rf x"],
    ["ls", "|", "sh"],
    ["ls | sh"],
    ["ls|sh"],
    ["ls;", "rm", "x"],
    ["true", "&&", "rm", "x"],
    ["echo", "x", ">", "y"],
    ["$(rm x)"],
    ["`rm`"],
    ["sh", "-c", "rm -rf x"],
    ["sh", "-c", "ls | rm x"],
    ["sh", "-c", "ls;rm x"],
    ["sh", "-c", "ls\nrm x"],
    ["sh", "-c", "ls & rm x"],
    ["sh", "-c", "A=1 rm x"],
    ["sh", "-c", "'r''m' x"],
    ["sh", "-c", 'r"m" x'],
    ["sh", "-c", "r\\m x"],
    ["sh", "-c", "x=rm; $x y"],
    ["sh", "-c", "$(echo rm) y"],
    ["sh", "-c", "(rm x)"],
    ["sh", "-c", "{ rm x; }"],
    ["sh", "-c", "if true; then rm x; fi"],
    ["sh", "-c", "eval 'rm x'"],
    ["sh", "-c", "exec rm x"],
    ["sh", "-lc", "rm x"],
    ["bash", "-x", "-c", "rm x"],
    ["bash", "-c", "git    push"],
    ["dash", "-ec", "/bin/rm x"],
    ["su", "-c", "rm x"],
    ["script", "-qc", "rm x", "/dev/null"],
    ["flock", "/tmp/l", "-c", "rm x"],
    ["flock", "/tmp/l", "rm", "x"],
    ["env", "rm", "x"],
    ["env", "-i", "A=1", "rm", "x"],
    ["env", "-S", "rm x"],
    ["env", "-Srm x"],
    ["env", "--split-string=rm x"],
    ["xargs", "rm"],
    ["xargs", "-0", "-n1", "rm"],
    ["xargs", "-I{}", "sh", "-c", "rm {}"],
    ["xargs", "-a", "list", "git", "push"],
    ["find", ".", "-exec", "rm", "{}", ";"],
    ["find", ".", "-exec", "rm", "{}", "+"],
    ["find", ".", "-ok", "sh", "-c", "rm {}", ";"],
    ["find", ".", "-execdir", "/bin/rm", "{}", ";"],
    ["nice", "rm", "x"],
    ["nice", "-n", "5", "rm", "x"],
    ["nice", "-5", "rm", "x"],
    ["timeout", "10", "rm", "x"],
    ["timeout", "-s", "KILL", "10", "rm", "x"],
    ["timeout", "--signal=KILL", "10", "git", "push"],
    ["timeout", "10", "nice", "env", "nohup", "rm", "x"],
    ["busybox", "rm", "x"],
    ["busybox", "sh", "-c", "rm x"],
    ["toybox", "rm", "x"],
    ["/lib64/ld-linux-x86-64.so.2", "/bin/rm", "x"],
    ["setsid", "rm", "x"],
    ["stdbuf", "-oL", "rm", "x"],
    ["time", "rm", "x"],
    ["sudo", "-u", "bob", "rm", "x"],
    ["watch", "rm x"],
    ["ssh", "host", "rm x"],
    ["strace", "-f", "rm", "x"],
    ["python3", "-c", "import os; os.system('rm -rf x')"],
    ["python3.12", "-Bc", "import subprocess; subprocess.run(['git', 'push'])"],
    ["perl", "-e", "system 'rm x'"],
    ["ruby", "-e", "`rm x`"],
    ["node", "-e", "require('child_process').execSync('rm x')"],
    ["awk", 'BEGIN{system("rm x")}'],
    ["tar", "--to-command=rm", "-xf", "a.tar"],
    ["tar", "--checkpoint-action=exec=rm x", "-cf", "a", "b"],
    ["git", "-c", "alias.x=!rm x", "x"],
    ["rsync", "-e", "rm", "a", "b:"],
    ["vim", "-c", "!rm x"],
]


@pytest.mark.parametrize("argv", HIDDEN, ids=[" ".join(argv).replace("\n", "/") for argv in HIDDEN])
@pytest.mark.parametrize("said", [Stance.silent, Stance.pre_approved])
def test_no_wrapping_and_no_metacharacter_carries_a_blocked_command_past_its_block(
    argv: list[str], said: Stance
) -> None:
    policy = WorkerApprovalPolicy(tools={"shell_exec": said}, rules={"shell_exec": OPEN})
    assert OPEN.verdict(argv) in (LOOKS, BLOCKED)
    assert stance(policy, argv) is not Stance.pre_approved
    named = any("rm" in word or "push" in word for word in argv)
    if named and argv[:3] != ["sh", "-c", "$(echo rm) y"]:
        assert OPEN.verdict(argv) is BLOCKED
        assert stance(policy, argv) is Stance.blocked


def stance(policy: WorkerApprovalPolicy, argv: Any, tool: str = "shell_exec") -> Stance:
    return policy.stance(validated_call(tool, "run", {"argv": argv}))


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["git", "status"], ALLOWED),
        (["grep", "-rn", "remove", "."], ALLOWED),
        (["python3", "-m", "pytest", "-q"], ALLOWED),
        (["python3", "build.py", "-v"], ALLOWED),
        (["find", ".", "-name", "*.py"], ALLOWED),
        (["timeout", "60", "python3", "-m", "pytest"], ALLOWED),
        (["sh", "build.sh"], ALLOWED),
        (["git", "commit", "-m", "Remove what nobody calls"], ALLOWED),
        (["sh", "-c", "ls"], ALLOWED),
        # nothing forbidden is seen in these, and not everything in them can be seen
        (["sh", "-c", "ls | sort"], LOOKS),
        (["sh", "-c", "ls *"], LOOKS),
        (["grep", "a|b", "x"], LOOKS),
        (["python3", "-c", "print(1)"], LOOKS),
        (["unheard-of", "-c", "do the thing"], LOOKS),
        (["unheard-of", "--eval=do the thing"], LOOKS),
        (["unheard-of", "--command", "do the thing"], LOOKS),
        (["env", "--unheard-of", "ls"], LOOKS),
        (["env"] * 20, LOOKS),
    ],
)
def test_honest_commands_run_and_what_cannot_be_read_is_looked_at(
    argv: list[str], expected: ShellVerdict
) -> None:
    assert OPEN.verdict(argv) is expected


def test_what_a_command_starts_needs_a_rule_of_its_own() -> None:
    only = rules(allow("env *"), allow("timeout *"), allow("git *"), allow("sh *"))
    assert only.verdict(["timeout", "9", "git", "log"]) is ALLOWED
    assert only.verdict(["sh", "-c", "git log"]) is ALLOWED
    assert only.verdict(["env", "ls"]) is BLOCKED
    assert only.verdict(["sh", "-c", "git log | ls"]) is BLOCKED
    assert only.verdict(["env", "-u", "git", "ls"]) is BLOCKED
    assert only.verdict(["env", "--unheard-of", "git", "log"]) is BLOCKED


PREFIXES: dict[str, list[str]] = {
    "timeout": ["10"], "taskset": ["1"], "chrt": ["5"], "setarch": ["x86_64"], "chroot": ["/"],
    "ssh": ["host"], "su": ["bob"], "flock": ["/tmp/lock"], "script": ["out"], "env": ["A=1"],
    "sudo": ["B=2"],
}  # fmt: skip
"""What stands between a launcher and its command."""

WRAPS: list[Callable[[list[str]], list[str]]] = [
    *(
        (lambda argv, name=name: [name, *PREFIXES.get(name, []), *argv])
        for name in sorted(LAUNCHERS)
    ),
    *(
        (lambda argv, name=name: [name, "-c", shlex.join(argv)])
        for name in ("sh", "bash", "dash", "zsh", "/bin/sh")
    ),
    *(
        (lambda argv, name=name, option=option: [name, option, repr(argv)])
        for name, options in sorted(INTERPRETERS.items())
        for option in sorted(options)
    ),
    lambda argv: ["find", ".", "-exec", *argv, ";"],
]

SAFE = st.text("abcxyz019_./-", min_size=1, max_size=8)


@given(
    wraps=st.lists(st.sampled_from(WRAPS), min_size=1, max_size=3),
    rest=st.lists(SAFE, max_size=3),
    program=st.sampled_from(["rm", "/bin/rm", "./rm"]),
    listed=st.booleans(),
)
def test_a_blocked_command_stays_blocked_under_every_stack_of_launchers(
    wraps: list[Callable[[list[str]], list[str]]], rest: list[str], program: str, listed: bool
) -> None:
    """Whether it is blocked by its name, or because nobody named it and everything else is free."""
    known = [allow(f"{name} *") for name in (*LAUNCHERS, *INTERPRETERS, "sh", "bash", "find")]
    held = OPEN if listed else rules(*known, *map(allow, ("dash", "zsh", "/bin/sh")))
    argv = [program, *rest]
    assert held.verdict(argv) is BLOCKED
    for wrap in wraps:
        argv = wrap(argv)
    assert held.verdict(argv) is BLOCKED


@given(st.lists(st.text(max_size=20), max_size=6), st.booleans())
def test_every_argument_list_gets_a_verdict_and_a_shell_never_a_lenient_one(
    words: list[str], free: bool
) -> None:
    held = OPEN if free else ShellRules()
    assert held.verdict(words) in ShellVerdict
    if any(operator in " ".join(words) for operator in "|;&><`$"):
        assert held.verdict(words) in (LOOKS, BLOCKED)


@pytest.mark.parametrize(
    ("argv", "said", "expected"),
    [
        (["git", "log"], Stance.silent, Stance.silent),
        (["git", "log"], Stance.ask, Stance.ask),
        (["git", "log"], Stance.blocked, Stance.blocked),
        (["make"], Stance.silent, Stance.ask),
        (["make"], Stance.pre_approved, Stance.pre_approved),
        (["make"], Stance.blocked, Stance.blocked),
        (["rm", "x"], Stance.pre_approved, Stance.blocked),
        (["make", "a|b"], Stance.pre_approved, Stance.ask),
    ],
)
def test_pre_approval_answers_a_rules_question_and_never_lifts_its_block(
    argv: list[str], said: Stance, expected: Stance
) -> None:
    held = rules(allow("git"), block("rm"), default=ShellDefault())
    policy = WorkerApprovalPolicy(tools={"shell_exec": said}, rules={"shell_exec": held})
    assert stance(policy, argv) is expected
    assert stance(policy, argv, "python_exec") is Stance.silent


@pytest.mark.parametrize("args", [{}, {"argv": "rm x"}, {"argv": []}, {"argv": {"0": "ls"}}])
def test_a_call_whose_command_cannot_be_found_is_blocked(args: dict[str, Any]) -> None:
    policy = WorkerApprovalPolicy(rules={"shell_exec": rules(allow("*"))})
    assert policy.stance(validated_call("shell_exec", "run", args)) is Stance.blocked
