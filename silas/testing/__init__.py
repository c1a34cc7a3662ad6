"""The test kit that ships with Silas: fakes at the ports, builders, scripted actors."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from silas.testing.approval import FakeSigner, MemoryNonceStore, NeverStopped, a_signer
    from silas.testing.builders import a_plan, plan_text
    from silas.testing.channels import ScriptedChannel
    from silas.testing.clock import MockClock
    from silas.testing.harness import Harness
    from silas.testing.models import CallTool, ScriptedModel, ScriptExhausted
    from silas.testing.outside import FakeOutside
    from silas.testing.ports import Ports
    from silas.testing.skills import FixedSkills
    from silas.testing.stores import MemoryAudit
    from silas.testing.tokens import FakeTokenCounter
    from silas.testing.tools import FakeSandbox, FakeTool, MemoryOutcomeStore
    from silas.testing.work_items import InMemoryWorkItemStore

__all__ = [
    "CallTool",
    "FakeOutside",
    "FakeSandbox",
    "FakeSigner",
    "FakeTokenCounter",
    "FakeTool",
    "FixedSkills",
    "Harness",
    "InMemoryWorkItemStore",
    "MemoryAudit",
    "MemoryNonceStore",
    "MemoryOutcomeStore",
    "MockClock",
    "NeverStopped",
    "Ports",
    "ScriptExhausted",
    "ScriptedChannel",
    "ScriptedModel",
    "a_plan",
    "a_signer",
    "plan_text",
]

# Loaded when first asked for: who takes a fake of one port does not load all of Silas with it.
_HOMES = {
    "CallTool": "models",
    "FakeOutside": "outside",
    "FakeSandbox": "tools",
    "FakeSigner": "approval",
    "FakeTokenCounter": "tokens",
    "FakeTool": "tools",
    "FixedSkills": "skills",
    "Harness": "harness",
    "InMemoryWorkItemStore": "work_items",
    "MemoryAudit": "stores",
    "MemoryNonceStore": "approval",
    "MemoryOutcomeStore": "tools",
    "MockClock": "clock",
    "NeverStopped": "approval",
    "Ports": "ports",
    "ScriptExhausted": "models",
    "ScriptedChannel": "channels",
    "ScriptedModel": "models",
    "a_plan": "builders",
    "a_signer": "approval",
    "plan_text": "builders",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'silas.testing' has no attribute {name!r}")
    return getattr(import_module(f"silas.testing.{_HOMES[name]}"), name)
