"""Access levels rise with gates, fall with time, and never apply to the owner."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import silas
from silas.canonical import sha256_hex
from silas.errors import ConfigError
from silas.gates import AccessController, AccessLevel, OwnerAccess, read_customer
from silas.testing import MemoryAudit, MockClock

_LEVELS = {
    "public": AccessLevel(description="anyone", tools=["faq"]),
    "verified": AccessLevel(
        description="known", tools=["faq", "policy"], requires=["identity"], expires_after=900
    ),
    "trusted": AccessLevel(description="both", tools=["all"], requires=["identity", "contract"]),
    "open": AccessLevel(description="a level that asks nothing", tools=["everything"]),
}


class _World:
    def __init__(self, levels: dict[str, AccessLevel] = _LEVELS) -> None:
        self.clock = MockClock()
        self.audit = MemoryAudit()
        self.loaded = 0
        self.access = AccessController(levels, "conn-1", self._load, self.clock, self.audit)

    def _load(self) -> dict[str, Any] | None:
        self.loaded += 1
        return {"customer_id": "c-7"}


@pytest.mark.proves("A10-PUBLIC-BY-DEFAULT")
async def test_everybody_begins_at_public() -> None:
    world = _World()
    assert await world.access.get_allowed_tools() == ["faq"]
    assert await world.access.get_customer_context() is None
    assert world.audit.entries == []


async def test_without_a_public_level_nothing_is_allowed() -> None:
    assert await _World({}).access.get_allowed_tools() == []


@pytest.mark.proves("S5.6-ALL-GATES-NEEDED")
@pytest.mark.parametrize(
    ("gates", "level"),
    [
        (["other"], "public"),
        (["identity"], "verified"),
        (["contract"], "public"),
        (["contract", "identity"], "trusted"),
        (["identity", "contract"], "trusted"),
        (["identity", "identity", "other"], "verified"),
    ],
)
async def test_a_level_needs_all_its_gates_and_the_highest_one_met_is_taken(
    gates: list[str], level: str
) -> None:
    world = _World()
    for gate in gates:
        await world.access.gate_passed(gate)
    assert world.access.level == level
    assert await world.access.get_allowed_tools() == _LEVELS[level].tools


@pytest.mark.proves("S5.6-TRANSITION-AUDITED")
async def test_rising_loads_the_customer_and_is_audited() -> None:
    world = _World()
    await world.access.gate_passed("identity")
    assert await world.access.get_customer_context() == {"customer_id": "c-7"}
    assert world.audit.entries == [
        (
            "access_level_changed",
            {
                "connection_id": "conn-1",
                "before": "public",
                "after": "verified",
                "customer_id": "c-7",
            },
        )
    ]


@pytest.mark.proves("S5.6-EXPIRY")
@pytest.mark.parametrize(("seconds", "level"), [(899.9, "verified"), (900, "public")])
async def test_a_level_expires_at_its_second_and_must_be_proved_again(
    seconds: float, level: str
) -> None:
    world = _World()
    await world.access.gate_passed("identity")
    world.clock.advance(seconds)
    assert await world.access.get_allowed_tools() == _LEVELS[level].tools
    expired = level == "public"
    assert (await world.access.get_customer_context() is None) is expired
    await world.access.gate_passed("contract")
    # what was verified before the expiry counts no longer
    assert world.access.level == ("public" if expired else "trusted")


@pytest.mark.proves("S5.6-TRANSITION-AUDITED", "S5.6-EXPIRY")
async def test_an_expired_level_is_not_risen_from() -> None:
    world = _World()
    await world.access.gate_passed("identity")
    world.clock.advance(901)
    await world.access.gate_passed("contract")
    assert world.access.level == "public"
    assert [d["after"] for _, d in world.audit.entries] == ["verified", "public"]


async def test_a_level_that_requires_nothing_is_reached_by_nobody() -> None:
    world = _World()
    await world.access.gate_passed("anything")
    assert world.access.level == "public"


@pytest.mark.proves("A11-OWNER-BYPASSES-LEVELS")
async def test_the_owner_has_every_tool_whatever_the_gates_say() -> None:
    tools = ["a"]
    owner = OwnerAccess(lambda: tools)
    await owner.gate_passed("identity")
    tools.append("b")
    assert await owner.get_allowed_tools() == ["a", "b"]
    assert await owner.get_customer_context() is None


@pytest.mark.proves("S5.6-DETERMINISTIC", "S15-NEVER-ACCESS")
@given(st.lists(st.sampled_from(["identity", "contract", "other", "public", "trusted", "(owner)"])))
async def test_the_level_follows_from_the_gates_that_passed_and_from_nothing_else(
    passed: list[str],
) -> None:
    world = _World()
    for gate in passed:
        await world.access.gate_passed(gate)
    expected = "public"
    if "identity" in passed:
        expected = "trusted" if "contract" in passed else "verified"
    assert world.access.level == expected
    assert await world.access.get_allowed_tools() == _LEVELS[expected].tools


@pytest.mark.proves("S5.6-DETERMINISTIC", "S15-NEVER-ACCESS")
def test_only_the_turn_reports_gates_and_no_agent_or_tool_can_name_the_controller() -> None:
    package = Path(silas.__file__).parent
    callers: list[str] = []
    holders: set[str] = set()
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package)
        text = path.read_text("utf-8")
        tree = ast.parse(text if ".gate_passed" in text else "")
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        callers += [str(where) for n in calls if ast.unparse(n.func).endswith(".gate_passed")]
        if re.search(r"\b(AccessController|OwnerAccess|gates\.access)\b", text):
            holders.add(where.parts[0])
    assert callers == ["stream/turn.py"]
    assert holders == {"gates", "services"}


class TestTheCustomerDirectory:
    def _write(self, directory: Path, connection: str, data: Any) -> None:
        directory.chmod(0o700)
        name = sha256_hex(connection.encode())
        (directory / f"{name}.json").write_text(json.dumps(data))

    @pytest.mark.proves("S5.6-CUSTOMER-DIRECTORY")
    def test_a_customer_is_read_by_connection(self, tmp_path: Path) -> None:
        self._write(tmp_path, "../../etc", {"customer_id": "c"})
        assert read_customer(tmp_path, "../../etc") == {"customer_id": "c"}
        assert read_customer(tmp_path, "other") is None
        assert read_customer(tmp_path / "missing", "x") is None

    def test_what_is_not_an_object_is_no_customer(self, tmp_path: Path) -> None:
        self._write(tmp_path, "x", ["c"])
        assert read_customer(tmp_path, "x") is None

    @pytest.mark.proves("S5.6-CUSTOMER-DIRECTORY")
    @pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
    def test_a_directory_that_others_may_write_to_is_refused(
        self, tmp_path: Path, mode: int
    ) -> None:
        self._write(tmp_path, "x", {})
        tmp_path.chmod(mode)
        with pytest.raises(ConfigError, match="chmod 700"):
            read_customer(tmp_path, "x")
