"""The test kit that ships with Silas: fakes at the ports, builders, scripted actors."""

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
