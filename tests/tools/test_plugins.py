"""Loading toolsets of every kind, and every way in which somebody else's code can fail."""

import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from silas.errors import ConfigError
from silas.tools import RiskLevel, Stance
from silas.tools.plugins.toolsets import LoadedTool
from silas.types import TaintLevel
from tests.support.thirdparty import acme, built, forget, imported, of_acme
from tests.support.toolsets import SECRET, Kept, a_loader, loaded, tools_of

__all__ = ["acme"]
pytestmark = pytest.mark.usefixtures("acme")

BANK = "acme_toolsets.bank.Bank"
NOTES = "acme_toolsets.notes.Notes"
BROKEN = "acme_toolsets.broken"


async def names(spec: dict[str, Any]) -> set[str]:
    async with loaded(spec) as found:
        return set(tools_of(found))


@pytest.mark.proves("TP-BY-CLASS-PATH", "TP-ALIASES")
@pytest.mark.parametrize(
    ("spec", "offers"),
    [
        ({BANK: {}}, {"pay", "balance", "close"}),
        ({"acme_toolsets.weather.Weather": {"station": "Graz"}}, {"forecast"}),
        ({"acme_toolsets.weather.Schooled": {"station": "Graz"}}, {"forecast"}),
        ({NOTES: {"title": "t"}}, {"write", "read"}),
        ({"acme_toolsets.notes.notes": {"title": "t"}}, {"write", "read"}),
        ({"acme_toolsets.careful.careful": {}}, {"crane_lift"}),
        ({"acme-clock": {}}, {"time_in"}),
        ({NOTES: {"_prefix": "my"}, "acme-clock": None}, {"my_write", "my_read", "time_in"}),
    ],
)
async def test_each_kind_of_toolset_is_loaded(spec: dict[str, Any], offers: set[str]) -> None:
    assert await names(spec) == offers


@pytest.mark.parametrize("allow", ["acme-clock", "acme_toolsets.", "acme_toolsets.clock.Clock"])
async def test_an_entry_point_is_allowed_by_its_name_or_by_what_it_leads_to(allow: str) -> None:
    async with loaded({"acme-clock": {}}, a_loader(allow)) as found:
        assert set(tools_of(found)) == {"time_in"}


CLOCK = "acme_toolsets.clock.Clock"


@pytest.mark.parametrize(
    ("allow", "spec", "words"),
    [
        ("other.", {BANK: {}}, "toolset_allow does not name it"),
        (CLOCK, {CLOCK: {}, BANK: {}}, "toolset_allow does not name it"),
        ("other.", {"acme-clock": {}}, "toolset_allow does not name it"),
        ("other.", {"_defaults": ["acme-clock"]}, "toolset_allow does not name it"),
        (CLOCK, {CLOCK: {}, "extends": "theirs"}, "toolset_allow does not name it"),
        (CLOCK, {CLOCK: {"a": "${GONE}"}}, "variable GONE"),
        (CLOCK, {CLOCK: {"_a": 1}}, "no such setting"),
        (CLOCK, {"acme-clok": {}}, "no toolset of that name; the nearest is acme-clock"),
    ],
)
async def test_what_is_wrong_in_the_owners_words_stops_before_anything_is_imported(
    allow: str, spec: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        async with loaded(spec, a_loader(allow, theirs={BANK: {}})):
            pass
    assert not imported()


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("acme_toolsets.unimportable.Any", {}, "cannot be imported (ImportError: no module named"),
        ("acme_toolsets.nowhere.Any", {}, "cannot be imported (ModuleNotFoundError"),
        ("acme_toolsets.bank.Bunk", {}, "cannot be imported (AttributeError"),
        (f"{BROKEN}.not_callable", {}, "neither a class nor a function"),
        (f"{BROKEN}.nothing", {}, "no PydanticAI toolset"),
        (f"{BROKEN}.later", {}, "no PydanticAI toolset"),
        (f"{BROKEN}.Unmakeable", {"key": "${KEY}"}, "cannot be made (ValueError)"),
        (f"{BROKEN}.Unmakeable", {"kee": "${KEY}"}, "cannot be made (TypeError)"),
        (f"{BROKEN}.Quitter", {}, "cannot be made (SystemExit)"),
        (f"{BROKEN}.Unstartable", {}, "does not start (ConnectionError)"),
        (f"{BROKEN}.hidden", {}, "a wrapper hides its needs_approval"),
        (f"{BROKEN}.Opinionated", {}, "its needs_approval cannot be called"),
        (f"{BROKEN}.Telling", {"key": "${KEY}"}, "too long or holds a secret"),
        (f"{BROKEN}.Windy", {}, "too long or holds a secret"),
        (f"{BROKEN}.Oddly", {}, "a name that models do not take"),
        (f"{BROKEN}.Elsewhere", {}, "cannot be called from here"),
        ("acme_toolsets.weather.Weather", {"statoin": "x"}, "statoin: is not known here"),
        ("acme_toolsets.weather.Weather", {"station": "x"}, "station: must have 2 characters"),
        (
            "acme_toolsets.weather.Weather",
            {"station": "Graz", "token": "bad${KEY}"},
            "token: does not have the required form",
        ),
        (NOTES, {"_reads": ["raed"]}, "has no tool 'raed'"),
        (NOTES, {"_targets": {"write": "txt"}}, "has no argument 'txt'"),
        (
            "acme_toolsets.careful.careful",
            {"_approval_config": {"crane_lift": {"pre_approved": True}}},
            "_approval_config has no place there",
        ),
    ],
)
async def test_what_is_wrong_in_somebody_elses_code_leaves_that_toolset_out_and_says_why(
    name: str, settings: dict[str, Any], words: str
) -> None:
    async with loaded({name: settings, "acme-clock": {}}) as found:
        assert [one.tool.tool_name for one in found.tools] == ["time_in"]
        [fault] = found.faults
    assert fault.toolset == name
    assert fault.words.startswith(f"The toolset {name} is absent: ")
    assert words in fault.words
    assert SECRET not in fault.words
    assert "\n" not in fault.words


async def test_an_allowed_entry_point_that_is_not_installed_is_said_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place != str(built())])
    async with loaded({"acme-clock": {}}, a_loader("acme-clock")) as found:
        [fault] = found.faults
    assert "install the package" in fault.words


async def test_two_packages_that_offer_the_same_name_are_both_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rival = tmp_path / "rival-1.0.dist-info"
    rival.mkdir()
    (rival / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n")
    (rival / "entry_points.txt").write_text("[silas.toolsets]\nacme-clock = rival:Clock\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for allow in ("acme-clock", "rival."):
        with pytest.raises(ConfigError, match=r"several packages|does not name it"):
            async with loaded({"acme-clock": {}}, a_loader(allow)):
                pass
    assert not imported()


async def test_a_toolset_is_entered_while_it_is_mounted_and_left_after() -> None:
    async with loaded({NOTES: {}}):
        [made] = of_acme("notes").Notes.made
        assert made.open
    assert not made.open


async def test_what_a_toolset_raises_when_it_is_left_hurts_nobody_else() -> None:
    async with loaded({f"{BROKEN}.Slammer": {}, NOTES: {}, f"{BROKEN}.Slammer2": {}}) as found:
        assert found.faults == ()
        [made] = of_acme("notes").Notes.made
    assert not made.open


@pytest.mark.proves("TP-CONFIG-AND-CONTEXT", "TP-ENVIRONMENT")
async def test_the_convention_is_given_its_settings_and_where_it_is_mounted() -> None:
    loader = a_loader()
    async with loaded({BANK: {"key": "${KEY}", "deep": {"er": [1]}, "_reads": []}}, loader):
        [bank] = of_acme("bank").Bank.made
        assert bank.config == {"key": SECRET, "deep": {"er": [1]}}
        assert (bank.context.name, bank.context.worker) == (BANK, "")
        assert bank.context.data_dir == Path("/nowhere") / BANK
    assert isinstance(loader.discretion, Kept)
    assert loader.discretion.values == {"KEY": SECRET}


@pytest.mark.proves("TP-CONFIG-COPIED")
async def test_what_a_toolset_does_to_its_settings_stays_with_it() -> None:
    spec: dict[str, Any] = {BANK: {"deep": {"er": [1]}}, "extends": "base"}
    profiles: dict[str, Any] = {"base": {BANK: {"wide": [{}]}}}
    before = deepcopy((spec, profiles))
    async with loaded(spec, a_loader(**profiles)):
        config = of_acme("bank").Bank.made[-1].config
        config["deep"]["er"].append(2)
        config["wide"][0]["x"] = 1
        config.clear()
    assert (spec, profiles) == before


async def test_what_the_owner_did_not_rate_is_high_risk_external_and_asks() -> None:
    async with loaded({NOTES: {}}) as found:
        for one in found.tools:
            assert one.config.risk_default is RiskLevel.high
            assert one.config.result_taint is TaintLevel.external
            assert one.config.pre_approved is False
            assert one.config.provider_type == "toolset"
            assert one.stance is Stance.silent
            assert one.tool.requires_authority
            assert not one.tool.idempotent
            assert one.tool.capabilities == ["executor"]
            assert one.tool.scopes_required == [f"toolset.{NOTES}"]
            facts = one.tool.facts("call", {})
            assert facts.state_changing
            assert facts.egress


async def test_what_the_owner_rates_is_as_they_say() -> None:
    settings = {
        "_reads": ["read"],
        "_risk": {"read": "low", "write": "critical"},
        "_results": {"read": "owner"},
        "_offer": {"read": ["proxy", "planner", "executor"]},
        "_targets": {"write": "text"},
        "_approval_config": {"read": {"pre_approved": True}, "write": {"pre_approved": False}},
    }
    async with loaded({NOTES: settings}) as found:
        by_name: dict[str, LoadedTool] = {one.tool.tool_name: one for one in found.tools}
    read, write = by_name["read"], by_name["write"]
    assert (read.config.risk_default, write.config.risk_default) == ("low", "critical")
    assert read.config.result_taint is TaintLevel.owner
    assert (read.stance, write.stance) == (Stance.pre_approved, Stance.ask)
    assert read.tool.capabilities == ["proxy", "planner", "executor"]
    assert not read.tool.requires_authority
    assert read.tool.idempotent
    facts = read.tool.facts("call", {})
    assert (facts.state_changing, facts.egress) == (False, False)
    assert write.tool.facts("call", {"text": "wall"}).target == "wall"


async def test_a_read_that_carries_its_arguments_out_is_egress_and_still_no_change() -> None:
    async with loaded({NOTES: {"_reads": ["read"], "_egress": ["read"]}}) as found:
        facts = tools_of(found)["read"].facts("call", {})
    assert (facts.state_changing, facts.egress) == (False, True)


def test_the_package_is_not_there_for_anybody_else() -> None:
    forget()
    assert not imported()
