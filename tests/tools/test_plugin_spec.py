"""What a `toolsets:` mapping says, and whose code it may bring in: nothing here imports any."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.errors import ConfigError
from silas.tools import RiskLevel
from silas.tools.plugins.names import BUILT_IN, check_allow, class_path_of, permits
from silas.tools.plugins.spec import read_spec
from silas.types import TaintLevel

BANK = "acme.bank.Bank"


def read(spec: dict[str, Any], **profiles: Any) -> dict[str, dict[str, Any]]:
    return {one.name: dict(one.config) for one in read_spec(spec, profiles)}


@pytest.mark.parametrize(
    ("allow", "path", "may"),
    [
        ([], BANK, False),
        ([BANK], BANK, True),
        (["acme."], BANK, True),
        (["acme.bank."], BANK, True),
        (["acme"], BANK, False),  # the name of an entry point, not of a package
        (["acme.bank"], BANK, False),
        (["acme."], "acmeevil.bank.Bank", False),
        (["acme.bank.Bank"], "acme.bank.Banker", False),
        (["bank."], BANK, False),
        (["ACME."], BANK, False),
    ],
)
def test_it_names_classes_and_packages_and_nothing_near_them(
    allow: list[str], path: str, may: bool
) -> None:
    assert permits(allow, path) is may


@pytest.mark.parametrize("entry", ["", ".", "*", "acme.*", ".acme", "a b", "acme..", "acme/x"])
def test_an_entry_that_could_mean_anything_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="neither a class path"):
        check_allow([entry])


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_aliases_need_no_entry(name: str) -> None:
    assert class_path_of(name, (), BUILT_IN, "toolsets") is None


def test_an_unknown_name_is_told_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="no toolset of that name; the nearest is shell"):
        class_path_of("shel", (), BUILT_IN, "toolsets")


def test_a_name_with_a_dot_is_a_class_path_whatever_packages_offer() -> None:
    with pytest.raises(ConfigError, match="toolset_allow does not name it"):
        class_path_of(BANK, ("shell", "acme"), BUILT_IN, "toolsets")


@given(st.lists(st.from_regex(r"[a-z]{1,3}\.", fullmatch=True)), st.text("abc.", max_size=9))
def test_a_package_lets_in_only_what_is_in_it(allow: list[str], path: str) -> None:
    assert permits(allow, path) == (path.partition(".")[0] + "." in allow and "." in path)


def test_nearer_settings_win_key_by_key_and_false_leaves_out() -> None:
    base = {"a.B": {"x": 1, "y": 1}, "c.D": {}, "e.F": {"z": 1}}
    home = {"extends": "base", "a.B": {"y": 2}}
    spec = {"extends": "home", "c.D": False, "e.F": None, "a.B": {"w": 3}}
    assert read(spec, base=base, home=home) == {
        "a.B": {"x": 1, "y": 2, "w": 3},
        "e.F": {"z": 1},
    }


def test_defaults_come_without_settings_unless_the_profile_or_the_mapping_has_some() -> None:
    spec = {"extends": "base", "_defaults": ["shell", "a.B", "c.D"], "c.D": {"y": 2}}
    assert read(spec, base={"a.B": {"x": 1}}) == {"a.B": {"x": 1}, "shell": {}, "c.D": {"y": 2}}


def test_a_key_is_replaced_whole_the_owners_word_included() -> None:
    base = {"a.B": {"_risk": {"x": "low", "y": "low"}}}
    [one] = read_spec({"extends": "base", "a.B": {"_risk": {"x": "critical"}}}, {"base": base})
    assert one.said.risk == {"x": RiskLevel.critical}


@pytest.mark.parametrize("circle", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_a_circle_is_refused_and_shown(circle: list[str]) -> None:
    profiles = {n: {"extends": circle[(i + 1) % len(circle)]} for i, n in enumerate(circle)}
    chain = " extends ".join([*circle, circle[0]])
    with pytest.raises(ConfigError, match=f"circle: {chain}"):
        read_spec({"extends": circle[0]}, profiles)


def test_an_unknown_profile_is_told_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no profile 'hime'.*nearest is home"):
        read_spec({"extends": "hime"}, {"home": {}})


def test_everything_that_can_be_said_is_read() -> None:
    settings = {
        "url": "x",
        "_approval_config": {"pay": {"pre_approved": True}},
        "_risk": {"pay": "critical"},
        "_reads": ["look"],
        "_egress": ["look"],
        "_results": {"look": "owner"},
        "_targets": {"pay": "to"},
        "_offer": {"look": ["proxy", "executor"]},
        "_idempotent": ["pay"],
        "_prefix": "bank",
    }
    [one] = read_spec({BANK: settings}, {})
    assert one.config == {"url": "x"}
    assert one.said.results == {"look": TaintLevel.owner}
    assert one.said.tools() == {"pay", "look"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"_raeds": ["x"]}, r"_raeds: there is no such setting; the nearest is _reads"),
        ({"_risk": {"x": "tiny"}}, r"_risk\.x: "),
        ({"_approval_config": {"x": {"pre_approved": "yes"}}}, r"x\.pre_approved: "),
        ({"_approval_config": {"x": {"blokced": True}}}, r"_approval_config\.x\."),
        (
            {"_approval_config": {"x": {"pre_approved": True, "approval_required": True}}},
            r"says both yes and no",
        ),
        ({"_reads": "x"}, r"_reads: "),
        ({"_results": {"x": "trusted"}}, r"_results\.x: "),
        ({"_egress": ["x"]}, r"_egress names 'x', which is not among _reads"),
        ({"_offer": {"x": ["planner"]}}, r"_offer shows 'x' to planner"),
        ({"_offer": {"x": ["everyone"]}}, r"_offer\.x\.0: "),
        ({"_prefix": "a-b"}, r"_prefix: "),
        (7, r"must be a mapping"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(settings: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=rf"^toolsets\.{BANK}.*{words}") as caught:
        read_spec({BANK: settings}, {})
    assert caught.value.code == "E_CFG_TOOLSET"


@pytest.mark.parametrize("name", ["a b", "a.", ".a", "a..b", "1.b", "a.b-c", "", "_shell"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="neither a class path"):
        read_spec({name: {}}, {})


def test_a_tool_may_be_offered_to_the_executor_without_being_a_read() -> None:
    [one] = read_spec({BANK: {"_offer": {"pay": ["executor"]}}}, {})
    assert one.said.offer == {"pay": ("executor",)}
