from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.sandbox import SandboxLimits, SandboxResult
from silas.testing.tools import FakeSandbox, SandboxRun, a_context, exit_result
from silas.tools import PythonTool, RiskLevel, ShellTool, Stance, assess_risk
from silas.tools.builtin.base import SANDBOX_SCOPE
from silas.tools.builtin.sandboxed import MAX_ARGUMENT, SANDBOX_TOOL, SandboxedTool
from silas.types import TaintLevel


def quiet(run: SandboxRun) -> SandboxResult:
    return exit_result(0, "out\n", "")


@pytest.fixture
def sandbox() -> FakeSandbox:
    return FakeSandbox(quiet)


@pytest.fixture
def shell(sandbox: FakeSandbox) -> ShellTool:
    return ShellTool(sandbox)


@pytest.fixture
def python(sandbox: FakeSandbox) -> PythonTool:
    return PythonTool(sandbox)


@pytest.mark.parametrize(
    "args",
    [
        {"argv": ["ls"]},
        {"argv": ["ls", "-l", "é ; $(rm) `x`", ""]},
        {"argv": ["sleep", "1"], "timeout_seconds": 2.0},
    ],
)
def test_a_word_list_is_taken_as_it_is(shell: ShellTool, args: dict[str, Any]) -> None:
    assert shell.validate(args) == args


BAD_SHELL: list[dict[str, Any]] = [
    {},
    {"argv": []},
    {"argv": "ls -l"},
    {"argv": ["ls", 1]},
    {"argv": ["ls", None]},
    {"argv": [["ls"]]},
    {"argv": ["ls\0-l"]},
    {"argv": ["ls", "\ud800"]},
    {"argv": [""]},
    {"argv": ["  "]},
    {"argv": ["x"] * 1001},
    {"argv": ["x" * (MAX_ARGUMENT + 1)]},
    {"argv": ["ls"], "cwd": "/"},
    {"argv": ["ls"], "env": {}},
    {"argv": ["ls"], "timeout_seconds": 0},
    {"argv": ["ls"], "timeout_seconds": -1},
    {"argv": ["ls"], "timeout_seconds": True},
    {"argv": ["ls"], "timeout_seconds": "5"},
    {"argv": ["ls"], "timeout_seconds": float("inf")},
    {"argv": ["ls"], "timeout_seconds": float("nan")},
    {"argv": ["ls"], "timeout_seconds": 86_401},
]


@pytest.mark.proves("A3-SHELL-ONE-STEP-HIGHER", "S9.1-ARGUMENT-LISTS")
@pytest.mark.parametrize("args", BAD_SHELL, ids=range(len(BAD_SHELL)))
def test_a_malformed_command_is_refused_in_one_sentence(
    shell: ShellTool, args: dict[str, Any]
) -> None:
    with pytest.raises(ValueError) as caught:
        shell.validate(args)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


BAD_PYTHON: list[dict[str, Any]] = [
    {},
    {"code": ""},
    {"code": 1},
    {"code": "print(1)", "script": "a.py"},
    {"code": "print(1)", "args": ["x"]},
    {"args": ["x"]},
    {"code": "a\0b"},
    {"script": "/etc/passwd"},
    {"script": "../a.py"},
    {"script": "a/../../b.py"},
    {"script": "a/.."},
    {"script": ".."},
    {"script": ""},
    {"script": "."},
    {"script": "a\\b.py"},
    {"script": "a.py", "args": "x"},
    {"script": "a.py", "args": ["x\0"]},
    {"script": "a.py", "interpreter": "sh"},
]


@pytest.mark.parametrize("args", BAD_PYTHON, ids=range(len(BAD_PYTHON)))
def test_malformed_python_arguments_are_refused_in_one_sentence(
    python: PythonTool, args: dict[str, Any]
) -> None:
    with pytest.raises(ValueError) as caught:
        python.validate(args)
    assert "\n" not in str(caught.value)


@given(st.text())
def test_a_script_that_passes_stays_inside_the_workspace(script: str) -> None:
    tool = PythonTool(FakeSandbox(quiet))
    try:
        checked = tool.validate({"script": script})["script"]
    except ValueError:
        return
    root = Path("/workspace")
    assert (root / checked).resolve().is_relative_to(root)


@given(
    st.dictionaries(
        st.sampled_from(["argv", "timeout_seconds", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3),
        ),
    )
)
def test_validation_is_total_and_idempotent(args: dict[str, Any]) -> None:
    tool = ShellTool(FakeSandbox(quiet))
    try:
        once = tool.validate(args)
    except ValueError:
        return
    assert tool.validate(once) == once


@pytest.mark.proves("TR-CONTEXT-IS-THE-CARRIER", "S9.1-ARGUMENT-LISTS")
async def test_the_argument_list_reaches_the_sandbox_unchanged(
    shell: ShellTool, sandbox: FakeSandbox
) -> None:
    context = a_context()
    await shell.execute("run", {"argv": ["echo", "a b", "$HOME"]}, context)
    assert sandbox.runs == [SandboxRun(("echo", "a b", "$HOME"), context.limits, context.files)]


@pytest.mark.proves("TR-CONTEXT-IS-THE-CARRIER")
@pytest.mark.parametrize(
    ("wanted", "granted", "expected"), [(5, 60, 5), (90, 60, 60), (60, 60, 60)]
)
async def test_a_timeout_only_lowers_the_limit(
    shell: ShellTool, sandbox: FakeSandbox, wanted: float, granted: float, expected: float
) -> None:
    limits = SandboxLimits(wall_seconds=granted, memory_mb=99)
    request = {"argv": ["x"], "timeout_seconds": wanted}
    await shell.execute("run", request, a_context(limits=limits))
    assert sandbox.runs[0].limits == limits.model_copy(update={"wall_seconds": expected})


@pytest.mark.proves("S9.2-CORE-TOOLS")
async def test_code_goes_in_by_standard_input_and_not_by_argument(
    python: PythonTool, sandbox: FakeSandbox
) -> None:
    await python.execute("run", {"code": "print('é')"}, a_context())
    run = sandbox.runs[0]
    assert run.argv == ("python3", "-B", "-s", "-")
    assert run.files.stdin == "print('é')".encode()
    assert run.files.cwd == Path("/workspace")


@pytest.mark.parametrize(
    ("script", "named"), [("a/b.py", "./a/b.py"), ("-c", "./-c"), ("./x//y.py", "./x/y.py")]
)
async def test_a_script_cannot_be_read_as_an_option(
    sandbox: FakeSandbox, script: str, named: str
) -> None:
    tool = PythonTool(sandbox, "/opt/py")
    request = tool.validate({"script": script, "args": ["-c", "x"]})
    await tool.execute("run", request, a_context())
    assert sandbox.runs[0].argv == ("/opt/py", "-B", "-s", named, "-c", "x")


@pytest.mark.proves("S5.12-TOOLS-EXTERNAL")
@pytest.mark.parametrize(
    ("result", "ok", "text"),
    [
        (exit_result(0, "hello\n"), True, "exit code 0\nstdout (6 characters):\nhello\n"),
        (exit_result(0), True, "exit code 0"),
        (
            exit_result(3, "o", "bad"),
            False,
            "exit code 3\nstdout (1 characters):\no\nstderr (3 characters):\nbad",
        ),
        (
            SandboxResult(
                exit_code=137, stdout="", stderr="", ended_by="timeout", duration_seconds=5
            ),
            False,
            "exit code 137 (ended by timeout)",
        ),
        (
            SandboxResult(exit_code=0, stdout="", stderr="", ended_by="output", duration_seconds=1),
            False,
            "exit code 0 (ended by output)",
        ),
    ],
)
async def test_the_result_says_how_the_program_ended(
    result: SandboxResult, ok: bool, text: str
) -> None:
    answer = await ShellTool(FakeSandbox(lambda run: result)).execute(
        "run", {"argv": ["x"]}, a_context()
    )
    assert (answer.ok, answer.return_value) == (ok, text)
    assert answer.taint is TaintLevel.external
    assert answer.metadata == {
        "exit_code": result.exit_code,
        "ended_by": result.ended_by,
        "duration_seconds": result.duration_seconds,
    }
    assert (answer.error is None) == ok


@pytest.mark.parametrize(
    ("argv", "code", "told"),
    [
        (["ls -la"], 127, True),
        (["ls -la"], 1, False),
        (["no-such-program"], 127, False),
        (["no such", "-l"], 127, False),
    ],
)
async def test_a_command_line_in_one_word_is_not_split_and_the_result_says_how_to_write_it(
    argv: list[str], code: int, told: bool
) -> None:
    sandbox = FakeSandbox(lambda run: exit_result(code, "", "not found\n"))
    answer = await ShellTool(sandbox).execute("run", {"argv": argv}, a_context())
    assert sandbox.runs[0].argv == tuple(argv)
    assert ('each word is an item of its own, as in `["ls", "-l"]`.' in answer.return_value) is told
    assert answer.metadata["exit_code"] == code


@pytest.mark.proves("A3-SHELL-ONE-STEP-HIGHER")
def test_both_tools_need_a_scope_and_a_verified_approval_and_are_low_risk(
    shell: ShellTool, python: PythonTool
) -> None:
    tools: list[SandboxedTool] = [shell, python]
    for tool in tools:
        assert tool.requires_authority
        assert not tool.idempotent
        assert tool.scopes_required == [SANDBOX_SCOPE]
        assert tool.capabilities == ["executor"]
        assert tool.needs_approval("run", {}) is Stance.silent
        assert tool.schema["additionalProperties"] is False
    facts = shell.facts("run", {"argv": ["ls"]})
    assert assess_risk(SANDBOX_TOOL, "run", facts) is RiskLevel.low
    facts = shell.facts("run", {"argv": ["env", "sh", "-c", "ls"]})
    assert assess_risk(SANDBOX_TOOL, "run", facts) is RiskLevel.medium
    facts = python.facts("run", {"code": "print(1)"})
    assert assess_risk(SANDBOX_TOOL, "run", facts) is RiskLevel.low


async def test_a_preview_shows_the_command_and_runs_nothing(
    shell: ShellTool, python: PythonTool, sandbox: FakeSandbox
) -> None:
    shown = await shell.preview("run", {"argv": ["rm", "x"]}, a_context())
    assert shown is not None
    assert shown.details == {"argv": ["rm", "x"]}
    shown = await python.preview("run", {"script": "a.py"}, a_context())
    assert shown is not None
    assert shown.details == {"argv": ["python3", "-B", "-s", "./a.py"]}
    assert sandbox.runs == []
