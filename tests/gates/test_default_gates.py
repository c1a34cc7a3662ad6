"""The gates that are always on: what they change, what they stop, what they leave alone."""

import pytest

from silas.gates import GateProvider, GateRunner, GatesConfig, GateTrigger, PredicateProvider
from silas.testing import MemoryAudit

_GATES = GatesConfig().system


async def _run(trigger: GateTrigger, key: str, text: str) -> tuple[bool, str]:
    runner = GateRunner({GateProvider.predicate: PredicateProvider([])}, MemoryAudit(), 32)
    outcome = await runner.check_gates(_GATES, trigger, {key: text})
    assert len(outcome.policy) == 1
    return outcome.block is None, str(outcome.context[key])


@pytest.mark.proves("A14-DEFAULTS-RUN")
@pytest.mark.parametrize(
    ("message", "passes", "left"),
    [
        ("fix the test", True, "fix the test"),
        ("two\nlines\tand a tab\r\n", True, "two\nlines\tand a tab\r\n"),
        ("a\x00b\x1b[31mc\x7f", True, "ab[31mc"),
        ("", False, ""),
        ("\x00", False, "\x00"),
        ("x" * 100_000, True, "x" * 100_000),
        ("x" * 100_001, False, "x" * 100_001),
    ],
)
async def test_a_message_loses_control_characters_and_has_a_length(
    message: str, passes: bool, left: str
) -> None:
    assert await _run(GateTrigger.every_user_message, "message", message) == (passes, left)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "a1B2" * 6,
        "sk-or-v1-" + "0" * 40,
        "ghp_" + "a" * 36,
        "github_pat_" + "a" * 30,
        "xoxb-123456789012-abc",
        "AKIA" + "ABCD1234" * 2,
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n",
    ],
)
async def test_a_key_leaves_no_answer(secret: str) -> None:
    passes, left = await _run(
        GateTrigger.every_agent_response, "response", f"It is {secret} as you see"
    )
    assert passes
    assert secret.strip() not in left
    assert "removed]" in left


@pytest.mark.parametrize(
    "text",
    [
        "See task-0123456789abcdef0123456789abcdef and disk-usage-of-the-whole-machine.",
        "Commit 0123456789abcdef0123456789abcdef01234567.",
        "word " * 40_000,
        "x" * 200_000,
    ],
)
async def test_other_text_passes_unchanged(text: str) -> None:
    assert await _run(GateTrigger.every_agent_response, "response", text) == (True, text)
