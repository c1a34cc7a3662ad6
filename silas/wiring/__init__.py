"""Wiring: the one room that knows concrete classes (spec 12 `build_stream`)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from silas.wiring.approvals import ApprovalDesk, Given, open_approvals
    from silas.wiring.build import Silas
    from silas.wiring.conform import Conformance, examine_sandbox
    from silas.wiring.door import open_door
    from silas.wiring.findings import Finding, headline, ready
    from silas.wiring.ground import Ground
    from silas.wiring.mcp import MCPDesk, all_tool_rows, open_mcp
    from silas.wiring.memory import MemoryDesk, open_memory
    from silas.wiring.ownerkey import key_facts, rotate_key
    from silas.wiring.persona import open_persona
    from silas.wiring.readiness import validate
    from silas.wiring.secretdesk import SecretsDesk, open_secrets_desk, secret_facts
    from silas.wiring.signer import serve_signer
    from silas.wiring.skilldesk import SkillDesk, open_skills
    from silas.wiring.skills import skill_report, skill_rows
    from silas.wiring.upkeep import (
        AuditDesk,
        WorkDesk,
        diagnose,
        initialise,
        open_audit,
        open_work,
    )
    from silas.wiring.workers import worker_rows

__all__ = [
    "ApprovalDesk",
    "AuditDesk",
    "Conformance",
    "Finding",
    "Given",
    "Ground",
    "MCPDesk",
    "MemoryDesk",
    "SecretsDesk",
    "Silas",
    "SkillDesk",
    "WorkDesk",
    "all_tool_rows",
    "diagnose",
    "examine_sandbox",
    "headline",
    "initialise",
    "key_facts",
    "open_approvals",
    "open_audit",
    "open_door",
    "open_mcp",
    "open_memory",
    "open_persona",
    "open_secrets_desk",
    "open_skills",
    "open_work",
    "ready",
    "rotate_key",
    "secret_facts",
    "serve_signer",
    "skill_report",
    "skill_rows",
    "validate",
    "worker_rows",
]

# Loaded when first asked for: looking at the record must not cost what a model run costs.
_HOMES = {
    "ApprovalDesk": "approvals",
    "Given": "approvals",
    "open_approvals": "approvals",
    "Conformance": "conform",
    "Finding": "findings",
    "headline": "findings",
    "ready": "findings",
    "validate": "readiness",
    "Ground": "ground",
    "MCPDesk": "mcp",
    "MemoryDesk": "memory",
    "SecretsDesk": "secretdesk",
    "Silas": "build",
    "SkillDesk": "skilldesk",
    "all_tool_rows": "mcp",
    "examine_sandbox": "conform",
    "open_door": "door",
    "open_memory": "memory",
    "open_mcp": "mcp",
    "open_persona": "persona",
    "open_secrets_desk": "secretdesk",
    "open_skills": "skilldesk",
    "secret_facts": "secretdesk",
    "serve_signer": "signer",
    "key_facts": "ownerkey",
    "rotate_key": "ownerkey",
    "skill_report": "skills",
    "skill_rows": "skills",
    "worker_rows": "workers",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'silas.wiring' has no attribute {name!r}")
    return getattr(import_module(f"silas.wiring.{_HOMES.get(name, 'upkeep')}"), name)
