"""The names the outside relies on, and the parameters it may pass (see docs/layout.md)."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import silas
from silas.cards import CardChannel, Channel
from silas.sandbox import SandboxConfig, default
from silas.testing import Harness, ScriptedChannel

NAMES = [
    ("silas", "Silas", ()),
    ("silas", "SilasConfig", ()),
    ("silas", "load_config", ("path",)),
    ("silas.plans", "PlanParser.parse", ("markdown",)),
    ("silas.plans", "PlanError", ("line", "column", "reason")),
    ("silas.plans", "plan_bytes", ("item",)),
    ("silas.plans", "plan_hash", ("item",)),
    ("silas.plans", "subject_of", ("item",)),
    ("silas.plans", "spawn_policy_hash", ("goal",)),
    ("silas.plans", "spawn_task", ("goal", "report")),
    (
        "silas.approval",
        "ApprovalEngine.issue_token",
        ("subject", "decision", "scope", "max_executions", "conditions"),
    ),
    ("silas.approval", "ApprovalEngine.verify", ("token", "subject", "spawned")),
    ("silas.approval", "ApprovalEngine.check", ("token", "subject")),
    ("silas.approval", "Verdict", ()),
    ("silas.approval", "token_bytes", ("token",)),
    ("silas.cards", "message_bytes", ("message", "nonce")),
    ("silas.keys", "Signer", ()),
    ("silas.keys", "Ed25519Signer.from_seed", ("seed",)),
    ("silas.gates", "GateRunner.check_gates", ("gates", "trigger", "context")),
    ("silas.gates", "Gate", ()),
    ("silas.gates", "GateResult", ()),
    ("silas.gates", "Expectation", ()),
    ("silas.gates", "evaluate", ("expectation", "output", "exit_code", "roots")),
    ("silas.tools", "ToolExecutor.call", ("tool_name", "action", "request", "context")),
    ("silas.tools", "decide", ("autonomy", "risk")),
    ("silas.tools", "assess_risk", ("tool", "action", "facts")),
    ("silas.sandbox", "Sandbox.run", ("argv", "limits", "files")),
    ("silas.sandbox", "default", ("config",)),
    ("silas.audit", "AuditLog.log", ("event",)),
    ("silas.audit", "AuditLog.verify_chain", ()),
    ("silas.audit", "AuditLog.write_checkpoint", ()),
    ("silas.audit", "AuditLog.verify_from_checkpoint", ("checkpoint_id",)),
    ("silas.audit", "AuditLog.export", ()),
    ("silas.context", "scrub", ("text",)),
    (
        "silas.stream",
        "resolve_interaction_mode",
        (
            "proxy_mode",
            "planner_override",
            "work_item_mode",
            "risk_requires_confirmation",
            "initiative_level",
            "interaction_register",
            "high_initiative_min",
            "default_mode_by_register",
        ),
    ),
    ("silas.testing", "Harness", ()),
    ("silas.testing", "ScriptedChannel", ()),
    ("silas.testing", "ScriptedModel", ()),
    ("silas.main", "cli", ()),
]


@pytest.mark.parametrize(
    ("module", "name", "parameters"), NAMES, ids=[f"{m}.{n}" for m, n, _ in NAMES]
)
def test_the_name_is_there_and_takes_these_parameters(
    module: str, name: str, parameters: tuple[str, ...]
) -> None:
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    if parameters:
        assert callable(found)
        names = [p for p in inspect.signature(found).parameters if p != "self"]
        assert names[: len(parameters)] == list(parameters)


def test_a_name_that_is_not_there_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = silas.Nothing


def test_the_strongest_sandbox_is_found_from_the_configuration_alone() -> None:
    assert default(SandboxConfig()).name == "bubblewrap"
    assert default(silas.load_config(environ={"SILAS_HOME": "/nowhere"})).name == "bubblewrap"


async def test_the_harness_has_its_attributes_and_a_silas_that_answers() -> None:
    channel = ScriptedChannel()
    assert isinstance(channel, CardChannel)
    assert isinstance(channel, Channel)
    async with Harness(channel) as harness:
        for name in ("approval", "audit"):
            assert getattr(harness, name) is getattr(harness.silas, name)
        for name in ("gates", "context", "memory", "clock"):
            assert getattr(harness, name) is harness.ports[name]
        assert isinstance(harness.tools, silas.tools.ToolExecutor)
        assert harness.channel is channel
        assert harness.home.is_dir()
        reply = await harness.silas.ask("what can you do?")
    assert reply.plan is None
    assert [reply.text] == channel.texts


def test_the_verifier_is_a_module_of_its_own(tmp_path: Path) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "silas.audit.verify", str(tmp_path / "none"), "0" * 64],
        capture_output=True,
        check=False,
    )
    assert asked.returncode == 2
    assert b"Traceback" not in asked.stderr
